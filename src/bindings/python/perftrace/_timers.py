# _timers.py: times added up by name. SPDX-License-Identifier: MIT
"""What a timer measures is added up here, in the process, whether anything is traced or not; a trace
has each single time besides. The library adds it up, too, with a histogram (timers.py)."""
import os
import threading
import time

from . import _library as lib
from . import _scopes as scopes
from ._arguments import encode
from ._decorators import wrap
from ._sites import NAMES_MAX, name_of

# One for all, so that the child of a fork can have a new one: the thread that held it is not there.
_lock = threading.Lock()


def _after_fork():
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


handles = {}  # name: the library's timer; None without memory. For the first few thousand names

_SECONDS_MAX = 1e9


def _add_in_library(name, seconds):
    try:
        handle = handles[name]
    except KeyError:
        if len(handles) >= NAMES_MAX:
            return  # they are made up as the program goes: memory has a bound
        handle = handles[name] = lib.timer_get(encode(name_of(name)))
    if handle is not None and 0 <= seconds < _SECONDS_MAX:
        lib.timer_add(handle, int(seconds * 1e9))


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
            else:
                found[0] += 1
                found[1] += seconds
                if seconds < found[2]:
                    found[2] = seconds
                if seconds > found[3]:
                    found[3] = seconds
        _add_in_library(name, seconds)

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
    """One block that is measured, within its scope; one a call. again: a function that makes another, for
    a decorator, of whether it is of a generator and of the arguments behind it here."""
    __slots__ = ("timers", "name", "scope", "begin", "again")

    def __init__(self, timers, name, scope, again=None):
        self.timers, self.name, self.scope, self.again = timers, name, scope, again
        self.begin = None

    def __call__(self, function):
        """Each call of a function, coroutine, generator, async generator or method is measured."""
        if self.again is None:
            raise TypeError("this timer measures blocks only")
        make, *arguments = self.again

        def again(of_generator=False):
            return make(of_generator, *arguments)
        return wrap(function, again, lambda: again(True))

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
