# config.py: AReaL's configuration classes. SPDX-License-Identifier: MIT
"""The fields of AReaL's classes, and what the library has on top (docs/CONFIGURATION.md)."""
import enum
import warnings
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


class Category(str, enum.Enum):
    """What a scope's time goes to."""
    COMPUTE = "compute"
    COMM = "comm"
    IO = "io"
    SYNC = "sync"
    SCHEDULER = "scheduler"
    INSTR = "instr"
    MISC = "misc"


@dataclass
class SessionTracerConfig:
    enabled: bool = False
    flush_threshold: int = 256

    def threshold(self) -> int:
        """At least 1; 1 for what is no number, with a warning."""
        try:
            return max(int(self.flush_threshold), 1)
        except (TypeError, ValueError):
            warnings.warn(f"perftrace: flush_threshold {self.flush_threshold!r} is no number; "
                          "1 is taken", stacklevel=2)
            return 1


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

    def steps(self) -> List[int]:
        """profile_steps in order, once each; what is no whole number is warned of and left out."""
        steps = set()
        for step in self.profile_steps or ():
            if isinstance(step, int) and not isinstance(step, bool):
                steps.add(step)
            else:
                warnings.warn(f"perftrace: {step!r} in profile_steps is no whole number",
                              stacklevel=2)
        return sorted(steps)
