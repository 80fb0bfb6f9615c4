# _scopes.py: scopes of threads, tracks of tasks. SPDX-License-Identifier: MIT
"""A scope on a thread is begun and ended in the library, which keeps those that are open; the object
that `with` holds has no state and is the same each time.

Tasks of an event loop take turns on one thread: their scopes would cross. A scope in a task is a pair
of async events on the task's own track instead. Scopes within it share the track; a scope in a task
that was made within it has a track of its own, with the number of the other as `parent`.
"""
import itertools
import struct
import sys
from contextvars import ContextVar

from . import _library as lib
from ._arguments import clean, encode, has_shape, interrupts, pack, packer
from ._sites import category_of, has_name, may_keep, name_of, site


def running_loop():
    """The event loop that runs here. asyncio is not loaded for this: where nobody has, no loop
    runs."""
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not hasattr(asyncio, "current_task"):
        return None  # or it is being loaded
    global running_loop, current_task
    running_loop, current_task = asyncio._get_running_loop, asyncio.current_task
    return running_loop()


def current_task():
    """Only called where a loop runs: by then it is asyncio's."""
    raise RuntimeError("no event loop is running")


on = False  # whether events are recorded; set by perf_tracer
run = 0  # which one it is in this process; of perf_tracer

_ids = itertools.count(1)
_track = ContextVar("perftrace_track", default=None)  # (task, id) of the innermost open scope

# strays: ends of scopes that are not open on the thread; orphans: phases where no session is current
# refused: ids that are no whole numbers of 64 bits
counts = {"strays": 0, "orphans": 0, "refused": 0}


class Null:
    """Does nothing, for `with` and `async with`."""
    __slots__ = ()

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return None

    async def __aenter__(self):
        return None

    async def __aexit__(self, kind, error, trace):
        return None


NULL = Null()


def failure(kind, error):
    """What is noted of an exception."""
    try:
        text = str(error)
    except Exception as other:
        if interrupts(other):
            raise
        text = ""
    text = f"{kind.__name__}: {text}" if text else kind.__name__
    return text if len(text) <= 300 else text[:300] + "…"


def is_failure(kind):
    return kind is not None and kind is not GeneratorExit


class Scope(Null):
    """Without arguments, on a thread. One for each name and category."""
    __slots__ = ("number", "name", "category")

    def __init__(self, number, name, category):
        self.number = number
        self.name = name
        self.category = category

    def __enter__(self, begin=lib.begin):
        begin(self.number)

    def __exit__(self, kind, error, trace, end=lib.end):
        if kind is None:
            if end(self.number):
                counts["strays"] += 1
            return
        end_at_least(self.number, self.name, self.category, None, kind, error)


class Shape:
    """What scopes with the same name, category, keys and types of numbers have in common."""
    __slots__ = ("number", "name", "category", "keys", "types", "as_number", "pack")

    def __init__(self, name, category, keys, types):
        self.name, self.category, self.keys, self.types = name, category, keys, types
        self.number = site(lib.SCOPE, name, category)
        self.as_number = site(lib.SCOPE, name, category, keys, types)
        self.pack = packer(types)


class ShapedScope(Null):
    """With numbers as arguments, on a thread. One a call."""
    __slots__ = ("shape", "block")

    def __init__(self, shape, block):
        self.shape = shape
        self.block = block

    def __enter__(self, begin=lib.begin):
        begin(self.shape.number)

    def __exit__(self, kind, error, trace, end_packed=lib.end_packed):
        shape = self.shape
        if kind is None:
            if end_packed(shape.number, shape.as_number, self.block, len(self.block)):
                counts["strays"] += 1
        else:
            end_at_least(shape.number, shape.name, shape.category,
                         (shape.keys, shape.types, self.block), kind, error)


class ScopeWith(Null):
    """With arguments of any kind or a name of its own, on a thread. One a call."""
    __slots__ = ("number", "name", "category", "args", "shown")

    def __init__(self, number, name, category, args, shown=None):
        self.number = number
        self.name = name  # None: the site has none
        self.category = category
        self.args = args  # packed, or None
        self.shown = shown

    def __enter__(self):
        if self.shown is None:
            lib.begin(self.number)
        else:
            lib.begin_named(self.number, self.shown)

    def __exit__(self, kind, error, trace):
        end_at_least(self.number, self.name, self.category, self.args, kind, error)


def end_with(number, name, category, packed, kind, error):
    """Ends a scope of the thread with arguments, and with what went wrong."""
    if is_failure(kind):
        packed = add(packed, "exception", failure(kind, error))
    if packed is None:
        status = lib.end(number)
    else:
        keys, types, block = packed
        status = lib.end_packed(number, site(lib.SCOPE, name, category, keys, types), block,
                                len(block))
    if status:
        counts["strays"] += 1


def end_at_least(number, name, category, packed, kind, error, depth=lib.depth, end=lib.end):
    """The same, but it is ended whatever happens: the stack may have no room for more, as there was
    none for what failed, or a signal comes in."""
    before = depth()
    try:
        end_with(number, name, category, packed, kind, error)
    except BaseException as other:
        if depth() == before:
            end(number)
        if type(other) is not RecursionError and interrupts(other):
            raise


def add(packed, key, value):
    """Packed arguments and one more; where there are as many as can be, as they are."""
    keys, types, block = pack({key: value})
    if packed is None:
        return keys, types, block
    if len(packed[0]) >= lib.MAX_ARGS or key in packed[0]:
        return packed
    return packed[0] + keys, packed[1] + types, packed[2] + block


