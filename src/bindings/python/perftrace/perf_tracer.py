# perf_tracer.py: AReaL's interface. SPDX-License-Identifier: MIT
"""In place of areal.utils.perf_tracer: the same names, parameters and rules (docs/PYTHON.md says
where the behaviour differs, and why). Unconfigured, everything but get_tracer does nothing."""
import atexit
import os
import sys
import threading

from . import _profiler, _scopes, _sessions
from . import _library as lib
from ._arguments import encode, flow_number, pack, whole
from ._context import carry, patch_executors, submit, unpatch_executors
from ._control import control_url, hold
from ._decorators import trace_perf
from ._sessions import SessionTracer, session_context, trace_session
from ._sites import category_of, name_of
from ._timers import Timed, Timers

__all__ = [
    "Category", "PerfTracer", "PerfTracerConfig", "SessionTracer", "SessionTracerConfig",
    "StartError", "atrace_scope", "atrace_session_phase", "carry", "configure",
    "configure_from_environment", "control_url", "counter", "declare_phase", "flow_end",
    "flow_start", "flow_step", "get_session_id", "get_session_tracer", "get_task_id", "get_tracer",
    "hold", "instant", "is_configured", "patch_executors", "read_timers", "register_session", "register_task",
    "reset", "reset_timers", "save", "session_context", "set_session_id", "set_task_id", "statistics",
    "step", "submit", "sync", "timer", "trace_perf", "trace_scope", "trace_session", "trace_session_event",
    "trace_session_phase", "unpatch_executors",
]

_CLASSES = ("Category", "PerfTracerConfig", "SessionTracerConfig")


def __getattr__(name):
    # dataclasses take longer to load than all of this package.
    if name not in _CLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import config
    for each in _CLASSES:
        globals()[each] = getattr(config, each)
    return globals()[name]


_tracer = None
_lock = threading.Lock()


# ---- the tracers --------------------------------------------------------------------------------

class StartError(RuntimeError):
    """The library cannot start: it says why."""


class PerfTracer:
    """The tracer of this process; made by configure. rank None: as the launcher says."""

    def __init__(self, config, *, rank, role=None):
        from .config import option, taken
        if rank is not None:
            rank = option("rank", rank)
            if rank < 0:
                raise ValueError(f"rank {rank} is negative")
        config = taken(config)
        self.config, self.rank, self.role = config, rank, role
        self._ended = False
        sessions = config.session_tracer
        self._session_tracer = SessionTracer() if sessions is not None and sessions.enabled else None
        self._enabled = False
        steps = config.steps()
        self._start(bool(config.enabled))
        _profiler.steps, _profiler.rank = frozenset(steps), rank

    def _start(self, enabled):
        if enabled or self._session_tracer is not None:
            from .config import for_library
            status = lib.init(for_library(self.config, self.rank, self.role, enabled))
            if status < 0:
                # As in C, the program goes on; nothing is recorded.
                raise StartError(f"tracing cannot start: {lib.text(status)}")
        self._enabled = enabled
        _scopes.on = enabled
        _sessions.on = self._session_tracer is not None

    @property
    def enabled(self):
        return self._enabled

    @property
    def session_tracer(self):
        return self._session_tracer

    def set_enabled(self, flag):
        """Switches events on and off while running; sessions are not touched. After reset: nothing."""
        if self._ended:
            return
        flag = bool(flag)
        if flag and not lib.is_active():
            self._start(True)
            return
        if lib.is_active():
            lib.set_enabled(int(flag))
        self._enabled = _scopes.on = flag

    def save(self, *, step=None, force=False):
        """Writes what was recorded. With a step only when (step + 1) is a multiple of
        save_interval; force: in any case, and to the disk. Raises OSError when the disk refuses:
        the events stay."""
        if self._ended or not lib.is_active() or (not self._enabled and not force):
            return
        status = lib.save(-1 if step is None else max(int(step), 0), int(bool(force)))
        if status < 0:
            raise OSError(f"the trace cannot be written: {lib.text(status)}; it is tried again")

    def trace_scope(self, name, **arguments):
        return trace_scope(name, **arguments)

    def atrace_scope(self, name, **arguments):
        return atrace_scope(name, **arguments)

    def instant(self, name, *, category=None, args=None):
        instant(name, category=category, args=args)

    def merge_profiler_trace(self, trace, base_time_ns, *, args=None):
        """Lays a trace of torch.profiler (a path, also of a .gz, its document, or its list of events)
        beside the rank's own, where perf-trace-convert finds it; it is not changed. Its own
        baseTimeNanoseconds, or times since the epoch, say when it was; without them its first event is
        at base_time_ns, of time.time_ns or of time.monotonic_ns. args are added to those of each
        event. Returns the path of the file, None while nothing is recorded; raises RuntimeError where
        no event has a time, TypeError for what is no trace."""
        return _profiler.merge(trace, base_time_ns, args) if self._enabled else None

    def reset(self):
        """Writes everything and stops; the next configure makes new files."""
        if self._ended:
            return
        _scopes.run += 1
        _scopes.on = _sessions.on = False
        _profiler.steps = frozenset()
        self._enabled = False
        if self._session_tracer is not None:
            self._session_tracer._of_task.clear()
        lib.shutdown()


