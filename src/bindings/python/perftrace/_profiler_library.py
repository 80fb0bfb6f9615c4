# _profiler_library.py: perftrace/profiler.h as ctypes has it. SPDX-License-Identifier: MIT
"""Everything here goes through ctypes.CDLL, so that the interpreter's lock is given back: a call may
wait for a back end, which may be functions of Python that another thread runs."""
import ctypes
import os
from ctypes import POINTER, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint32, c_void_p

from . import _library as lib

NAME_MAX = 255
NEXT = -1
STAGE_SCHEDULED = 1


def _sized(cls):
    """The structure with its struct_size, as its initialiser in C has it."""
    def init(self, **fields):
        ctypes.Structure.__init__(self, ctypes.sizeof(cls), **fields)
    cls.__init__ = init
    return cls


@_sized
class Schedule(ctypes.Structure):
    """perftrace_schedule_t"""
    _fields_ = [("struct_size", c_size_t)] + [
        (name, c_int64) for name in ("skip_first", "wait", "warmup", "active", "repeat")] + [
        ("skip_first_wait", c_int), ("steps_apart", c_int), ("steps", c_char_p),
        ("delay_iterations", c_int64), ("max_iterations", c_int64),
        ("max_iterations_exceeded", c_int)]


class ScheduleWindow(ctypes.Structure):
    """perftrace_schedule_window_t"""
    _fields_ = [("index", c_int64), ("first", c_int64), ("last", c_int64)]


TEXTS = ("prefix", "role", "host", "suffix")
NUMBERS = ("first_step", "last_step", "rank", "world_size", "tp", "pp", "dp", "cp", "ep", "pid",
           "time_ms", "number", "mb_first", "mb_last", "cycle", "part", "steps_done",
           "steps_wanted")


class Name(ctypes.Structure):
    """perftrace_trace_name_t"""
    _fields_ = [("struct_size", c_size_t)] + [(name, c_char_p) for name in TEXTS] + [
        (name, c_int if name in NUMBERS[2:9] else c_int64) for name in NUMBERS] + [
        ("aborted", c_int)]

    def __init__(self):
        super().__init__(ctypes.sizeof(Name), **dict.fromkeys(NUMBERS, -1))


class Window(ctypes.Structure):
    """perftrace_profiler_window_t"""
    _fields_ = [("struct_size", c_size_t)] + [
        (name, c_char_p) for name in ("dir", "path", "role", "stage", "mark")] + [
        (name, c_int64) for name in ("first_step", "last_step", "steps_done", "steps_wanted",
                                     "number", "time_ms")] + [("aborted", c_int)]


def values_of(structure, names):
    """Fields by name, texts as Python has them."""
    values = {name: getattr(structure, name) for name in names}
    return {name: os.fsdecode(value) if type(value) is bytes else value
            for name, value in values.items()}


SPAN = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Window))
STEP = ctypes.CFUNCTYPE(None, c_void_p, c_int64, c_int)
DESCRIBE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
RANGE_BEGIN = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)
RANGE_END = ctypes.CFUNCTYPE(None, c_void_p)
LOG = ctypes.CFUNCTYPE(None, c_int, c_char_p, c_void_p)


@_sized
class BackEnd(ctypes.Structure):
    """perftrace_profiler_back_end_t"""
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("extension", c_char_p),
                ("gpu", c_int), ("start", SPAN), ("stop", SPAN), ("step", STEP),
                ("describe", DESCRIBE), ("user", c_void_p), ("range_begin", RANGE_BEGIN),
                ("range_end", RANGE_END)]


@_sized
class Options(ctypes.Structure):
    """perftrace_profiler_options_t"""
    _fields_ = [("struct_size", c_size_t), ("back_ends", c_char_p), ("callback", POINTER(BackEnd)),
                ("steps", c_char_p), ("steps_apart", c_int), ("discrete", c_int),
                ("schedule", Schedule), ("dir", c_char_p), ("name", Name), ("enable", c_int),
                ("all_ranks", c_int), ("ranks", c_char_p), ("same_thread", c_int),
                ("detail_categories", c_char_p), ("cuda_library", c_char_p),
                ("roc_library", c_char_p), ("perf_command", c_char_p), ("perf_hz", c_uint32),
                ("log", LOG), ("log_user", c_void_p), ("perf_control", c_char_p),
                ("relocate_from", c_char_p), ("finish_command", c_char_p),
                ("finish_all_ranks", c_int), ("finish_ranks", c_char_p),
                ("finish_limit_ms", c_uint32)]


@_sized
class Request(ctypes.Structure):
    """perftrace_profiler_request_t"""
    _fields_ = [("struct_size", c_size_t), ("label", c_char_p), ("schedule", Schedule),
                ("at_next_step", c_int), ("dir", c_char_p), ("categories", c_char_p),
                ("activities", c_uint), ("by_stage", c_int)]


@_sized
class Status(ctypes.Structure):
    """perftrace_profiler_status_t"""
    _fields_ = [("struct_size", c_size_t), ("state", c_int), ("aborted", c_int)] + [
        (name, c_int64) for name in ("first_step", "last_step", "steps_done", "steps_wanted",
                                     "saved")] + [
        ("role", ctypes.c_char * 64), ("stage", ctypes.c_char * 64),
        ("last_mark", ctypes.c_char * 64), ("last_path", ctypes.c_char * 1024),
        ("problem", ctypes.c_char * 512)]


def _typed(name, restype, *argtypes):
    return lib._typed(lib.slow, name, restype, *argtypes)


schedule_check = _typed("perftrace_schedule_check", c_int, POINTER(Schedule), POINTER(c_char_p))
schedule_action = _typed("perftrace_schedule_action", c_int, POINTER(Schedule), c_int64,
                         POINTER(ScheduleWindow))
schedule_windows = _typed("perftrace_schedule_windows", c_int64, POINTER(Schedule),
                          POINTER(c_int64))
schedule_set_tokens = _typed("perftrace_schedule_set_tokens", c_int, POINTER(Schedule), c_int64,
                             c_int64)
trace_basename = _typed("perftrace_trace_basename", c_int, POINTER(Name), c_char_p, c_char_p,
                        c_size_t)
trace_describe = _typed("perftrace_trace_describe", c_int, c_char_p, POINTER(Name), c_char_p,
                        c_size_t)
trace_create = _typed("perftrace_trace_create", c_int, c_char_p, POINTER(Name), c_char_p, c_char_p,
                      c_size_t)
open_ = _typed("perftrace_profiler_open", c_int, POINTER(Options), POINTER(c_void_p))
close = _typed("perftrace_profiler_close", c_int, c_void_p)
step = _typed("perftrace_profiler_step", c_int, c_void_p, c_int64)
start = _typed("perftrace_profiler_start", c_int, c_void_p, POINTER(Request))
stop = _typed("perftrace_profiler_stop", c_int, c_void_p)
stage_begin = _typed("perftrace_profiler_stage_begin", c_int64, c_void_p, c_char_p, c_int)
stage_end = _typed("perftrace_profiler_stage_end", c_int, c_void_p, c_int64, c_int)
get_status = _typed("perftrace_profiler_get_status", c_int, POINTER(Status))
main = _typed("perftrace_profiler_main", c_void_p)
set_main = _typed("perftrace_profiler_set_main", None, c_void_p)
