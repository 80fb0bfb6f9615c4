# _profiler_blocks.py: blocks that may be windows. SPDX-License-Identifier: MIT
"""What Profiler.stage and Profiler.record return."""
from typing import Any, Callable, Optional

from . import _profiler_library as c
from ._decorators import wrap
from ._profiler_names import Schedule, text_of
from ._profiler_state import State, status
from ._scopes import is_failure


class _Block:
    """A block that may be a window. One a use; as a decorator one a call."""

    def __enter__(self) -> None:
        raise NotImplementedError

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        raise NotImplementedError

    def _again(self) -> "_Block":
        raise NotImplementedError

    async def __aenter__(self) -> None:
        self.__enter__()

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.__exit__(kind, error, trace)

    def __call__(self, function: Callable[..., Any]) -> Any:
        """Each call of a function, coroutine or generator is such a block."""
        return wrap(function, self._again, self._again)


class Stage(_Block):
    """See Profiler.stage."""

    def __init__(self, profiler: Any, name: str, flags: int) -> None:
        self._profiler, self._name, self._flags = profiler, name, flags
        self._token: Optional[int] = None

    def _again(self) -> "Stage":
        return Stage(self._profiler, self._name, self._flags)

    def __enter__(self) -> None:
        self._token = self._profiler._call(c.stage_begin, text_of(self._name), self._flags)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        token, self._token = self._token, None
        if token is not None:
            self._profiler._call(c.stage_end, max(token, 0), int(is_failure(kind)))


class Record(_Block):
    """See Profiler.record."""

    def __init__(self, profiler: Any, label: Optional[str],
                 schedule: Optional[Schedule]) -> None:
        self._profiler, self._label, self._schedule = profiler, label, schedule
        self._started = False

    def _again(self) -> "Record":
        return Record(self._profiler, self._label, self._schedule)

    def __enter__(self) -> None:
        self._started = self._profiler.start(self._label, schedule=self._schedule)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        started, self._started = self._started, False
        if not started or self._profiler._discrete:
            return
        if is_failure(kind):
            self._profiler._abort()
            if status().state != State.WAITING:
                return  # it is saved; what opens from now on is not ours to stop
        self._profiler.stop()
