# _context.py: the current session across threads. SPDX-License-Identifier: MIT
"""asyncio.to_thread and create_task carry context variables over; an executor's submit and the
loop's run_in_executor do not. Here is a submit that does, and a patch that makes all do."""
import concurrent.futures
import functools
import threading
from contextvars import copy_context

_plain_submit = concurrent.futures.ThreadPoolExecutor.submit
_lock = threading.Lock()
_patches = 0


def carry(function):
    """A function that runs in the context of here, on whatever thread it is called."""
    context = copy_context()

    @functools.wraps(function)
    def carried(*args, **kwargs):
        # A context can be entered once at a time: each call has a copy of its own.
        return context.copy().run(function, *args, **kwargs)
    return carried


def submit(executor, function, /, *args, **kwargs):
    """executor.submit with the context of the caller. Of thread pools: contexts cannot go to
    another process."""
    return _plain_submit_of(executor)(copy_context().run, function, *args, **kwargs)


def _plain_submit_of(executor):
    if isinstance(executor, concurrent.futures.ThreadPoolExecutor):
        return functools.partial(_plain_submit, executor)
    return executor.submit


def _carrying_submit(self, function, /, *args, **kwargs):
    return _plain_submit(self, copy_context().run, function, *args, **kwargs)


def patch_executors():
    """From now on every ThreadPoolExecutor.submit carries the context over, and so does
    loop.run_in_executor. Undone by as many calls of unpatch_executors."""
    global _patches
    with _lock:
        _patches += 1
        concurrent.futures.ThreadPoolExecutor.submit = _carrying_submit


def unpatch_executors():
    global _patches
    with _lock:
        _patches = max(_patches - 1, 0)
        if _patches == 0:
            concurrent.futures.ThreadPoolExecutor.submit = _plain_submit