def point(kind, name, category, number, packed):
    """An event at one time, of any kind but a scope."""
    keys, types, block = packed if packed is not None else ((), (), b"")
    try:
        if has_name(name):
            lib.emit(site(kind, name, category, keys, types), number, block, len(block))
        else:
            lib.emit_named(site(kind, None, category, keys, types), number, block, len(block),
                           encode(name))
    except lib.ctypes.ArgumentError as error:  # what ctypes makes of it where a recursion ends
        raise RecursionError(str(error)) from None


class TrackScope(Null):
    """A scope on an async track: of a task, or (own) of nothing else. One a call."""
    __slots__ = ("name", "category", "args", "task", "id", "token", "run", "end",
                 "shown")

    def __init__(self, name, category, args, task):
        self.name = name
        self.category = category
        self.args = args  # packed, or None
        self.task = task
        self.run = None  # where it is open

    def __enter__(self):
        outer = _track.get()
        args = self.args
        if outer is not None and outer[0] is self.task:
            self.id = outer[1]
        else:
            self.id = next(_ids)
            if outer is not None:
                args = add(args, "parent", outer[1])
        self.shown = None if has_name(self.name) else encode(self.name)
        self.end = self._end_site()  # now: where a recursion ends there is no room to make it
        point(lib.ASYNC_BEGIN, self.name, self.category, self.id, args)
        self.token = _track.set((self.task, self.id))
        self.run = run

    def __exit__(self, kind, error, trace):
        begun, self.run = self.run, None
        if begun is None:
            counts["strays"] += 1
            return
        try:
            _track.reset(self.token)
        except ValueError:
            pass  # left in another context than it was entered in
        self.token = None
        if begun != run:  # its begin is in the trace that was closed
            counts["strays"] += 1
            return
        number, block, other = self.end, b"", None
        if is_failure(kind):
            try:
                keys, types, block = pack({"exception": failure(kind, error)})
                number = self._end_site(keys, types)
            except BaseException as raised:
                number, block, other = self.end, b"", raised
        if self.shown is None:
            lib.emit(number, self.id, block, len(block))
        else:
            lib.emit_named(number, self.id, block, len(block), self.shown)
        if other is not None and type(other) is not RecursionError and interrupts(other):
            raise other

    def _end_site(self, keys=(), types=()):
        return site(lib.ASYNC_END, self.name if self.shown is None else None, self.category, keys,
                    types)

    async def __aenter__(self):
        return self.__enter__()

    async def __aexit__(self, kind, error, trace):
        return self.__exit__(kind, error, trace)


_plain = {}  # (name, category): Scope


def _named_site(name, category):
    """((number, text to begin with or None), name of the site, category)"""
    if has_name(name):
        return (site(lib.SCOPE, name, category), None), name, category
    return (site(lib.SCOPE, None, category), encode(name)), None, category


def _new_scope(name, category, args):
    (number, shown), name, category = _named_site(name_of(name), category_of(category))
    if args is not None or shown is not None:
        return ScopeWith(number, name, category, None if args is None else pack(args), shown)
    return Scope(number, name, category)


_shapes = {}  # (name, category, keys, types of Python): Shape
_NUMBERS = {int: lib.I64, float: lib.F64, bool: lib.BOOL}


def _shaped_scope(name, category, args):
    """For a dict of a few numbers, which is what most arguments are; else None."""
    key = name, category, tuple(args), tuple(map(type, args.values()))
    try:
        shape = _shapes[key]
    except KeyError:
        keys, kinds = key[2:]
        if not (0 < len(keys) <= lib.MAX_ARGS and _NUMBERS.keys() >= set(kinds) and
                set(map(type, keys)) == {str} and may_keep(name, category) and has_name(name)):
            return None
        keys, types = tuple(map(clean, keys)), tuple(_NUMBERS[k] for k in kinds)
        if not has_shape(keys, types):
            return None
        shape = _shapes[key] = Shape(name, category_of(category), keys, types)
    try:
        return ShapedScope(shape, shape.pack(*args.values()))
    except struct.error:
        return None  # an integer of more than 64 bits


def thread_scope(name, category, args):
    """A scope that ends on the thread it begins on, before anything else has its turn there."""
    if args is not None:
        if type(args) is dict:
            try:
                scope = _shaped_scope(name, category, args)
            except Exception as error:  # cannot be a key
                if interrupts(error):
                    raise
                scope = None
            if scope is not None:
                return scope
        return _new_scope(name, category, args)
    try:
        return _plain[name, category]
    except KeyError:
        scope = _new_scope(name, category, None)
        if type(scope) is Scope and may_keep(name, category):
            _plain[name, category] = scope  # but not for names that are made up
        return scope
    except Exception as error:  # cannot be a key
        if interrupts(error):
            raise
        return _new_scope(name, category, None)


def task_scope(name, category, args, task):
    return TrackScope(name_of(name), category_of(category), None if args is None else pack(args),
                      task)


def scope(name, category=None, args=None):
    """The scope for where this is called: of the running task, else of the thread."""
    if not on:
        return NULL
    if running_loop() is not None:
        task = current_task()
        if task is not None:
            return task_scope(name, category, args, task)
    outer = _track.get()
    if outer is None:
        return thread_scope(name, category, args)
    # Work that a task has handed to this thread, its context with it.
    number, name, category = _named_site(name_of(name), category_of(category))
    return ScopeWith(number[0], name, category,
                     add(None if args is None else pack(args), "parent", outer[1]), number[1])


def own_track(name, category):
    """A scope of something that is entered and left as others like: a generator."""
    return TrackScope(name_of(name), category_of(category), None, object())
