# profiler.py: heavy profilers for chosen steps and ranks. SPDX-License-Identifier: MIT
"""perftrace/profiler.h for Python: windows of a run that the tracer, nsys, rocprof, perf or functions of
the program record.

    from perftrace import profiler

    with profiler.Profiler("cuda", schedule=profiler.Schedule(wait=9, active=3, repeat=1)) as p:
        for step in range(steps):
            p.step(step)
            train()

What is wrong with the settings is an exception; what goes wrong while a program runs is told to the
log, and the program goes on. The body of a stage that fails passes its exception unchanged."""
import atexit
import collections
import os
import threading
import time
from ctypes import byref, c_void_p
from typing import Any, Callable, Deque, Dict, Iterable, List, Optional, Union

from . import _library as lib
from . import _profiler_library as c
from ._arguments import interrupts
from ._profiler_back_end import BackEnd, Calls, Window, opened
from ._profiler_blocks import Record, Stage
from ._profiler_names import (Action, Schedule, ScheduleWindow, Steps, TraceName, basename, create,
                              describe, number_of, path_of, small_of, steps_of,
                              text_of)
from ._profiler_state import ProfilerStatus, State, status
from ._profiler_torch import Torch
from ._scopes import is_failure

__all__ = ["Action", "BackEnd", "Profiler", "ProfilerStatus", "Schedule", "ScheduleWindow", "State",
           "Torch", "TraceName", "Window", "basename", "create", "describe", "set_main", "status"]

_LEVELS = (40, 30, 20)  # of logging: error, warning, note
_FORK_WAIT_S = 5
_saying = threading.RLock()  # held while something is told, and over a fork


