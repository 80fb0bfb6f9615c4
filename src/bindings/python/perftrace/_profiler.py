# _profiler.py: torch.profiler around a scope, on chosen steps. SPDX-License-Identifier: MIT
"""What the profiler saw becomes a file beside the rank's trace, <trace>.torch-step<n>.json, that says of
which rank it is: perf-trace-convert puts both on one timeline, by the clock that both tell. torch is
loaded when a profile starts, not before. A trace from elsewhere can be laid there, too (merge)."""
import math
import os
import re
import shutil
import time
import warnings
from contextvars import ContextVar

from . import _library as lib
from . import _scopes as scopes
from ._arguments import describe, plain

steps = frozenset()  # of the configuration; empty: nothing of this is used
rank = None

_step = ContextVar("perftrace_step", default=None)  # of the scopes around
_active = ContextVar("perftrace_profiling", default=False)
_told = set()


def _warn(text):
    if text not in _told:
        _told.add(text)
        warnings.warn(f"perftrace: {text}", RuntimeWarning, stacklevel=4)


def _start(arguments):
    """A running profiler, or None."""
    try:
        from torch import profiler
        import torch
    except ImportError:
        _warn("torch is not installed: enable_profiler does nothing")
        return None
    activities = [profiler.ProfilerActivity.CPU]
    if torch.cuda.is_available():
        activities.append(profiler.ProfilerActivity.CUDA)
    try:
        profile = profiler.profile(**{"activities": activities, **(arguments or {})})
        profile.__enter__()
        return profile
    except Exception as error:  # another profiler runs, an unknown argument
        _warn(f"torch.profiler does not start: {error}")
        return None


def trace_path():
    """The file that the library writes now, or None."""
    buffer = lib.ctypes.create_string_buffer(4096)
    return os.fsdecode(buffer.value) if lib.trace_path(buffer, len(buffer)) > 0 else None


_EPOCH_US = 1e15  # times below are no microseconds since 1970


def _members(head, tail, start_ns, of_rank):
    """What the file does not say itself, before its events or behind them: of which rank it is, and
    when its times begin. Newer versions of torch say that in baseTimeNanoseconds, or count from the
    epoch; else they count from the start of the profile."""
    def has(name):
        return name in head or name in tail
    members = []
    if of_rank is not None and not has(b'"distributedInfo"'):
        members.append(b'"distributedInfo": {"rank": %d}' % of_rank)
    first = re.search(rb'"ts": *([0-9.]+)', head)
    if not has(b'"baseTimeNanoseconds"') and first and float(first.group(1)) < _EPOCH_US:
        members.append(b'"baseTimeNanoseconds": %d' % start_ns)
    return b"".join(b"  " + member + b",\n" for member in members)


def mark(path, to, start_ns, of_rank):
    """Copies a trace of torch, an object or a mere list of events, with what it lacks."""
    with open(path, "rb") as source, open(to + ".tmp", "wb") as target:
        source.seek(-min(1 << 16, os.path.getsize(path)), os.SEEK_END)
        tail = source.read()
        source.seek(0)
        head = source.read(1 << 20).lstrip()
        members = _members(head, tail, start_ns, of_rank)
        if head[:1] == b"[":
            target.write(b"{\n" + members + b'  "traceEvents": ' + head)
            shutil.copyfileobj(source, target, 1 << 20)
            target.write(b"}\n")
        else:
            target.write(head[:1] + b"\n" + members + head[1:])
            shutil.copyfileobj(source, target, 1 << 20)
    os.replace(to + ".tmp", to)


def _free_path(step):
    """Where the next profile of a step (None: of no step) is to lie, or None."""
    trace = trace_path()
    if trace is None:
        return None
    base = f"{trace[:-len('.jsonl')]}.torch" + ("" if step is None else f"-step{step}")
    path = base + ".json"
    n = 1
    while os.path.exists(path):
        n += 1
        path = f"{base}.{n}.json"
    return path


