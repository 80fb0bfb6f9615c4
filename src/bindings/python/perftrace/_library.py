# _library.py: finding the library, and what it offers. SPDX-License-Identifier: MIT
"""The shared library, loaded once.

Looked for in PERFTRACE_LIBRARY (a file; nothing else is tried then), beside this file, where it was
installed with this package, and where the system looks. Functions that record are called through ctypes.PyDLL: they never wait long enough
to be worth giving up the interpreter's lock. Those that may wait for a disk go through ctypes.CDLL.
"""
import ctypes
import os
from ctypes import c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

SONAME = "libperftrace.so.0"
# The functions of this package came with it; within 0.x each minor version is another interface.
VERSION = (0, 1)

# Numbers of perftrace/layout.h.
SCOPE, INSTANT, COUNTER, FLOW_START, FLOW_STEP, FLOW_END = 1, 2, 3, 4, 5, 6
ASYNC_BEGIN, ASYNC_INSTANT, ASYNC_END = 7, 8, 9
PHASE_BEGIN, PHASE_END = 11, 12
I64, U64, F64, BOOL, STR, JSON = 1, 2, 3, 4, 5, 6
MAX_ARGS = 12
NO_ID = -1
ERR_INVALID, ERR_NOT_FOUND, ERR_STATE, ERR_TIMEOUT, ERR_TOO_LONG, ERR_DISABLED = -1, -4, -6, -8, -13, -14

# The losses that perftrace_stats_t counts, in its order.
DROPS = ("ring_full", "block_timeout", "no_slot", "too_long", "damaged", "no_memory", "late",
         "file_gone")


class LibraryError(ImportError):
    """The library cannot be found, or is not one that this package can work with."""


class Config(ctypes.Structure):
    """perftrace_config_t; made with config()."""
    _fields_ = [("struct_size", c_size_t)] + [(name, c_char_p) for name in (
        "config_path", "dir", "fileroot", "experiment_name", "trial_name", "role", "ranks",
        "categories", "names", "ring_dir", "run_id", "profile_steps")] + [
        ("log", c_void_p), ("log_user", c_void_p), ("ring_size", c_uint64)] + [
        (name, c_int) for name in (
            "enabled", "rank", "world_size", "local_rank", "tp", "pp", "dp", "cp", "ep",
            "overflow", "sigterm", "session_enabled", "log_stderr")] + [
        (name, c_uint32) for name in (
            "save_interval", "flush_ms", "max_threads", "block_ms", "shutdown_ms", "string_max",
            "session_flush_threshold")] + [("counter_clock", c_int),
                                           ("session_max_live", c_uint32),
                                           ("hold", c_int), ("reserved", c_int),
                                           ("control", c_char_p), ("control_token", c_char_p)] + [
        (name, c_char_p) for name in ("profiler", "profiler_dir", "profiler_ranks",
                                      "profiler_categories", "profiler_schedule",
                                      "profiler_perf_control", "forward", "forward_token",
                                      "forward_creds", "forward_tls_ca")] + [
        ("forward_queue", c_uint64), ("forward_wait_ms", c_uint32),
        ("forward_replicas", c_uint32), ("forward_local", c_int), ("forward_level", c_uint32)]


class Arg(ctypes.Structure):
    """perftrace_i_arg_t"""
    _fields_ = [("name", c_char_p), ("type", c_uint32)]


class Phase(ctypes.Structure):
    """perftrace_phase_t"""
    _fields_ = [("session", c_int64), ("start", c_uint64), ("live", c_uint32), ("name", c_uint32),
                ("site", c_void_p)]


class Stats(ctypes.Structure):
    """perftrace_stats_t"""
    _fields_ = [("struct_size", c_size_t), ("emitted", c_uint64), ("written", c_uint64),
                ("pending_bytes", c_uint64), ("dropped", c_uint64 * 16),
                ("write_errors", c_uint64), ("unfinished", c_uint64), ("threads", c_uint32),
                ("reserved", c_uint32), ("sessions", c_uint64), ("sessions_live", c_uint64),
                ("sessions_written", c_uint64), ("sessions_evicted", c_uint64),
                ("session_late", c_uint64)]


def _places():
    named = os.environ.get("PERFTRACE_LIBRARY")
    if named:
        return [named]
    here = os.path.dirname(os.path.abspath(__file__))
    places = [os.path.join(here, SONAME)]
    try:
        from ._installed import LIBRARY
        places.append(os.path.normpath(os.path.join(here, LIBRARY)))
    except ImportError:
        pass
    return places + [SONAME]


