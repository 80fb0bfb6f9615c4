# _timers.py: times added up by name. SPDX-License-Identifier: MIT
"""What a timer measures is added up here, in the process, whether anything is traced or not; a trace
has each single time besides."""
import os
import threading
import time

from . import _scopes as scopes

# One for all, so that the child of a fork can have a new one: the thread that held it is not there.
_lock = threading.Lock()


def _after_fork():
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def _named(figures):
    return dict(zip(("count", "sum", "min", "max"), figures))


class Timers:
    """Count, sum, least and greatest by name. Any thread."""

    def __init__(self):
        self._figures = {}

    def __contains__(self, name):
        return name in self._figures

    def add(self, name, seconds):
        with _lock:
            found = self._figures.get(name)
            if found is None:
                self._figures[name] = [1, seconds, seconds, seconds]
                return
            found[0] += 1
            found[1] += seconds
            if seconds < found[2]:
                found[2] = seconds
            if seconds > found[3]:
                found[3] = seconds

    def read(self, reset=False):
        """{name: {"count", "sum", "min", "max"}}, in seconds. reset: and they begin again, with nothing
        lost in between."""
        with _lock:
            figures = {name: _named(each) for name, each in self._figures.items()}
            if reset:
                self._figures.clear()
        return figures

    def pop(self, name):
        """The figures of a name, which begins again; None where it has none."""
        with _lock:
            found = self._figures.pop(name, None)
        return None if found is None else _named(found)


class Timed(scopes.Null):
    """One block that is measured, within its scope. One a call."""
    __slots__ = ("timers", "name", "scope", "begin")

    def __init__(self, timers, name, scope):
        self.timers, self.name, self.scope = timers, name, scope
        self.begin = None

    def __enter__(self):
        self.scope.__enter__()
        self.begin = time.perf_counter()

    def __exit__(self, kind, error, trace):
        begin, self.begin = self.begin, None
        if begin is None:
            scopes.counts["strays"] += 1
            return None
        self.timers.add(self.name, time.perf_counter() - begin)
        return self.scope.__exit__(kind, error, trace)

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, trace):
        return self.__exit__(kind, error, trace)
