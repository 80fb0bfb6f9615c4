# config.py: AReaL's configuration classes. SPDX-License-Identifier: MIT
"""The fields of AReaL's classes, and what the library has on top (docs/CONFIGURATION.md)."""
import enum
import os
import warnings
from dataclasses import dataclass, field, fields, replace
from typing import Any, Dict, List, Optional

from . import _library as lib
from ._arguments import describe, encode, whole


class Category(str, enum.Enum):
    """What a scope's time goes to."""
    COMPUTE = "compute"
    COMM = "comm"
    IO = "io"
    SYNC = "sync"
    SCHEDULER = "scheduler"
    INSTR = "instr"
    MISC = "misc"


def _at_least_1(name: str, value: Any) -> int:
    try:
        return max(int(value), 1)
    except (TypeError, ValueError, OverflowError):
        warnings.warn(f"perftrace: {name} {describe(value)} is no number; 1 is taken", stacklevel=3)
        return 1


@dataclass
class SessionTracerConfig:
    enabled: bool = False
    flush_threshold: int = 256

    def threshold(self) -> int:
        """At least 1; 1 for what is no number, with a warning."""
        return _at_least_1("flush_threshold", self.flush_threshold)


@dataclass
class PerfTracerConfig:
    experiment_name: str = ""
    trial_name: str = ""
    fileroot: str = ""
    enabled: bool = False
    save_interval: int = 1
    profile_steps: Optional[List[int]] = None
    session_tracer: Optional[SessionTracerConfig] = None
    dir: Optional[str] = None
    """Directory of all files; wins over the three names."""
    options: Dict[str, Any] = field(default_factory=dict)
    """Further options of the library by their names, such as ring_size or overflow."""

    def interval(self) -> int:
        """save_interval, at least 1; 1 for what is no number, with a warning."""
        return _at_least_1("save_interval", self.save_interval)

    def steps(self) -> List[int]:
        """profile_steps in order, once each; what is no whole number is warned of and left out."""
        steps = set()
        given = self.profile_steps or ()
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            given = (given,)
        for step in given:
            if isinstance(step, int) and not isinstance(step, bool):
                steps.add(step)
            else:
                warnings.warn(f"perftrace: {describe(step)} in profile_steps is no whole number",
                              stacklevel=2)
        return sorted(steps)


def _taken(config: Any, kind: type) -> Any:
    """config as one of ours. AReaL's own classes have the same fields, and so has what was made of
    them (OmegaConf)."""
    if isinstance(config, kind):
        return config
    if not hasattr(config, "enabled"):
        raise TypeError(f"a {kind.__name__} is wanted, not {describe(config)[:200]}")
    return kind(**{each.name: getattr(config, each.name) for each in fields(kind)
                   if hasattr(config, each.name)})


def taken(config: Any) -> PerfTracerConfig:
    """The configuration that configure works with; config is not changed. TypeError for what is none."""
    config = replace(_taken(config, PerfTracerConfig))
    if config.session_tracer is not None:
        config.session_tracer = _taken(config.session_tracer, SessionTracerConfig)
    return config


_OPTIONS = {name: kind for name, kind in lib.Config._fields_
            if name not in ("struct_size", "log", "log_user", "reserved")}


def option(key: str, value: Any) -> Any:
    """A value as the library's option has it."""
    try:
        kind = _OPTIONS[key]
    except (KeyError, TypeError):
        raise ValueError(f"the library has no option {describe(key)}") from None
    if kind is lib.c_char_p:
        return encode(os.fsdecode(value) if isinstance(value, (bytes, os.PathLike)) else str(value))
    number = whole(value)
    if number is None:
        raise TypeError(f"the option {key} is a whole number, not {describe(value)[:200]}")
    if kind(number).value != number:
        raise ValueError(f"the option {key} cannot be {number}")
    return number


def for_library(config: PerfTracerConfig, rank: Optional[int], role: Any, enabled: bool) -> lib.Config:
    """What init takes."""
    sessions = config.session_tracer
    c = lib.Config()
    lib.config_init(c, lib.ctypes.sizeof(c))
    texts = {"experiment_name": config.experiment_name, "trial_name": config.trial_name,
             "fileroot": config.fileroot, "dir": config.dir, "role": role}
    for key, value in {**texts, **config.options}.items():
        if value is not None:
            setattr(c, key, option(key, value))
    c.rank = -1 if rank is None else option("rank", rank)
    c.enabled = int(enabled)
    c.save_interval = min(config.interval(), 2**32 - 1)
    c.session_enabled = int(sessions is not None and sessions.enabled)
    if c.session_enabled:
        c.session_flush_threshold = min(sessions.threshold(), 2**32 - 1)
    return c