def _at_exit():
    """The library ends by itself when the process does, after everything that Python still does.
    But after a KeyboardInterrupt the interpreter kills itself with the signal, and nothing of that
    comes to pass."""
    if lib.is_active():
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            lib.shutdown()
        else:
            lib.save(-1, 0)


atexit.register(_at_exit)


# ---- the tracer of the module -------------------------------------------------------------------

def configure(config, *, rank, role=None):
    """Builds the tracer of the process; RuntimeError when there is one already."""
    global _tracer
    with _lock:
        if _tracer is not None:
            raise RuntimeError("perf_tracer is configured already; call reset() first")
        _tracer = PerfTracer(config, rank=rank, role=role)
        return _tracer


def configure_from_environment(*, dir=None):
    """The same, with what the environment says (docs/CONFIGURATION.md) and the launcher's rank."""
    from .config import PerfTracerConfig, SessionTracerConfig
    sessions = os.environ.get("PERFTRACE_SESSION_ENABLED", "").lower() in ("1", "true", "yes", "on")
    config = PerfTracerConfig(dir=dir, enabled=True,
                              session_tracer=SessionTracerConfig(True) if sessions else None)
    return configure(config, rank=None)


def is_configured():
    return _tracer is not None


def get_tracer():
    if _tracer is None:
        raise RuntimeError("perf_tracer is not configured; call configure() first")
    return _tracer


def get_session_tracer():
    return None if _tracer is None else _tracer.session_tracer


def reset():
    """Stops the tracer, having written everything, and forgets it."""
    global _tracer
    with _lock:
        tracer, _tracer = _tracer, None
    if tracer is not None:
        tracer.reset()
        tracer._ended = True  # whoever kept it cannot stop or start another one


def save(*, step=None, force=False):
    if _tracer is not None:
        _tracer.save(step=step, force=force)


# ---- events -------------------------------------------------------------------------------------

def trace_scope(name, *, category=None, enable_profiler=False, profiler_args=None, args=None):
    """`with trace_scope("train.step", category="compute", args={"global_step": 3}):` records the
    block. Also for `async with`. enable_profiler: with torch.profiler, when the step (of these args, or
    of a scope around) is one of profile_steps and no profile is running."""
    if not _scopes.on:
        return _scopes.NULL
    scope = _scopes.scope(name, category, args)
    if _profiler.steps:
        return _profiler.around(scope, args, enable_profiler, profiler_args)
    return scope


def atrace_scope(name, *, category=None, enable_profiler=False, profiler_args=None, args=None):
    """The same for `async with`."""
    return trace_scope(name, category=category, enable_profiler=enable_profiler,
                       profiler_args=profiler_args, args=args)


def _point(kind, name, category, number, args):
    _scopes.point(kind, name_of(name), category_of(category), number,
                  None if args is None else pack(args))


def instant(name, *, category=None, args=None):
    if _scopes.on:
        _point(lib.INSTANT, name, category, 0, args)


def counter(name, value=None, *, category=None, **series):
    """A value over time, or several: counter("queue", 4), counter("bytes", sent=1, received=2). What is
    no number is left out: each key is a line that viewers draw."""
    if not _scopes.on:
        return
    packed = [pack({key: each}) for key, each in
              (series if value is None else {"value": value, **series}).items()]
    keys, types, blocks = zip(*packed) if packed else ((), (), ())
    numbers = [i for i, kind in enumerate(types) if kind[0] in (lib.I64, lib.U64, lib.F64, lib.BOOL)]
    numbers = numbers[:lib.MAX_ARGS]
    if numbers:
        _scopes.point(lib.COUNTER, name_of(name), category_of(category), 0,
                      (tuple(keys[i][0] for i in numbers), tuple(types[i][0] for i in numbers),
                       b"".join(blocks[i] for i in numbers)))


