# _profiler_back_end.py: functions of Python that record. SPDX-License-Identifier: MIT
"""What perftrace.profiler has of back ends; imported from there."""
import sys
import threading
from ctypes import memmove
from typing import Any, Callable, NamedTuple, Optional, Set

from . import _library as lib
from . import _profiler_library as c
from ._profiler_names import Action, text_of
from ._scopes import failure


class Window(NamedTuple):
    """A window as back ends see it."""
    dir: str
    path: str  # the file to write; "" at the start, and for back ends without an extension
    role: str
    stage: str
    mark: str  # "", "partial 2/3", "aborted at step 2 of 3"; "" at the start
    first_step: int  # -1: not known
    last_step: int
    steps_done: int
    steps_wanted: int  # -1: no number is set
    number: int  # of the profiler's windows, from 0
    time_ms: int
    aborted: bool


def _window_of(given: c.Window) -> Window:
    return Window(**{**c.values_of(given, Window._fields), "aborted": bool(given.aborted)})


class BackEnd:
    """What records, as functions of the program: given here, or methods of a class made of this one.
    They are called one at a time, by whichever thread calls the profiler, and may not call that
    profiler. What they raise is told to the log and kept in Profiler.errors; a start that raises opens
    no window, and the program goes on. KeyboardInterrupt and its like pass."""
    name: str = "callback"
    extension: Optional[str] = None  # ".json.gz": a file is made for each window; None: none
    gpu: bool = False  # it uses the GPU's one profiling interface
    same_thread: bool = False  # as Profiler's
    start: Optional[Callable[[Window], Any]] = None
    stop: Optional[Callable[[Window], Any]] = None
    step: Optional[Callable[[int, Action], Any]] = None  # -1: a step without a number
    describe: Optional[Callable[[], str]] = None
    # A stage ("role.stage") begins and ends within a window that this records; several threads at once.
    range_begin: Optional[Callable[[str], Any]] = None
    range_end: Optional[Callable[[], Any]] = None

    def __init__(self, start: Optional[Callable[[Window], Any]] = None,
                 stop: Optional[Callable[[Window], Any]] = None,
                 step: Optional[Callable[[int, Action], Any]] = None,
                 describe: Optional[Callable[[], str]] = None, *, name: Optional[str] = None,
                 extension: Optional[str] = None, gpu: Optional[bool] = None,
                 range_begin: Optional[Callable[[str], Any]] = None,
                 range_end: Optional[Callable[[], Any]] = None) -> None:
        given = {"start": start, "stop": stop, "step": step, "describe": describe, "name": name,
                 "extension": extension, "gpu": gpu, "range_begin": range_begin, "range_end": range_end}
        for each, value in given.items():
            if value is not None:
                setattr(self, each, value)


class Calls:
    """The functions of a back end as C calls them: nothing may be raised there."""

    def __init__(self, profiler: Any, back_end: BackEnd) -> None:
        self.profiler, self.back_end = profiler, back_end
        self.failed = ""  # why the last call failed
        self.told: Set[str] = set()  # what is called often and has failed
        self.structure = c.BackEnd(
            name=text_of(back_end.name), extension=text_of(back_end.extension),
            gpu=int(bool(back_end.gpu)), start=c.SPAN(self.start), stop=c.SPAN(self.stop),
            step=c.STEP(self.step) if back_end.step is not None else c.STEP(),
            describe=c.DESCRIBE(self.describe),
            range_begin=c.RANGE_BEGIN(self.range_begin) if back_end.range_begin is not None
            else c.RANGE_BEGIN(),
            range_end=c.RANGE_END(self.range_end) if back_end.range_end is not None else c.RANGE_END())

    def call(self, what: str, *args: Any) -> Any:
        """(whether it went well, what it returned)"""
        ident, within = threading.get_ident(), self.profiler._within
        outside = ident not in within  # a request from outside, by a thread of the library
        try:
            if outside:
                within[ident] = True
            function = getattr(self.back_end, what)
            if what in ("start", "stop"):
                args = (_window_of(args[0][0]),)
            return True, None if function is None else function(*args)
        except BaseException as error:
            self.failed = failure(type(error), error)
            tell = what not in self.told  # not at each step
            if what in ("step", "range_begin", "range_end"):
                self.told.add(what)
            self.profiler._keep(error, f"{what} of the back end {self.back_end.name} raised "
                                       f"{self.failed}" if tell else None)
            return False, None
        finally:
            if outside:
                within.pop(ident, None)

    def start(self, user: Any, window: Any) -> int:
        return 0 if self.call("start", window)[0] else lib.ERR_STATE

    def stop(self, user: Any, window: Any) -> int:
        return 0 if self.call("stop", window)[0] else lib.ERR_STATE

    def step(self, user: Any, step: int, action: int) -> None:
        self.call("step", step, Action(action))

    def range_begin(self, user: Any, label: bytes) -> None:
        self.call("range_begin", label.decode("utf-8", "replace"))

    def range_end(self, user: Any) -> None:
        self.call("range_end")

    def describe(self, user: Any, to: int, size: int) -> int:
        failed, self.failed = self.failed, ""
        text = text_of(failed or self.call("describe")[1] or "") or b""
        if size > 0:
            cut = text[:size - 1].decode("utf-8", "ignore").encode() + b"\0"
            memmove(to, cut, len(cut))
        return len(text)


def _unraisable(given: Any) -> None:
    """A signal's handler may raise where such a function is entered, so where nothing can be caught."""
    if "ctypes callback" in (given.err_msg or "") and given.exc_value is not None:
        for profiler in opened:
            if threading.get_ident() in profiler._within:
                profiler._keep(given.exc_value, None)
                return
    _unraisable_before(given)


opened: Set[Any] = set()  # profilers until they are closed: C calls what they hold
_unraisable_before, sys.unraisablehook = sys.unraisablehook, _unraisable
