# _context.py: the current session across threads. SPDX-License-Identifier: MIT
"""asyncio.to_thread and create_task carry context variables over; an executor's submit and the
loop's run_in_executor do not. Here is a submit that does, and a patch that makes all do."""
import functools
import threading
from contextvars import copy_context

_plain_submit = None  # ThreadPoolExecutor's own, while it is patched
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
    return executor.submit(copy_context().run, function, *args, **kwargs)


def _carrying_submit(self, function, /, *args, **kwargs):
    return _plain_submit(self, copy_context().run, function, *args, **kwargs)


def patch_executors():
    """From now on every ThreadPoolExecutor.submit carries the context over, and so does
    loop.run_in_executor. Undone by as many calls of unpatch_executors."""
    global _patches, _plain_submit
    from concurrent.futures import ThreadPoolExecutor
    with _lock:
        _patches += 1
        if _patches == 1:
            _plain_submit = ThreadPoolExecutor.submit
            ThreadPoolExecutor.submit = _carrying_submit


def unpatch_executors():
    global _patches
    from concurrent.futures import ThreadPoolExecutor
    with _lock:
        if _patches == 1:
            ThreadPoolExecutor.submit = _plain_submit
        _patches = max(_patches - 1, 0)
