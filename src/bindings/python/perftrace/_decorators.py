# _decorators.py: a scope around each call. SPDX-License-Identifier: MIT
"""What is decorated keeps its kind (inspect answers as before) and its name. Whether anything is
recorded is asked at each call, so that decorating before configure works."""
import functools
import inspect

from . import _library as lib
from . import _scopes as scopes
from ._sites import category_of, has_name, name_of, site


def _of_function(function, name, category):
    number = site(lib.SCOPE, name, category) if has_name(name) else -1
    begin, end, end_with = lib.begin, lib.end, scopes.end_with

    if number < 0:
        @functools.wraps(function)
        def named(*args, **kwargs):
            if not scopes.on:
                return function(*args, **kwargs)
            with scopes.thread_scope(name, category, None):
                return function(*args, **kwargs)
        return named

    @functools.wraps(function)
    def traced(*args, **kwargs):
        if not scopes.on:
            return function(*args, **kwargs)
        begin(number)
        try:
            result = function(*args, **kwargs)
        except BaseException as error:
            end_with(number, name, category, None, type(error), error)
            raise
        if end(number):
            scopes.counts["strays"] += 1
        return result
    return traced


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


def wrap(function, enter, enter_own, of_function):
    """enter(): a scope where a coroutine runs; enter_own(): one for a generator."""
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(wrap(function.__func__, enter, enter_own, of_function))
    if inspect.iscoroutinefunction(function):
        return _of_coroutine(function, enter)
    if inspect.isasyncgenfunction(function):
        return _of_async_generator(function, enter_own)
    if inspect.isgeneratorfunction(function):
        return _of_generator(function, enter_own)
    return of_function(function)


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
