# _decorators.py: a scope around each call. SPDX-License-Identifier: MIT
"""What is decorated keeps its kind (inspect answers as before) and its name. Whether anything is
recorded is asked at each call, so that decorating before configure works."""
import functools
import keyword
import types

from . import _library as lib
from . import _scopes as scopes
from ._arguments import describe, interrupts
from ._sites import category_of, has_name, name_of, site


# Of code objects, as in inspect, which takes longer to load than all of this package.
_VARARGS, _VARKEYWORDS, _GENERATOR, _COROUTINE, _ASYNC_GENERATOR = 0x04, 0x08, 0x20, 0x80, 0x200


def _kind(function):
    """The flags that say what a call returns."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    if getattr(function, "_is_coroutine_mark", None) is not None:
        return _COROUTINE  # inspect.markcoroutinefunction
    return function.__code__.co_flags if type(function) is types.FunctionType else 0


_SOURCE = """
def _pt_traced({parameters}):
    if not _pt_scopes.on:
        return _pt_function({arguments})
    _pt_begin(_pt_number)
    try:
        _pt_result = _pt_function({arguments})
    except BaseException as _pt_error:
        _pt_open = _pt_depth()
        try:
            _pt_failed(_pt_error)
        except BaseException as _pt_other:
            if _pt_depth() == _pt_open:  # the stack has no room for that, as there was none before
                _pt_end(_pt_number)
            if type(_pt_other) is not _pt_full and _pt_interrupts(_pt_other):
                raise
        raise
    if _pt_end(_pt_number):
        _pt_stray()
    return _pt_result
"""


def _signature(function):
    """Parameters and arguments as source text. *args and **kwargs would cost more than all the rest,
    so they stand only where the function has something of the kind, or is none of Python's."""
    any_ = "*_pt_args, **_pt_kwargs"
    if type(function) is not types.FunctionType:
        return any_, any_
    code = function.__code__
    n, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames[:n + only]
    if code.co_flags & (_VARARGS | _VARKEYWORDS) or any(
            name.startswith("_pt_") or not name.isidentifier() or keyword.iskeyword(name)
            for name in names):
        return any_, any_
    parameters = list(names[:n])
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    if only:
        parameters += ["*", *names[n:]]
    return ", ".join(parameters), ", ".join([*names[:n], *(f"{k}={k}" for k in names[n:])])


def _stray():
    scopes.counts["strays"] += 1


def _of_function(function, name, category):
    if not has_name(name):
        @functools.wraps(function)
        def named(*args, **kwargs):
            with scopes.thread_scope(name, category, None) if scopes.on else scopes.NULL:
                return function(*args, **kwargs)
        return named
    number = site(lib.SCOPE, name, category)
    parameters, arguments = _signature(function)
    known = {"_pt_scopes": scopes, "_pt_function": function, "_pt_number": number,
             "_pt_begin": lib.begin, "_pt_end": lib.end, "_pt_stray": _stray,
             "_pt_failed": lambda error: scopes.end_with(number, name, category, None, type(error),
                                                         error),
             "_pt_depth": lib.depth, "_pt_interrupts": interrupts, "_pt_full": RecursionError}
    exec(_SOURCE.format(parameters=parameters, arguments=arguments), known)
    traced = known["_pt_traced"]
    if not parameters.startswith("*_pt"):
        traced.__defaults__ = function.__defaults__
        traced.__kwdefaults__ = function.__kwdefaults__
    return functools.wraps(function)(traced)


def _of_coroutine(function, enter):
    @functools.wraps(function)
    async def traced(*args, **kwargs):
        with enter():
            return await function(*args, **kwargs)
    return traced


def _of_generator(function, enter):
    @functools.wraps(function)
    def traced(*args, **kwargs):
        with enter():
            return (yield from function(*args, **kwargs))
    return traced


def _of_async_generator(function, enter):
    @functools.wraps(function)
    async def traced(*args, **kwargs):
        with enter():
            generator = function(*args, **kwargs)
            try:
                value = await generator.__anext__()
                while True:
                    try:
                        sent = yield value
                    except GeneratorExit:
                        raise
                    except BaseException as error:
                        value = await generator.athrow(error)
                    else:
                        value = await generator.asend(sent)
            except StopAsyncIteration:
                return
            finally:
                await generator.aclose()
    return traced


def _of_plain(function, enter):
    @functools.wraps(function)
    def traced(*args, **kwargs):
        with enter():
            return function(*args, **kwargs)
    return traced


def wrap(function, enter, enter_own, of_function=None):
    """enter(): a scope where a coroutine runs; enter_own(): one for a generator. of_function: what wraps
    any other function; None: enter() does for these, too."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrap(function.__func__, enter, enter_own, of_function))
    if not callable(function):
        raise TypeError(f"only what can be called can be decorated, not {describe(function)}")
    kind = _kind(function)
    if kind & _COROUTINE:
        return _of_coroutine(function, enter)
    if kind & _ASYNC_GENERATOR:
        return _of_async_generator(function, enter_own)
    if kind & _GENERATOR:
        return _of_generator(function, enter_own)
    return of_function(function) if of_function is not None else _of_plain(function, enter)


def trace_perf(name, *, category=None):
    """Records each call of a function, coroutine, generator, async generator or method."""
    name, category = name_of(name), category_of(category)

    def enter():
        return scopes.scope(name, category)

    def enter_own():
        return scopes.own_track(name, category) if scopes.on else scopes.NULL

    def decorate(function):
        return wrap(function, enter, enter_own, lambda f: _of_function(f, name, category))
    return decorate
