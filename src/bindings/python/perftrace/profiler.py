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
import contextlib
import enum
import os
import threading
from ctypes import byref, c_void_p, memmove
from typing import Any, Callable, Deque, Iterable, Iterator, List, NamedTuple, Optional, Set, Union

from . import _library as lib
from . import _profiler_library as c
from ._decorators import wrap
from ._profiler_names import (Action, Schedule, ScheduleWindow, Steps, TraceName, basename, create,
                              describe, number_of, steps_of, text_of)
from ._scopes import failure, is_failure

__all__ = ["Action", "BackEnd", "Profiler", "ProfilerStatus", "Schedule", "ScheduleWindow", "State",
           "TraceName", "Window", "basename", "create", "describe", "set_main", "status"]

_LEVELS = (40, 30, 20)  # of logging: error, warning, note


class State(enum.IntEnum):
    """What the process' profilers do."""
    IDLE = 0
    WAITING = 1  # a request runs, its window is not open
    STARTING = 2
    RECORDING = 3
    SAVING = 4


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
    values = {name: getattr(given, name) for name in Window._fields}
    return Window(**{name: os.fsdecode(value) if type(value) is bytes else value
                     for name, value in values.items() if name != "aborted"},
                  aborted=bool(given.aborted))


class BackEnd:
    """What records, as functions of the program: given here, or methods of a class made of this one.
    They are called one at a time, by whichever thread calls the profiler, and may not call that
    profiler. What they raise is told to the log and kept in Profiler.errors; a start that raises opens
    no window, and the program goes on. KeyboardInterrupt and its like pass."""
    name: str = "callback"
    extension: Optional[str] = None  # ".json.gz": a file is made for each window; None: none
    gpu: bool = False  # it uses the GPU's one profiling interface
    start: Optional[Callable[[Window], Any]] = None
    stop: Optional[Callable[[Window], Any]] = None
    step: Optional[Callable[[int, Action], Any]] = None  # -1: a step without a number
    describe: Optional[Callable[[], str]] = None

    def __init__(self, start: Optional[Callable[[Window], Any]] = None,
                 stop: Optional[Callable[[Window], Any]] = None,
                 step: Optional[Callable[[int, Action], Any]] = None,
                 describe: Optional[Callable[[], str]] = None, *, name: Optional[str] = None,
                 extension: Optional[str] = None, gpu: Optional[bool] = None) -> None:
        given = {"start": start, "stop": stop, "step": step, "describe": describe, "name": name,
                 "extension": extension, "gpu": gpu}
        for each, value in given.items():
            if value is not None:
                setattr(self, each, value)


class _Calls:
    """The functions of a back end as C calls them: nothing may be raised there."""

    def __init__(self, profiler: "Profiler", back_end: BackEnd) -> None:
        self.profiler, self.back_end = profiler, back_end
        self.failed = ""  # why the last call failed
        self.told_step = False
        self.structure = c.BackEnd(
            name=text_of(back_end.name), extension=text_of(back_end.extension),
            gpu=int(bool(back_end.gpu)), start=c.SPAN(self.start), stop=c.SPAN(self.stop),
            step=c.STEP(self.step) if back_end.step is not None else c.STEP(),
            describe=c.DESCRIBE(self.describe))

    def call(self, what: str, *args: Any) -> Any:
        """(whether it went well, what it returned)"""
        try:
            function = getattr(self.back_end, what)
            with _inside(self.profiler):
                return True, None if function is None else function(*args)
        except BaseException as error:
            self.failed = failure(type(error), error)
            tell = what != "step" or not self.told_step  # not at each step
            self.told_step = self.told_step or what == "step"
            self.profiler._keep(error, f"{what} of the back end {self.back_end.name} raised "
                                       f"{self.failed}" if tell else None)
            return False, None

    def start(self, user: Any, window: Any) -> int:
        return 0 if self.call("start", _window_of(window[0]))[0] else lib.ERR_STATE

    def stop(self, user: Any, window: Any) -> int:
        return 0 if self.call("stop", _window_of(window[0]))[0] else lib.ERR_STATE

    def step(self, user: Any, step: int, action: int) -> None:
        self.call("step", step, Action(action))

    def describe(self, user: Any, to: int, size: int) -> int:
        failed, self.failed = self.failed, ""
        text = text_of(failed or self.call("describe")[1] or "") or b""
        if size > 0:
            cut = text[:size - 1].decode("utf-8", "ignore").encode() + b"\0"
            memmove(to, cut, len(cut))
        return len(text)


