# rlinf.py: RLinf's names over the same calls. SPDX-License-Identifier: MIT
"""Tracer.trace_begin, trace_end, trace_span, trace_func, and timers that also record.

Recorded where perf_tracer is configured, else nothing; the timers measure in any case."""
import functools
import threading

from . import _scopes as scopes
from ._timers import Timed, Timers
from .perf_tracer import save, trace_perf, trace_scope

# (task or thread, name, category): scopes that were begun, innermost last. A key belongs to one task or
# thread, so no two use an entry at once.
_open = {}


def _where():
    if scopes.running_loop() is not None:
        task = scopes.current_task()
        if task is not None:
            return task
    return threading.get_ident()


class Tracer:
    """Of the process; all instances are the same."""

    @staticmethod
    def trace_begin(name, cat="default", args=None):
        scope = trace_scope(name, category=cat, args=args)
        if scope is scopes.NULL:
            return
        scope.__enter__()
        _open.setdefault((_where(), name, cat), []).append(scope)

    @staticmethod
    def trace_end(name, cat="default"):
        """Ends the scope that was begun last with the name, by this task or thread."""
        key = (_where(), name, cat)
        begun = _open.get(key)
        scope = begun.pop() if begun else None
        if begun is not None and not begun:
            del _open[key]
        if scope is not None:
            scope.__exit__(None, None, None)
        elif scopes.on:
            scopes.counts["strays"] += 1

    @staticmethod
    def trace_span(name, cat="default", args=None):
        return trace_scope(name, category=cat, args=args)

    @staticmethod
    def trace_func(function=None, cat="default"):
        """As @trace_func, @trace_func(), @trace_func("category") or @trace_func(cat="category")."""
        if isinstance(function, str):
            function, cat = None, function
        if function is None:
            return functools.partial(Tracer.trace_func, cat=cat)
        name = getattr(getattr(function, "__func__", function), "__name__", None)
        return trace_perf(name if name is not None else repr(function), category=cat)(function)

    @staticmethod
    def finalize():
        """Has everything written."""
        save(force=True)


class Timer:
    """Seconds by tag, added up until they are popped. once: a tag that is timed again before that is
    an error. Any thread."""

    def __init__(self, category="worker", once=False):
        self.category = category
        self._once = once
        self._timers = Timers()

    def __call__(self, tag, trace=True, trace_args=None):
        """`with timer("rollout"):` measures the block; trace=False: does not record it."""
        if self._once and tag in self._timers:
            raise ValueError(f"{tag!r} was timed already and not popped")
        return Timed(self._timers, tag, trace_scope(tag, category=self.category, args=trace_args)
                     if trace else scopes.NULL)

    def add(self, tag, seconds):
        self._timers.add(tag, seconds)

    def pop(self, tag):
        """The seconds of a tag, which starts again at none; 0.0 where there are none."""
        figures = self._timers.pop(tag)
        return 0.0 if figures is None else figures["sum"]

    def pop_all(self):
        return {tag: figures["sum"] for tag, figures in self._timers.read(reset=True).items()}
