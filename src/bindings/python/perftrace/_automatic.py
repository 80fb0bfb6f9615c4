# _automatic.py: a scope for each call of chosen modules' functions. SPDX-License-Identifier: MIT
"""By sys.monitoring where there is one (3.12), else by sys.setprofile. Generators and coroutines are
left out: their calls do not nest on a thread.

Cost is bounded: a function whose recording has taken more than its share of the time so far is
dropped, and told in the end. What a call costs is measured at the start."""
import sys
import threading
import time

from . import _library as lib
from ._arguments import clean
from ._sites import has_name, site

_LOOK_EVERY = 1024  # calls of one function between two looks at the clock
_NO_SCOPE = 0x20 | 0x80 | 0x200  # generators, coroutines, async generators
_FUNCTION = 0x1 | 0x2  # what code of a function has, and that of a class or a module has not


class Functions:
    """Which functions are recorded, and what they have cost."""

    def __init__(self, modules, limit, category="python"):
        self.modules = tuple(modules)
        self.limit = limit  # share of the time, of all recorded functions together
        self.category = category
        self.dropped = {}  # name: calls until then
        self._numbers = {}  # code: number of its site, or None
        self.sites = {}  # the same, of those that were dropped, too
        self._calls = {}  # code: calls
        self._spent = 0.0
        self._call_s = _cost_of_a_call()
        self._begin = time.perf_counter()

    def is_chosen(self, module):
        return any(module == m or module.startswith(m + ".") for m in self.modules)

    def number_of(self, code, module):
        """The site of a function's calls; None: they are not recorded."""
        try:
            return self._numbers[code]
        except KeyError:
            pass
        number = None
        if module is not None and self.is_chosen(module) and not code.co_flags & _NO_SCOPE and \
                code.co_flags & _FUNCTION == _FUNCTION and not code.co_name.startswith("<"):
            name = clean(f"{module}.{getattr(code, 'co_qualname', code.co_name)}")
            if has_name(name):
                number = site(lib.SCOPE, name, self.category)
                number = number if number >= 0 else None
        self._numbers[code] = number
        if number is not None:
            self.sites[code] = number
        return number

    def count(self, code, name):
        """One more call. False: its function has had its share and is dropped."""
        calls = self._calls[code] = self._calls.get(code, 0) + 1
        if calls % _LOOK_EVERY:
            return True
        self._spent += _LOOK_EVERY * self._call_s
        if self._spent <= self.limit * (time.perf_counter() - self._begin):
            return True
        # The function that asks is one of the hottest: it has just made a thousand calls.
        self._spent -= calls // _LOOK_EVERY * _LOOK_EVERY * self._call_s
        self._numbers[code] = None
        self.dropped[name] = calls
        return False


def _cost_of_a_call():
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(200):
            lib.depth()
            lib.depth()
        best = min(best, (time.perf_counter() - begin) / 200)
    # Beside the two calls, the hook itself: about as much again.
    return 2 * best


_files = {}
_seen = 0


def _module_of_file(file):
    """sys.monitoring gives code objects and no frames. The main module is looked at each time: it
    takes the place of another one."""
    global _seen
    if file == getattr(sys.modules.get("__main__"), "__file__", None):
        return "__main__"
    if file not in _files and len(sys.modules) != _seen:
        _seen = len(sys.modules)
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None):
                _files[module.__file__] = name
    return _files.get(file)


def _by_monitoring(functions):
    monitoring = sys.monitoring
    tool, events = monitoring.PROFILER_ID, monitoring.events
    monitoring.use_tool_id(tool, "perftrace")
    begin, end = lib.begin, lib.end

    def start(code, _):
        number = functions.number_of(code, _module_of_file(code.co_filename))
        if number is None or not functions.count(code, code.co_qualname):
            return monitoring.DISABLE
        begin(number)
        return None

    def leave(code, _, __):
        # Also of a function that was dropped while calls of it were open: these end as they began.
        number = functions.sites.get(code)
        if number is None or (end(number) and functions._numbers[code] is None):
            return monitoring.DISABLE
        return None

    def unwind(code, _, __):
        number = functions.sites.get(code)
        if number is not None:
            end(number)

    monitoring.register_callback(tool, events.PY_START, start)
    monitoring.register_callback(tool, events.PY_RETURN, leave)
    monitoring.register_callback(tool, events.PY_UNWIND, unwind)
    monitoring.set_events(tool, events.PY_START | events.PY_RETURN | events.PY_UNWIND)

    def stop():
        monitoring.set_events(tool, 0)
        monitoring.free_tool_id(tool)
    return stop


def _by_profile(functions):
    begin, end = lib.begin, lib.end
    open_ = threading.local()

    def hook(frame, event, _):
        if event == "call":
            code = frame.f_code
            number = functions.number_of(code, frame.f_globals.get("__name__"))
            if number is not None and functions.count(code, code.co_name):
                begin(number)
                try:
                    open_.frames[frame] = number
                except AttributeError:
                    open_.frames = {frame: number}
        elif event == "return":
            number = getattr(open_, "frames", _NOTHING).pop(frame, None)
            if number is not None:
                end(number)

    threading.setprofile(hook)
    sys.setprofile(hook)

    def stop():
        sys.setprofile(None)
        threading.setprofile(None)
    return stop


_NOTHING = {}


def start(modules, limit=0.05):
    """Begins to record the functions of these modules and of what is below them. limit: share of the
    time that recording may take. Returns (functions, a function that stops it)."""
    functions = Functions(modules, limit)
    stop = _by_monitoring(functions) if hasattr(sys, "monitoring") else _by_profile(functions)
    return functions, stop