def _open():
    """The path that can be loaded."""
    tried = []
    for place in _places():
        if os.sep in place and not os.path.exists(place):
            tried.append(f"{place}: there is no such file")
            continue
        try:
            return ctypes.PyDLL(place), ctypes.CDLL(place)
        except OSError as error:
            tried.append(str(error))
    raise LibraryError("libperftrace cannot be loaded: " + "; ".join(tried) +
                       ". Install it, or name the file in PERFTRACE_LIBRARY")


def _check(library):
    try:
        version = library.perftrace_version
        library.perftrace_bound_site
    except AttributeError:
        raise LibraryError(f"{library._name} is not libperftrace {VERSION[0]}.{VERSION[1]}, or "
                           "an older one without bindings") from None
    version.restype = c_char_p
    text = version().decode()
    if tuple(int(part) for part in text.split(".")[:2]) != VERSION:
        raise LibraryError(f"{library._name} is version {text}; this package needs "
                           f"{VERSION[0]}.{VERSION[1]}")
    return text


fast, slow = _open()
version = _check(fast)

# Without argument types integers are passed as C ints and bytes as addresses, which is quickest:
# begin and end take small numbers only. What takes 64 bits says so.
begin = fast.perftrace_bound_begin
end = fast.perftrace_bound_end
end_packed = fast.perftrace_bound_end_packed
begin_named = fast.perftrace_bound_begin_named
depth = fast.perftrace_bound_depth
depth.restype = c_uint32


def _typed(library, name, restype, *argtypes):
    function = getattr(library, name)
    function.restype = restype
    function.argtypes = argtypes
    return function


bound_site = _typed(fast, "perftrace_bound_site", c_int, c_int, c_char_p, c_char_p, c_uint32,
                    c_void_p)
emit = _typed(fast, "perftrace_bound_emit", c_int, c_int, c_uint64, c_char_p, c_uint32)
emit_named = _typed(fast, "perftrace_bound_emit_named", c_int, c_int, c_uint64, c_char_p, c_uint32,
                    c_char_p)
phase_begin = _typed(fast, "perftrace_bound_phase_begin", c_int, ctypes.POINTER(Phase), c_int64,
                     c_int, c_char_p, c_uint32)
phase_end = _typed(fast, "perftrace_bound_phase_end", c_int, ctypes.POINTER(Phase), c_int, c_char_p,
                   c_uint32)
task_register = _typed(fast, "perftrace_task_register", c_int, c_int64, c_int64)
session_register = _typed(fast, "perftrace_session_register", c_int64, c_int64)
session_counter = _typed(fast, "perftrace_session_counter", c_int, c_int64, c_char_p, c_int64)
session_event = _typed(fast, "perftrace_session_event", c_int, c_int64, c_int64, c_char_p, c_char_p,
                       c_char_p)
session_phase_declare = _typed(fast, "perftrace_session_phase_declare", c_int, c_char_p, c_int,
                               c_int)
step = _typed(fast, "perftrace_step", None, c_int64)
sync = _typed(fast, "perftrace_sync", None, c_int64)
set_enabled = _typed(fast, "perftrace_set_enabled", c_int, c_int)
trace_path = _typed(fast, "perftrace_trace_path", c_int, c_char_p, c_size_t)
is_active = _typed(fast, "perftrace_is_active", c_int)
get_stats = _typed(slow, "perftrace_get_stats", c_int, ctypes.POINTER(Stats))
status_text = _typed(fast, "perftrace_status_text", c_char_p, c_int)
thread_set_name = _typed(fast, "perftrace_thread_set_name", None, c_char_p)
config_init = _typed(fast, "perftrace_config_init", None, ctypes.POINTER(Config), c_size_t)
init = _typed(slow, "perftrace_init", c_int, ctypes.POINTER(Config))
shutdown = _typed(slow, "perftrace_shutdown", c_int)
save = _typed(slow, "perftrace_save", c_int, c_int64, c_int)
timer_get = _typed(slow, "perftrace_timer_get", c_void_p, c_char_p)
timer_add = _typed(fast, "perftrace_timer_add", None, c_void_p, c_uint64)
hold = _typed(slow, "perftrace_hold", c_int, c_char_p, c_uint32)
control_url = _typed(slow, "perftrace_control_url", c_int, c_char_p, c_size_t)


def text(status):
    """What a negative status means."""
    return status_text(status).decode()