def flow_start(name, flow_id, *, category=None):
    """An arrow begins in the scope that is open; its other end has the same name and id: a number, or
    a text (of a request, say), which is the same number in every process."""
    if _scopes.on:
        _point(lib.FLOW_START, name, category, flow_number(flow_id), None)


def flow_step(name, flow_id, *, category=None):
    if _scopes.on:
        _point(lib.FLOW_STEP, name, category, flow_number(flow_id), None)


def flow_end(name, flow_id, *, category=None):
    if _scopes.on:
        _point(lib.FLOW_END, name, category, flow_number(flow_id), None)


def step(number):
    """The training step that later events belong to (their global_step)."""
    found = whole(int(number) if type(number) is float and number.is_integer() else number)
    if found is None:
        _scopes.counts["refused"] += 1
    else:
        lib.step(found)


def sync(number):
    """The collective or barrier of this number has just ended here: called at once after it in every
    rank, each number once in a run. It joins the clocks of machines about which nothing better is
    known."""
    found = whole(int(number) if type(number) is float and number.is_integer() else number)
    if found is None:
        _scopes.counts["refused"] += 1
    elif _scopes.on:
        lib.sync(found)


def statistics():
    """The account: emitted, written, dropped by cause, and more; all zero while not tracing."""
    s = lib.Stats(struct_size=lib.ctypes.sizeof(lib.Stats))
    lib.get_stats(s)
    out = {name: getattr(s, name) for name, *_ in lib.Stats._fields_
           if name not in ("struct_size", "reserved", "dropped")}
    out["dropped"] = {cause: s.dropped[i] for i, cause in enumerate(lib.DROPS) if s.dropped[i]}
    out.update(_scopes.counts)
    return out


_timers = Timers()


def _timed(of_generator, name, category, args, trace):
    if not trace or not _scopes.on:
        scope = _scopes.NULL
    elif of_generator:
        scope = _scopes.own_track(name, category)
    else:
        scope = trace_scope(name, category=category, args=args)
    return Timed(_timers, name, scope, (_timed, name, category, args, trace))


def timer(name, *, category=None, args=None, trace=True):
    """`with timer("rollout"):` measures the block, also while nothing is configured, and records it as
    trace_scope does; trace=False: measures only. Also for `async with`, and as a decorator,
    `@timer("rollout")` (generators are recorded without args)."""
    return _timed(False, name_of(name), category, args, trace)


def read_timers(*, reset=False):
    """{name: {"count": n, "sum": s, "min": s, "max": s}} of what was timed since the last reset; reset:
    in one step with the next one."""
    return _timers.read(reset)


def reset_timers():
    """All timers begin again at none."""
    _timers.read(reset=True)


# ---- tasks and sessions -------------------------------------------------------------------------

def set_task_id(task_id):
    _sessions.task_id.set(task_id)


def get_task_id():
    return _sessions.task_id.get()


def set_session_id(session_id):
    _sessions.session_id.set(session_id)


def get_session_id():
    return _sessions.session_id.get()


def register_task(task_id):
    tracer = get_session_tracer()
    if tracer is not None:
        tracer.register_task(task_id)


def register_session(task_id):
    tracer = get_session_tracer()
    return None if tracer is None else tracer.register_session(task_id)


def declare_phase(name, *, allow_multiple=True, ready_on_complete=False):
    """See perftrace_session_phase_declare; only needed for phases that are not as most."""
    if _sessions.on:
        lib.session_phase_declare(encode(name_of(name)), int(allow_multiple),
                                  int(ready_on_complete))


def trace_session_phase(phase, *, start_payload=None, end_payload=None):
    """`with trace_session_phase("generate"):` is a phase of the current session."""
    return _sessions.phase(phase, start_payload, end_payload)


def atrace_session_phase(phase, *, start_payload=None, end_payload=None):
    return _sessions.phase(phase, start_payload, end_payload)


def trace_session_event(method, session_id=None, task_id=None, **payload):
    """mark_finalized (status, reason), mark_<phase>_start, mark_<phase>_end, increment_counter
    (name, value), for a session or for all of a task."""
    tracer = get_session_tracer()
    if tracer is None:
        return
    if session_id is not None:
        _sessions.record(method, session_id, None, payload)
    elif task_id is not None:
        tracer.record_of_task(task_id, method, payload)