_local = threading.local()


@contextlib.contextmanager
def _inside(profiler: "Profiler") -> Iterator[None]:
    """While a function of its back end runs on this thread."""
    around = getattr(_local, "inside", ())
    _local.inside = (*around, profiler)
    try:
        yield
    finally:
        _local.inside = around


_open: Set["Profiler"] = set()  # until they are closed; C calls what they hold


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
                 log: Optional[Callable[[int, str], Any]] = None) -> None:
        self.errors = collections.deque(maxlen=16)
        self._log = log
        self._discrete = bool(discrete)
        self._messages: Optional[List[str]] = []  # of opening
        self._pending: Deque[BaseException] = collections.deque()
        self._idle = threading.Condition()
        self._users = 0
        self._handle: Optional[int] = None
        given = [back_ends] if isinstance(back_ends, (str, BackEnd)) else list(back_ends)
        own = [each for each in given if not isinstance(each, str)]
        if len(own) > 1:
            raise ValueError("at most one back end is of the program")
        calls = _Calls(self, own[0]) if own else None
        logged = c.LOG(self._logged)
        options = c.Options(
            back_ends=text_of(",".join(each for each in given if isinstance(each, str))),
            steps=steps_of(steps), steps_apart=int(bool(steps_apart)), discrete=int(bool(discrete)),
            schedule=(schedule or Schedule())._structure(), dir=os.fsencode(dir),
            name=(name or TraceName())._structure(), enable=int(bool(enable)),
            all_ranks=int(bool(all_ranks)), ranks=steps_of(ranks),
            same_thread=int(bool(same_thread)), detail_categories=text_of(detail_categories),
            cuda_library=text_of(cuda_library), roc_library=text_of(roc_library),
            perf_command=text_of(perf_command), perf_control=text_of(perf_control), log=logged)
        options.perf_hz = number_of("perf_hz", perf_hz)
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
        _open.add(self)
        self._raise()

    # ---- what comes back from C ----

    def _say(self, level: int, text: str, error: Optional[BaseException] = None) -> None:
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
        if not isinstance(error, Exception):
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

    @contextlib.contextmanager
    def _used(self) -> Iterator[Optional[int]]:
        """The handle, which is not closed meanwhile; None: it was closed."""
        if self in getattr(_local, "inside", ()):
            raise RuntimeError("a back end must not call the profiler that it belongs to")
        with self._idle:
            handle = self._handle
            self._users += handle is not None
        try:
            yield handle
        finally:
            if handle is not None:
                with self._idle:
                    self._users = max(self._users - 1, 0)  # a fork in a back end made it 0
                    self._idle.notify_all()
        self._raise()

    # ---- the program's calls ----

    def step(self, number: Optional[int] = None) -> Action:
        """Says that a step begins, and thereby that the one before has ended: its number, or the one
        after the last, as torch.profiler's step()."""
        step = c.NEXT if number is None else number_of("step", number)
        with self._used() as handle:
            if handle is None:
                return Action.NONE
            action = c.step(handle, step) if step >= 0 or number is None else lib.ERR_INVALID
        if action < 0:
            raise ValueError(f"step {number} is negative")
        return Action(action)

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
                            dir=None if dir is None else os.fsencode(dir),
                            by_stage=int(bool(by_stage)))
        with self._used() as handle:
            status = lib.ERR_STATE if handle is None else c.start(handle, byref(request))
        if status in (lib.ERR_INVALID, lib.ERR_TOO_LONG):
            raise ValueError("nothing starts: the schedule is one of listed steps, or the categories or "
                             "the directory are too long")
        return bool(status == 0)

    def stop(self) -> None:
        """Ends the window that is open, whoever's it is; idle: nothing."""
        with self._used() as handle:
            if handle is not None:
                c.stop(handle)

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
        if self in getattr(_local, "inside", ()):
            raise RuntimeError("a back end must not call the profiler that it belongs to")
        with self._idle:
            handle, self._handle = self._handle, None
            try:
                while self._users:
                    self._idle.wait()
            except BaseException:
                self._handle = handle
                raise
        if handle is not None:
            if c.main() == handle:
                c.set_main(None)
            try:
                c.close(handle)
            finally:
                _open.discard(self)
        self._raise()

    @property
    def closed(self) -> bool:
        return self._handle is None

    def _abort(self) -> None:
        with self._used() as handle:
            if handle is not None:
                c.stage_end(handle, 0, 1)

    def __enter__(self) -> "Profiler":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if is_failure(kind):
                self._abort()
        finally:
            self.close()