def _finish(profile, step, start_ns):
    try:
        profile.__exit__(None, None, None)
        path = _free_path(step)
        if path is None:
            return
        raw = path + ".raw"
        profile.export_chrome_trace(raw)
        mark(raw, path, start_ns, rank)
        os.unlink(raw)
    except Exception as error:
        _warn(f"the profile of step {step} is lost: {error}")


def _load(trace):
    """The document of a trace: given itself, as its list of events, or by the path of its file."""
    if isinstance(trace, (str, os.PathLike)):
        import gzip
        import json
        with open(trace, "rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with (gzip.open if packed else open)(trace, "rb") as file:
            trace = json.loads(file.read())
    document = dict(trace) if isinstance(trace, dict) else {"traceEvents": trace}
    if not isinstance(document.get("traceEvents"), list):
        raise TypeError(f"no trace: {describe(trace)[:200]}")
    return document


_EPOCH_NS = 10**18  # times below are of the monotonic clock


def _begin_of(events, base_time_ns):
    """The zero of times, with which the first event is at base_time_ns; None where they count from the
    epoch."""
    times = [event["ts"] for event in events
             if isinstance(event, dict) and isinstance(event.get("ts"), (int, float)) and
             math.isfinite(event["ts"]) and event.get("ph") != "M"]
    if not times:
        raise RuntimeError("no event of the trace has a time")
    first = min(times)
    if first >= _EPOCH_US:
        return None
    if base_time_ns < _EPOCH_NS:
        base_time_ns += time.time_ns() - time.monotonic_ns()
    return int(base_time_ns) - round(first * 1000)


def _with(event, extra):
    if not isinstance(event, dict) or event.get("ph") == "M":
        return event
    own = event.get("args")
    return {**event, "args": {**(own if isinstance(own, dict) else {}), **extra}}


def merge(trace, base_time_ns, args):
    """See PerfTracer.merge_profiler_trace."""
    import json
    document = _load(trace)
    begin = _begin_of(document["traceEvents"], base_time_ns)
    if begin is not None:
        document.setdefault("baseTimeNanoseconds", begin)
    if rank is not None:
        document.setdefault("distributedInfo", {"rank": rank})
    extra = {} if args is None else plain(args if isinstance(args, dict) else {"args": args})
    if extra:
        document["traceEvents"] = [_with(event, extra) for event in document["traceEvents"]]
    step = extra.get("global_step")
    path = _free_path(step if isinstance(step, int) else None)
    if path is not None:
        with open(path + ".tmp", "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.replace(path + ".tmp", path)
    return path


class Profiled(scopes.Null):
    """A scope whose step is known within, and that may be profiled. One a call."""
    __slots__ = ("inner", "step", "wanted", "arguments", "profile", "start_ns", "tokens")

    def __init__(self, inner, step, wanted, arguments):
        self.inner, self.step, self.wanted, self.arguments = inner, step, wanted, arguments
        self.profile = None
        self.tokens = None

    def __enter__(self):
        self.inner.__enter__()
        step = self.step if self.step is not None else _step.get()
        self.tokens = [(_step, _step.set(step))]
        if self.wanted and step in steps and not _active.get():
            self.step = step
            self.profile = _start(self.arguments)
            self.start_ns = time.time_ns()  # the profiler has just begun: loading it may take long
            if self.profile is not None:
                self.tokens.append((_active, _active.set(True)))

    def __exit__(self, kind, error, trace):
        profile, self.profile = self.profile, None
        if profile is not None:
            _finish(profile, self.step, self.start_ns)
        for variable, token in reversed(self.tokens or ()):
            try:
                variable.reset(token)
            except ValueError:
                pass  # left in another context than it was entered in
        self.tokens = None
        return self.inner.__exit__(kind, error, trace)

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, trace):
        return self.__exit__(kind, error, trace)


def around(inner, args, wanted, arguments):
    """The scope `inner`, with what its arguments say of the step."""
    step = args.get("global_step") if isinstance(args, dict) else None
    if not isinstance(step, int):
        step = None
    return Profiled(inner, step, wanted, arguments) if wanted or step is not None else inner