class Profiler:
    """Opens and ends windows for a role of the process (perftrace_profiler_t). One window at a time is
    open in a process, however many profilers there are. All methods from any thread; after close they
    do nothing. One that is left open is closed at exit.

    back_ends       names of the library's ("self", "cuda", "roc", "perf", "nvtx"), one or several, and
                    at most one BackEnd of the program
    schedule        when windows open; None: by start, steps or stages alone
    steps           steps of the run that are profiled, "1,3,5-7" or numbers; the schedule counts
                    mini-batches within them then
    discrete        each stage is a window, start does nothing
    name            role, rank, world size... for the names of files
    enable, all_ranks, ranks    which ranks profile; without a list rank 0
    relocate_from   directory in which nsys or rocprof leave reports: this process' are moved to dir
    finish_command  shell command that is run once after the last window (perftrace_profiler(3)), on rank
                    0, all ranks (finish_all_ranks) or those of finish_ranks, for finish_limit_ms at most
    same_thread     back ends are called by the thread that calls step, stages and close alone
    log             function of (level of logging, text); None: the logger "perftrace"
    """

    errors: Deque[BaseException]
    """What functions of the back end raised: the last 16."""

    def __init__(self, back_ends: Union[str, BackEnd, Iterable[Union[str, BackEnd]]] = (), *,
                 schedule: Optional[Schedule] = None, steps: Optional[Steps] = None,
                 steps_apart: bool = False, discrete: bool = False,
                 dir: Union[str, "os.PathLike[str]"] = ".", name: Optional[TraceName] = None,
                 enable: bool = True, all_ranks: bool = False, ranks: Optional[Steps] = None,
                 same_thread: bool = False, detail_categories: Optional[str] = None,
                 cuda_library: Optional[str] = None, roc_library: Optional[str] = None,
                 perf_command: Optional[str] = None, perf_hz: int = 0,
                 perf_control: Optional[str] = None,
                 relocate_from: Optional[Union[str, "os.PathLike[str]"]] = None,
                 finish_command: Optional[str] = None, finish_all_ranks: bool = False,
                 finish_ranks: Optional[Steps] = None, finish_limit_ms: int = 0,
                 log: Optional[Callable[[int, str], Any]] = None) -> None:
        self.errors = collections.deque(maxlen=16)
        self._log = log
        self._discrete = bool(discrete)
        self._messages: Optional[List[str]] = []  # of opening
        self._pending: Deque[BaseException] = collections.deque()
        self._within: Dict[int, bool] = {}  # threads that are in C for it, or in its back end
        self._handle: Optional[int] = None
        given = [back_ends] if isinstance(back_ends, (str, BackEnd)) else list(back_ends)
        for what, given_as, kind in (("schedule", schedule, Schedule), ("name", name, TraceName)):
            if given_as is not None and not hasattr(given_as, "_structure"):
                raise TypeError(f"{what} is a {kind.__name__}, not {type(given_as).__name__}")
        own = [each for each in given if not isinstance(each, str)]
        if len(own) > 1:
            raise ValueError("at most one back end is of the program")
        calls = Calls(self, own[0]) if own else None
        logged = c.LOG(self._logged)
        options = c.Options(
            back_ends=text_of(",".join(each for each in given if isinstance(each, str))),
            steps=steps_of(steps), steps_apart=int(bool(steps_apart)), discrete=int(bool(discrete)),
            schedule=(schedule or Schedule())._structure(), dir=path_of(dir),
            name=(name or TraceName())._structure(), enable=int(bool(enable)),
            all_ranks=int(bool(all_ranks)), ranks=steps_of(ranks),
            same_thread=int(bool(same_thread or any(getattr(each, "same_thread", False) for each in own))),
            detail_categories=text_of(detail_categories),
            cuda_library=text_of(cuda_library), roc_library=text_of(roc_library),
            perf_command=text_of(perf_command), perf_control=text_of(perf_control), log=logged)
        options.perf_hz = small_of("perf_hz", perf_hz)
        options.relocate_from = None if relocate_from is None else path_of(relocate_from)
        options.finish_command = text_of(finish_command)
        options.finish_all_ranks = int(bool(finish_all_ranks))
        options.finish_ranks = steps_of(finish_ranks)
        options.finish_limit_ms = small_of("finish_limit_ms", finish_limit_ms)
        if calls is not None:
            options.callback.contents = calls.structure
        handle = c_void_p()
        status = c.open_(byref(options), byref(handle))
        messages, self._messages = self._messages, None
        if status < 0:
            text = "; ".join(messages or ()) or f"no profiler: {lib.text(status)}"
            raise ValueError(text) if status == lib.ERR_INVALID else OSError(text)
        self._alive = calls, logged
        self._handle = handle.value
        opened.add(self)
        self._raise()

    # ---- what comes back from C ----

    def _say(self, level: int, text: str, error: Optional[BaseException] = None) -> None:
        with _saying:
            if self._log is not None:
                self._log(level, text)
            else:
                import logging  # by those only who use this
                logging.getLogger("perftrace").log(level, text, exc_info=error)

    def _logged(self, level: int, text: bytes, user: Any) -> None:
        try:
            message = text.decode("utf-8", "replace")
            if self._messages is not None and level == 0:
                self._messages.append(message)  # becomes the exception
            else:
                self._say(_LEVELS[min(max(level, 0), 2)], message)
        except BaseException as error:
            self._keep(error, None)

    def _keep(self, error: BaseException, text: Optional[str]) -> None:
        """text None: it is not told."""
        self.errors.append(error)
        if interrupts(error):
            self._pending.append(error)
            return
        if text is not None:
            try:
                self._say(40, text, error)
            except BaseException as other:
                self._keep(other, None)

    def _raise(self) -> None:
        """KeyboardInterrupt and its like, which C could not pass on."""
        if self._pending:
            raise self._pending.popleft()

    def _call(self, function: Callable[..., Any], *args: Any) -> Any:
        """Calls C with the handle, which is not closed meanwhile. None: it was closed. No lock and no
        context manager: a signal's handler may raise between any two steps."""
        ident, within = threading.get_ident(), self._within
        if ident in within:
            raise RuntimeError("a back end must not call the profiler that it belongs to")
        try:
            within[ident] = True
            handle = self._handle
            result = None if handle is None else function(handle, *args)
        finally:
            within.pop(ident, None)
        self._raise()
        return result

    # ---- the program's calls ----

    def step(self, number: Optional[int] = None) -> Action:
        """Says that a step begins, and thereby that the one before has ended: its number, or the one
        after the last, as torch.profiler's step()."""
        step = c.NEXT if number is None else number_of("step", number)
        if step < 0 and number is not None:
            raise ValueError(f"step {number} is negative")
        return Action(self._call(c.step, step) or 0)

    def start(self, label: Optional[str] = None, *, schedule: Optional[Schedule] = None,
              at_next_step: bool = False,
              dir: Optional[Union[str, "os.PathLike[str]"]] = None,
              categories: Optional[str] = None, by_stage: bool = False) -> bool:
        """Starts by hand. dir: of its files, below the profiler's unless absolute; categories: which of
        self's detail_categories it records; by_stage: each stage of its steps is a window.

        False where nothing starts: a window is open already, or no back end starts, or the directory
        cannot be written to (the reason is told to the log, and is status().problem). True as well on
        ranks that do not profile and in discrete mode, where nothing is done."""
        request = c.Request(label=text_of(label), schedule=(schedule or Schedule())._structure(),
                            at_next_step=int(bool(at_next_step)), categories=text_of(categories),
                            dir=None if dir is None else path_of(dir),
                            by_stage=int(bool(by_stage)))
        status = self._call(c.start, byref(request))
        if status in (lib.ERR_INVALID, lib.ERR_TOO_LONG):
            raise ValueError("nothing starts: the schedule is one of listed steps, or the categories or "
                             "the directory are too long")
        return bool(status == 0)

    def stop(self) -> None:
        """Ends the window that is open, whoever's it is; idle: nothing."""
        self._call(c.stop)

    def stage(self, name: str, *, scheduled: bool = False) -> "Stage":
        """`with p.stage("update"):`, also `async with`, or `@p.stage("update")`: a stage of a step. In
        discrete mode it is a window (scheduled: as the schedule says); when its body fails, the window
        is saved and marked aborted."""
        return Stage(self, name, c.STAGE_SCHEDULED if scheduled else 0)

    def record(self, label: Optional[str] = None, *, schedule: Optional[Schedule] = None) -> "Record":
        """`with p.record("warm-up"):`, also `async with`, or `@p.record("warm-up")`: starts by hand for the
        block, if nothing else records, and stops behind it; when the block fails, the window is saved
        and marked aborted."""
        return Record(self, label, schedule)

    def close(self) -> None:
        """Ends the window, says in one line which windows were never reached. Waits for calls of other
        threads."""
        if threading.get_ident() in self._within:
            raise RuntimeError("a back end must not close the profiler that it belongs to")
        handle, self._handle = self._handle, None
        try:
            while self._within:
                time.sleep(0.001)
        except BaseException:
            self._handle = handle
            raise
        if handle is not None:
            if c.main() == handle:
                c.set_main(None)
            self._within[threading.get_ident()] = True
            try:
                c.close(handle)
            finally:
                self._within.clear()
                opened.discard(self)
        self._raise()

    @property
    def closed(self) -> bool:
        return self._handle is None

    def _abort(self) -> None:
        self._call(c.stage_end, 0, 1)

    def __enter__(self) -> "Profiler":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if is_failure(kind):
                self._abort()
        finally:
            self.close()


