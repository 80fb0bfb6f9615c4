# _profiler_torch.py: torch.profiler as a back end of windows. SPDX-License-Identifier: MIT
"""What perftrace.profiler has of torch; imported from there. torch is loaded when a window opens."""
import gzip
import os
import shutil
import tempfile
import time
from typing import Any, Dict, Iterable, Optional, Tuple, Union

from . import _profiler
from ._profiler_back_end import BackEnd, Window
from ._profiler_names import describe

_CONTENTS = ("cuda", "cpu", "memory", "shapes", "stack")


class Torch(BackEnd):
    """torch.profiler in each window, one file a window. Its steps are the profiler's: torch has no
    schedule of its own here and writes no ProfilerStep rows. It is called by the thread that steps,
    since torch starts and stops by threads: a start by hand opens its window at the next step.

    contents    what is recorded, as verl names it: "cuda", "cpu", "memory", "shapes", "stack"; empty: the
                CPU and, where there is one, the GPU. The CPU is always recorded
    arguments   of torch.profiler.profile; they win
    """
    name, extension, same_thread = "torch", ".json.gz", True

    def __init__(self, contents: Union[str, Iterable[str]] = (), **arguments: Any) -> None:
        super().__init__()
        given = contents.split(",") if isinstance(contents, str) and contents else contents
        self.contents: Tuple[str, ...] = tuple(each.strip() for each in given)
        self.arguments: Dict[str, Any] = dict(arguments)
        unknown = [each for each in self.contents if each not in _CONTENTS]
        if unknown:
            raise ValueError(f"contents {', '.join(unknown)}: known are {', '.join(_CONTENTS)}")
        self.gpu = not self.contents or "cuda" in self.contents
        self._profile: Any = None
        self._start_ns = 0

    def _arguments(self) -> Dict[str, Any]:
        import torch
        from torch.profiler import ProfilerActivity
        activities = [ProfilerActivity.CPU]
        if self.gpu and torch.cuda.is_available():
            activities.append(ProfilerActivity.CUDA)
        elif "cuda" in self.contents:
            import logging
            logging.getLogger("perftrace").warning("torch finds no GPU: its profile has the CPU only")
        return {"activities": activities, "profile_memory": "memory" in self.contents,
                "record_shapes": "shapes" in self.contents, "with_stack": "stack" in self.contents,
                **self.arguments}

    def start(self, window: Window) -> None:  # type: ignore[override]
        try:
            from torch.profiler import profile
        except ImportError as error:
            raise RuntimeError("torch is not installed") from error
        made = profile(**self._arguments())
        made.start()
        self._profile, self._start_ns = made, time.time_ns()

    def stop(self, window: Window) -> None:  # type: ignore[override]
        made, self._profile = self._profile, None
        made.stop()
        rank: Optional[int] = describe(window.path).rank
        # On the same disk as the file: a trace may be larger than what is mounted at /tmp.
        with tempfile.TemporaryDirectory(prefix=".torch-", dir=os.path.dirname(window.path)) as folder:
            raw, whole = os.path.join(folder, "raw.json"), os.path.join(folder, "whole.json")
            made.export_chrome_trace(raw)
            _profiler.mark(raw, whole, self._start_ns, rank)
            with open(whole, "rb") as source, gzip.open(window.path, "wb", compresslevel=5) as target:
                shutil.copyfileobj(source, target, 1 << 20)
