# timers.py: the library's timers, with histograms. SPDX-License-Identifier: MIT
"""What perf_tracer.timer and the timers of perftrace.rlinf measure, and what C code of the process takes
with PERFTRACE_TIMER, as the library has it: added up by name over all threads, in buckets, four to a
doubling, that are the same on every rank. A traced run leaves it in timers-r<rank>.json.

    from perftrace import timers

    s = timers.read("rollout")
    print(s.count, s.mean, s.quantile(0.99))
"""
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_uint64, sizeof
from dataclasses import dataclass
from typing import Any, Dict, Optional, Tuple

from . import _library as lib
from ._arguments import encode
from ._sites import name_of
from ._timers import handles

__all__ = ["BUCKETS", "TimerStats", "bucket_seconds", "read", "read_all", "reset_all"]

BUCKETS = 252


class _Stats(Structure):
    """perftrace_timer_stats_t"""
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p)] + [
        (name, c_uint64) for name in ("count", "sum_ns", "min_ns", "max_ns", "lost")] + [
        ("buckets", c_uint64 * BUCKETS)]


# All through ctypes.CDLL: they take the lock of the timers, which another thread may hold.
_read = lib._typed(lib.slow, "perftrace_timer_read", c_int, c_char_p, c_int, POINTER(_Stats))
_merge = lib._typed(lib.slow, "perftrace_timer_merge", None, POINTER(_Stats), POINTER(_Stats))
_quantile_ns = lib._typed(lib.slow, "perftrace_timer_quantile_ns", c_uint64, POINTER(_Stats), c_double)
_bucket_ns = lib._typed(lib.slow, "perftrace_timer_bucket_ns", c_uint64, c_uint)


def bucket_seconds(bucket: int) -> float:
    """The least time of a bucket."""
    if not 0 <= bucket < BUCKETS:
        raise IndexError(f"bucket {bucket} is none of 0 to {BUCKETS - 1}")
    return float(_bucket_ns(bucket)) / 1e9


@dataclass(frozen=True)
class TimerStats:
    """What a timer has counted, in seconds."""
    count: int = 0
    sum: float = 0.0
    min: float = 0.0
    """0 while count is 0."""
    max: float = 0.0
    lost: int = 0
    """Times that found no memory."""
    buckets: Tuple[int, ...] = (0,) * BUCKETS

    @property
    def mean(self) -> float:
        """0 while count is 0."""
        return self.sum / self.count if self.count else 0.0

    def quantile(self, share: float) -> float:
        """The time below which a share (0 to 1) of the times lies: within 13 % of it. 0 where there are
        none."""
        return float(_quantile_ns(byref(self._structure()), float(share))) / 1e9

    def merged(self, other: "TimerStats") -> "TimerStats":
        """As if one timer had taken both: of other ranks, say."""
        both = self._structure()
        _merge(byref(both), byref(other._structure()))
        return _of(both)

    def _structure(self) -> _Stats:
        return _Stats(struct_size=sizeof(_Stats), count=self.count, sum_ns=round(self.sum * 1e9),
                      min_ns=round(self.min * 1e9), max_ns=round(self.max * 1e9), lost=self.lost,
                      buckets=(c_uint64 * BUCKETS)(*self.buckets))


def _of(s: _Stats) -> TimerStats:
    return TimerStats(s.count, s.sum_ns / 1e9, s.min_ns / 1e9, s.max_ns / 1e9, s.lost, tuple(s.buckets))


def read(name: Any, *, reset: bool = False) -> Optional[TimerStats]:
    """A timer over all threads; None: there is none of that name. reset: it stands at 0 afterwards; each
    time is in exactly one reading. perf_tracer.read_timers is not touched by that."""
    stats = _Stats(struct_size=sizeof(_Stats))
    status = _read(encode(name_of(name)), int(bool(reset)), byref(stats))
    return None if status == lib.ERR_NOT_FOUND else _of(stats)


def read_all(*, reset: bool = False) -> Dict[Any, TimerStats]:
    """By name, those that were timed from Python and have counted since the last reset."""
    found = {name: read(name, reset=reset) for name in list(handles)}
    return {name: stats for name, stats in found.items() if stats is not None and stats.count}


def reset_all() -> None:
    """All that were timed from Python stand at 0."""
    read_all(reset=True)
