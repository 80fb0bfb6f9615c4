# _sessions.py: tasks, sessions, phases. SPDX-License-Identifier: MIT
"""The id of the current task and session are context variables: coroutines and tasks inherit them,
threads do where the context is carried over (asyncio.to_thread does; see _context)."""
import ctypes
import functools
from contextvars import ContextVar

from . import _decorators
from . import _library as lib
from . import _scopes as scopes
from ._arguments import encode, interrupts, pack, whole
from ._sites import name_of, site

task_id = ContextVar("perftrace_task_id", default=None)
session_id = ContextVar("perftrace_session_id", default=None)

on = False  # whether sessions are recorded; set by perf_tracer


def _id(value):
    """An id as the library has it; NO_ID for None, and for what is no id, which is counted."""
    if value is None:
        return lib.NO_ID
    number = whole(value)
    if number is None or number < 0:
        scopes.counts["refused"] += 1
        return lib.NO_ID
    return number


def register_task(task):
    task = _id(task) if on else lib.NO_ID
    if task != lib.NO_ID:
        lib.task_register(task, lib.NO_ID)


def register_session(task):
    """The id of a new session of a task (None: of none), or None while sessions are off."""
    if not on:
        return None
    session = lib.session_register(_id(task))
    return session if session >= 0 else None


class PhaseScope(scopes.Null):
    """A phase of a session, one span of it. One a call."""
    __slots__ = ("handle", "session", "name", "start", "end_payload")

    def __init__(self, name, session, start_payload, end_payload):
        self.name = name_of(name)
        self.session = session
        self.start = start_payload
        self.end_payload = end_payload
        self.handle = None

    def __enter__(self):
        keys, types, block = pack(self.start) if self.start is not None else ((), (), b"")
        self.handle = lib.Phase()
        lib.phase_begin(ctypes.byref(self.handle), self.session,
                        site(lib.PHASE_BEGIN, self.name, "session", keys, types), block,
                        len(block))

    def __exit__(self, kind, error, trace):
        handle, self.handle = self.handle, None
        if handle is None:
            scopes.counts["strays"] += 1
            return
        number, block, other = -1, None, None
        try:
            packed = pack(self.end_payload) if self.end_payload is not None else None
            if scopes.is_failure(kind):
                packed = scopes.add(packed, "exception", scopes.failure(kind, error))
            if packed is not None:
                number, block = site(lib.PHASE_END, None, "session", *packed[:2]), packed[2]
        except BaseException as raised:  # it ends in any case
            number, block, other = -1, None, raised
        lib.phase_end(ctypes.byref(handle), number, block, 0 if block is None else len(block))
        if other is not None and type(other) is not RecursionError and interrupts(other):
            raise other

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, trace):
        return self.__exit__(kind, error, trace)


def phase(name, start_payload=None, end_payload=None):
    if not on:
        return scopes.NULL
    session = _id(session_id.get())
    if session == lib.NO_ID:
        scopes.counts["orphans"] += 1
        return scopes.NULL
    return PhaseScope(name, session, start_payload, end_payload)


def trace_session(name):
    """Decorator: each call is a phase of the session that is current then."""
    enter = functools.partial(phase, name)
    return lambda function: _decorators.wrap(function, enter, enter)


def session_context():
    """Decorator factory: each call has a session of its own, of the current task if there is one;
    it stays the current one."""
    def begin():
        task = task_id.get()
        session_id.set(register_session(task) if task is not None else None)
        return scopes.NULL

    def of_function(function):
        @functools.wraps(function)
        def traced(*args, **kwargs):
            begin()
            return function(*args, **kwargs)
        return traced

    return lambda function: _decorators.wrap(function, begin, begin, of_function)


def record(method, session=None, task=None, payload=()):
    """mark_finalized, mark_<phase>_start, mark_<phase>_end, increment_counter. What is unknown is
    passed over."""
    if not on or (session is None and task is None):
        return
    payload = dict(payload)
    session, task = (_id(session), lib.NO_ID) if session is not None else (lib.NO_ID, _id(task))
    if session == task:
        return
    if method == "increment_counter":
        value = whole(payload.get("value", 1))
        if value is not None and session != lib.NO_ID:
            lib.session_counter(session, encode(name_of(payload.get("name"))), value)
        return
    status, reason = payload.get("status"), payload.get("reason")
    lib.session_event(session, task, encode(name_of(method)),
                      None if status is None else encode(name_of(status)),
                      None if reason is None else encode(name_of(reason)))


class SessionTracer:
    """Tasks and sessions of this process."""

    def __init__(self):
        self._of_task = {}

    def register_task(self, task_id):
        register_task(task_id)

    def register_session(self, task_id):
        session = register_session(task_id)
        task = whole(task_id)
        if session is not None and task is not None:
            self._of_task.setdefault(task, []).append(session)
        return session

    def get_session_ids(self, task_id):
        """Sessions of a task that was not finalized yet."""
        return list(self._of_task.get(whole(task_id), ()))

    def record_event(self, session_id, event, **payload):
        record(event, session_id, None, payload)

    def record_task_event(self, task_id, event, **payload):
        """The same for every session of a task."""
        self.record_of_task(task_id, event, payload)

    def record_of_task(self, task_id, method, payload):
        if method in ("mark_finalized", "finalized"):
            self._of_task.pop(whole(task_id), None)
            record(method, None, task_id, payload)
            return
        for session in self.get_session_ids(task_id):
            record(method, session, None, payload)

    def increment_counter(self, session_id, name, value=1):
        record("increment_counter", session_id, None, {"name": name, "value": value})

    def flush(self, force=False):
        """Has the library write the records that are ready; force: to the disk."""
        lib.save(-1, int(bool(force)))

    def reset(self):
        self.flush(force=True)
        self._of_task.clear()