class _Block:
    """A block that may be a window. One a use; as a decorator one a call."""

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        raise NotImplementedError

    def _again(self) -> "_Block":
        raise NotImplementedError

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.__exit__(kind, error, trace)

    def __call__(self, function: Callable[..., Any]) -> Any:
        """Each call of a function, coroutine or generator is such a block."""
        def of_function(function: Callable[..., Any]) -> Callable[..., Any]:
            import functools

            @functools.wraps(function)
            def profiled(*args: Any, **kwargs: Any) -> Any:
                with self._again():
                    return function(*args, **kwargs)
            return profiled
        return wrap(function, self._again, self._again, of_function)


class Stage(_Block):
    """See Profiler.stage."""

    def __init__(self, profiler: Profiler, name: str, flags: int) -> None:
        self._profiler, self._name, self._flags = profiler, name, flags
        self._token: Optional[int] = None

    def _again(self) -> "Stage":
        return Stage(self._profiler, self._name, self._flags)

    def __enter__(self) -> None:
        with self._profiler._used() as handle:
            if handle is not None:
                self._token = c.stage_begin(handle, text_of(self._name), self._flags)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        token, self._token = self._token, None
        with self._profiler._used() as handle:
            if handle is not None and token is not None:
                c.stage_end(handle, max(token, 0), int(is_failure(kind)))


class Record(_Block):
    """See Profiler.record."""

    def __init__(self, profiler: Profiler, label: Optional[str],
                 schedule: Optional[Schedule]) -> None:
        self._profiler, self._label, self._schedule = profiler, label, schedule
        self._started = False

    def _again(self) -> "Record":
        return Record(self._profiler, self._label, self._schedule)

    def __enter__(self) -> None:
        self._started = self._profiler.start(self._label, schedule=self._schedule)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        started, self._started = self._started, False
        if not started or self._profiler._discrete:
            return
        if is_failure(kind):
            self._profiler._abort()
            if status().state != State.WAITING:
                return  # it is saved; what opens from now on is not ours to stop
        self._profiler.stop()


# ---- of the process -----------------------------------------------------------------------------

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
    values = {name: getattr(got, name) for name in ProfilerStatus._fields}
    values = {name: os.fsdecode(value) if type(value) is bytes else value
              for name, value in values.items()}
    return ProfilerStatus(**{**values, "state": State(got.state), "aborted": bool(got.aborted)})


def set_main(profiler: Optional[Profiler]) -> None:
    """The profiler that requests from outside start; None: none."""
    if profiler is None:
        c.set_main(None)
        return
    with profiler._used() as handle:
        if handle is None:
            raise ValueError("the profiler is closed")
        c.set_main(handle)


def _close_all() -> None:
    """The library would close them after the interpreter is gone, and call what is not there."""
    for profiler in list(_open):
        profiler.close()


def _after_fork() -> None:
    for profiler in _open:
        profiler._idle = threading.Condition()
        profiler._users = 0


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
