# _profiler_names.py: schedules and names of profiles (pure). SPDX-License-Identifier: MIT
"""What perftrace.profiler has of schedules and names; imported from there."""
import enum
import os
from ctypes import byref, c_char_p, c_int64, create_string_buffer
from dataclasses import dataclass, fields
from typing import Any, Iterable, NamedTuple, Optional, Tuple, Union

from . import _library as lib
from . import _profiler_library as c
from ._arguments import describe as shown
from ._arguments import encode, whole

Steps = Union[str, Iterable[int]]


class Action(enum.IntEnum):
    """What happens in a step; the numbers are those of torch.profiler.ProfilerAction."""
    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


class ScheduleWindow(NamedTuple):
    """The window that a step belongs to."""
    index: int  # 0, 1, 2...: the cycle, or the run of listed steps
    first: int
    last: Optional[int]  # None: it has no end


def number_of(name: str, value: Any) -> int:
    """A whole number of 64 bits; ctypes would cut a longer one in silence."""
    found = whole(value)
    if found is None:
        raise ValueError(f"{name} is {shown(value)[:100]}, which is no whole number of 64 bits")
    return found


def small_of(name: str, value: Any) -> int:
    """The same of 32 bits, not negative."""
    found = number_of(name, value)
    if not 0 <= found < 2**32:
        raise ValueError(f"{name} is {found}, which is none of 0 to {2**32 - 1}")
    return found


def path_of(path: Union[str, bytes, "os.PathLike[Any]"]) -> bytes:
    """As the system has it; C would end it at a NUL."""
    found = os.fsencode(path)
    if b"\0" in found:
        raise ValueError(f"the path {path!r} has a NUL in it")
    return found


def text_of(value: Any) -> Optional[bytes]:
    return None if value is None else encode(value if type(value) is str else str(value))


def steps_of(steps: Optional[Steps]) -> Optional[bytes]:
    """"1,3,5-7", or the numbers themselves."""
    if steps is None or isinstance(steps, str):
        return text_of(steps)
    return ",".join(str(number_of("steps", step)) for step in steps).encode()


@dataclass(frozen=True)
class Schedule:
    """When windows open (perftrace_schedule_t): in cycles as torch.profiler.schedule has them, on listed
    steps, or by a number of iterations; without a field every step is recorded. ValueError for what
    cannot be followed."""
    skip_first: int = 0
    """Steps before the first cycle."""
    wait: int = 0
    warmup: int = 0
    active: int = 0
    """Steps of a cycle that are recorded: the length of a window."""
    repeat: int = 0
    """Number of cycles; 0: no end."""
    skip_first_wait: bool = False
    steps: Optional[Steps] = None
    """"1,3,5-7", or numbers."""
    steps_apart: bool = False
    """Each of adjacent listed steps is a window of its own."""
    delay_iterations: int = 0
    max_iterations: int = 0
    max_iterations_exceeded: bool = False
    """vLLM's count: it stops when it has counted more than max_iterations."""

    def __post_init__(self) -> None:
        # Numbers can be given once only; the list is what is kept.
        listed = steps_of(self.steps)
        object.__setattr__(self, "steps", None if listed is None else listed.decode())
        reason = c_char_p()
        if c.schedule_check(byref(self._structure()), byref(reason)) < 0:
            raise ValueError(f"no schedule: {(reason.value or b'it cannot be followed').decode()}")

    def _structure(self) -> c.Schedule:
        given = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "steps"}
        return c.Schedule(steps=text_of(self.steps),
                          **{name: number_of(name, value) for name, value in given.items()})

    def action(self, step: int) -> Action:
        """What happens in a step, from 0 on."""
        return self._at(step)[0]

    def window(self, step: int) -> Optional[ScheduleWindow]:
        """The window of a recorded step; None for another."""
        return self._at(step)[1]

    def _at(self, step: int) -> Tuple[Action, Optional[ScheduleWindow]]:
        found = c.ScheduleWindow()
        action = c.schedule_action(byref(self._structure()), number_of("step", step), byref(found))
        if action < 0:
            raise ValueError(f"step {step} is negative")
        return Action(action), None if found.index < 0 else ScheduleWindow(
            found.index, found.first, None if found.last < 0 else found.last)

    @property
    def windows(self) -> Optional[int]:
        """How many there are; None: no end of them."""
        count = c.schedule_windows(byref(self._structure()), None)
        return None if count < 0 else int(count)

    @property
    def first_step(self) -> Optional[int]:
        """The first step that is recorded; None: there is none."""
        first = c_int64(-1)
        c.schedule_windows(byref(self._structure()), byref(first))
        return None if first.value < 0 else first.value

    @classmethod
    def tokens(cls, first: int = -1, end: int = -1) -> "Schedule":
        """For the tokens `first` to `end` - 1 of a sequence, an iteration making one token each. -1: from
        the start, without an end."""
        made = c.Schedule()
        if c.schedule_set_tokens(byref(made), number_of("first", first), number_of("end", end)) < 0:
            raise ValueError(f"tokens {first} to {end} are none")
        return cls(delay_iterations=made.delay_iterations, max_iterations=made.max_iterations)


