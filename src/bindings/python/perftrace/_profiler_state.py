# _profiler_state.py: what the process' profilers do. SPDX-License-Identifier: MIT
"""Imported from perftrace.profiler."""
import enum
from ctypes import byref
from typing import NamedTuple

from . import _profiler_library as c


class State(enum.IntEnum):
    """What the process' profilers do."""
    IDLE = 0
    WAITING = 1  # a request runs, its window is not open
    STARTING = 2
    RECORDING = 3
    SAVING = 4


class ProfilerStatus(NamedTuple):
    """What the process' profilers do."""
    state: State
    role: str  # of the window that is open; so are the next five
    stage: str
    first_step: int
    last_step: int
    steps_done: int
    steps_wanted: int
    saved: int  # windows of all profilers that were saved
    last_mark: str  # of the last one
    last_path: str
    aborted: bool
    problem: str  # what of the last window did not start or was lost, and why; ""


def status() -> ProfilerStatus:
    """Does not wait for a window that starts or is saved."""
    got = c.Status()
    c.get_status(byref(got))
    values = c.values_of(got, ProfilerStatus._fields)
    return ProfilerStatus(**{**values, "state": State(got.state), "aborted": bool(got.aborted)})