# ---- of the process -----------------------------------------------------------------------------

def set_main(profiler: Optional[Profiler]) -> None:
    """The profiler that requests from outside start; None: none."""
    if profiler is None:
        c.set_main(None)
        return
    if profiler._call(lambda handle: c.set_main(handle) or True) is None:
        raise ValueError("the profiler is closed")


def _close_all() -> None:
    """The library would close them after the interpreter is gone, and call what is not there."""
    for profiler in list(opened):
        profiler.close()


def _before_fork() -> None:
    """No other thread is telling something: it may hold the lock of standard error, which Python gives to
    no child, and the child would wait for it for ever. Not without limit: what it tells may wait for us."""
    _held[threading.get_ident()] = _saying.acquire(timeout=_FORK_WAIT_S)


def _after_fork_in_parent() -> None:
    if _held.pop(threading.get_ident()):
        _saying.release()


def _after_fork() -> None:
    """The other threads are not there."""
    global _saying
    mine = threading.get_ident()
    if _held.pop(mine):
        _saying.release()
    else:
        _saying = threading.RLock()
    _held.clear()
    for profiler in opened:
        profiler._within = {mine: True} if mine in profiler._within else {}


atexit.register(_close_all)
_held: Dict[int, bool] = {}  # threads that are about to fork; whether they got _saying
os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork)
