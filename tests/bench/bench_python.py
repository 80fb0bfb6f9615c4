#!/usr/bin/env python3
"""bench_python.py: what the Python package costs. SPDX-License-Identifier: MIT

Usage: bench_python.py [--rounds N] [--count N] [--dir DIR]. The method of AReaL's tracer is rebuilt
here as the floor to beat: two clock readings, a dict, a lock, a list, json.dumps at the save."""
import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import threading
import time

from perftrace import perf_tracer as pt

parser = argparse.ArgumentParser()
parser.add_argument("--rounds", type=int, default=5)
parser.add_argument("--count", type=int, default=200000)
parser.add_argument("--dir", default="bench-python")
parser.add_argument("--memory", action="store_true", help="prints the peak of a million scopes")
options = parser.parse_args()


class Baseline:
    """The method of AReaL's tracer."""

    def __init__(self, path):
        self.path, self.events, self.lock = path, [], threading.Lock()
        self.pid = os.getpid()

    @contextlib.contextmanager
    def trace_scope(self, name, *, category=None, args=None):
        start = time.time_ns()
        try:
            yield
        finally:
            end = time.time_ns()
            event = {"name": name, "ph": "X", "ts": start // 1000,
                     "dur": max((end - start) // 1000, 1), "pid": self.pid,
                     "tid": threading.get_native_id(), "cat": category or "misc"}
            event["args"] = {**(args or {}), "rank": 0}
            with self.lock:
                self.events.append(event)

    def save(self):
        with self.lock:
            events, self.events = self.events, []
        with open(self.path, "a", encoding="utf-8") as file:
            for event in events:
                file.write(json.dumps(event, ensure_ascii=False) + "\n")
            file.flush()
            os.fsync(file.fileno())


@contextlib.contextmanager
def _generator():
    yield


class Empty:
    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return None


def configure():
    pt.configure(pt.PerfTracerConfig(dir=options.dir, enabled=True, options={"overflow": 1}), rank=0)


def timed(body, n):
    """ns a turn."""
    begin = time.perf_counter_ns()
    body(n)
    return (time.perf_counter_ns() - begin) / n


def scopes(tracer, save):
    def body(n):
        for _ in range(n):
            with tracer.trace_scope("bench.scope", category="compute"):
                pass
        save()
    return body


def scopes_with_args(tracer, save):
    def body(n):
        for i in range(n):
            with tracer.trace_scope("bench.args", category="compute", args={"step": i, "tokens": 4096}):
                pass
        save()
    return body


def plain():
    pass


decorated = pt.trace_perf("bench.call", category="compute")(plain)


def calls(function):
    def body(n):
        for _ in range(n):
            function()
    return body


def empty(n):
    for _ in range(n):
        pass


def empty_managers(n):
    manager = Empty()
    for _ in range(n):
        with manager:
            pass


def result(figure, values):
    print("RESULT", figure, *(f"{v:.4g}" for v in values), sep="\t", flush=True)


def detail(figure, words):
    print("DETAIL", figure, words, sep="\t", flush=True)


def middle(values):
    return sorted(values)[len(values) // 2]


def against_baseline(figure, make, n):
    ours, theirs, ratios = [], [], []
    for round_ in range(options.rounds):
        path = os.path.join(options.dir, f"baseline-{round_}.jsonl")
        baseline = Baseline(path)
        theirs.append(timed(make(baseline, baseline.save), n))
        os.unlink(path)
        ours.append(timed(make(pt, lambda: pt.save(force=True)), n))
        ratios.append(ours[-1] / theirs[-1])
    result(figure, ratios)
    detail(figure, f"{middle(ours):.0f} ns, the method of AReaL's tracer {middle(theirs):.0f} ns, "
                   f"saves included; Python {sys.version.split()[0]}")


def memory():
    """In a process of its own: the peak that a million scopes add."""
    configure()
    scopes(pt, lambda: None)(1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    scopes(pt, lambda: None)(1000000)
    print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000)
    pt.reset()


def main():
    os.makedirs(options.dir, exist_ok=True)
    n = options.count
    off = []
    for _ in range(options.rounds):
        loop = timed(empty, n)
        off.append(timed(calls(decorated), n) - timed(calls(plain), n))
        off[-1] /= timed(calls(plain), n) - loop
    configure()
    against_baseline("python.scope", scopes, n)
    against_baseline("python.args2", scopes_with_args, n)
    added, managers, ratios = [], [], []
    for _ in range(options.rounds):
        loop = timed(empty, n)
        added.append(timed(calls(decorated), n) - timed(calls(plain), n))
        managers.append(timed(empty_managers, n) - loop)
        ratios.append(added[-1] / managers[-1])
    result("python.call", ratios)
    detail("python.call", f"{middle(added):.0f} ns, an empty context manager {middle(managers):.0f} ns")
    result("python.off", off)
    pt.reset()
    if n >= 10000:
        peaks = [float(subprocess.run([sys.executable, __file__, "--memory", "--dir",
                                       os.path.join(options.dir, "memory")], check=True,
                                      capture_output=True, text=True).stdout)
                 for _ in range(options.rounds)]
        result("python.memory", peaks)
        detail("python.memory", "what a million scopes add to the peak; the drain keeps up")
    shutil.rmtree(options.dir)


if options.memory:
    memory()
else:
    main()