# ---- names --------------------------------------------------------------------------------------

@dataclass
class TraceName:
    """What the name of a profile says (perftrace_trace_name_t). None: not told."""
    prefix: Optional[str] = None
    role: Optional[str] = None
    host: Optional[str] = None
    suffix: Optional[str] = None
    first_step: Optional[int] = None
    last_step: Optional[int] = None
    rank: Optional[int] = None
    world_size: Optional[int] = None
    tp: Optional[int] = None
    pp: Optional[int] = None
    dp: Optional[int] = None
    cp: Optional[int] = None
    ep: Optional[int] = None
    pid: Optional[int] = None
    time_ms: Optional[int] = None
    """When the window began, ms since the epoch."""
    number: Optional[int] = None
    mb_first: Optional[int] = None
    mb_last: Optional[int] = None
    cycle: Optional[int] = None
    part: Optional[int] = None
    steps_done: Optional[int] = None
    steps_wanted: Optional[int] = None
    aborted: bool = False

    def _structure(self) -> c.Name:
        name = c.Name()
        for each in c.TEXTS:
            setattr(name, each, text_of(getattr(self, each)))
        for each in c.NUMBERS:
            value = getattr(self, each)
            if value is not None:
                number = number_of(each, value)
                setattr(name, each, number)
                if getattr(name, each) != number:
                    raise ValueError(f"{each} is {number}, which is too large")
        name.aborted = bool(self.aborted)
        return name


_WANTED = "pid and time_ms are wanted, and an extension is as .json.gz"


def basename(name: TraceName, extension: str = "") -> str:
    """The name of a profile, at most 255 bytes. ValueError for what cannot be one: pid and time_ms are
    wanted."""
    text = create_string_buffer(c.NAME_MAX + 1)
    status = c.trace_basename(byref(name._structure()), text_of(extension or None), text, len(text))
    if status < 0:
        raise ValueError(f"no name can be made: {lib.text(status)} ({_WANTED})")
    return text.value.decode()


def describe(path: Union[str, "os.PathLike[str]"]) -> TraceName:
    """Reads such a name back, of a path as well. ValueError for a name of another kind."""
    name, text = c.Name(), create_string_buffer(c.NAME_MAX + 1)
    status = c.trace_describe(path_of(path), byref(name), text, len(text))
    if status < 0:
        raise ValueError(f"{os.fspath(path)}: no name of a profile: {lib.text(status)}")
    given: Any = {each: value.decode("utf-8", "replace") for each in c.TEXTS
                  if (value := getattr(name, each)) is not None}
    given.update({each: value for each in c.NUMBERS if (value := getattr(name, each)) >= 0})
    return TraceName(aborted=bool(name.aborted), **given)


def create(directory: Union[str, "os.PathLike[str]"], name: TraceName,
           extension: str = "") -> Tuple[str, int]:
    """Creates the file of a profile in a directory that exists: (path, descriptor), which is write-only
    and the caller's to close. Where the name is taken, the next number is tried: no file is opened
    twice. OSError where none can be made."""
    path = create_string_buffer(4096)
    fd = c.trace_create(path_of(directory), byref(name._structure()),
                        text_of(extension or None), path, len(path))
    if fd in (lib.ERR_INVALID, lib.ERR_TOO_LONG):
        raise ValueError(f"no name can be made: {lib.text(fd)} ({_WANTED})")
    if fd < 0:
        raise OSError(f"no file can be made in {os.fspath(directory)}: {lib.text(fd)}")
    return os.fsdecode(path.value), fd
