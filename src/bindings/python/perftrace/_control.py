# _control.py: the program controlled from outside. SPDX-License-Identifier: MIT
import threading
import time
import warnings
from typing import Any, Optional

from . import _library as lib
from ._arguments import encode

_UINT32_MAX = 2**32 - 1


def control_url() -> Optional[str]:
    """Where the process listens (the option control): "http://127.0.0.1:40123", or "unix:/path"; None: it
    does not."""
    text = lib.ctypes.create_string_buffer(1024)
    status = lib.control_url(text, len(text))
    if status == lib.ERR_TOO_LONG:
        raise OSError(f"the address of the control server is {lib.text(status)}")
    return text.value.decode() if status > 0 else None


def _wait_aside(where: Optional[bytes], timeout_ms: int) -> int:
    """As lib.hold, on a thread of its own: signals are handled on the main thread between calls of C."""
    ended = threading.Event()
    status = []

    def wait() -> None:
        try:
            status.append(lib.hold(where, timeout_ms))
        finally:
            ended.set()
    threading.Thread(target=wait, name="perftrace-hold", daemon=True).start()
    ended.wait()
    return status[0] if status else lib.ERR_STATE


def hold(where: Any = None, *, timeout: Optional[float] = None) -> bool:
    """A point at which the program can be held: it waits here while a hold is on (the option hold, POST
    /hold) until POST /resume or a start, and goes on at once otherwise.

    where is what the program is about to do, as /status tells it. timeout: seconds; TimeoutError after
    these, the hold goes on for others. Returns whether it waited. Signals are handled meanwhile. Where a
    hold is on and nobody could end it, since the process does not listen, a warning says so and it does
    not wait."""
    text = None if where is None else encode(where if type(where) is str else str(where))
    begin = time.monotonic()
    wanted = 0 if timeout is None or timeout == float("inf") else \
        min(max(int(timeout * 1000), 1), _UINT32_MAX)
    main = threading.current_thread() is threading.main_thread()
    status = lib.hold(text, 1 if main else wanted)
    if status == lib.ERR_TIMEOUT and main:
        left = max(wanted - int((time.monotonic() - begin) * 1000), 1) if wanted else 0
        status = _wait_aside(text, left) or 1  # 0: it was over before, and had been waited for
    if status == lib.ERR_TIMEOUT:
        raise TimeoutError(f"a hold lasted more than {timeout} s")
    if status == lib.ERR_DISABLED:
        warnings.warn("perftrace: a hold is on, but nobody can end it: the process does not listen (the "
                      "option control)", RuntimeWarning, stacklevel=2)
    return status == 1
