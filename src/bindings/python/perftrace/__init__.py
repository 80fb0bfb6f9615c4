# SPDX-License-Identifier: MIT
"""libperftrace for Python: `from perftrace import perf_tracer`."""
from . import perf_tracer
from ._library import LibraryError, version as library_version

__all__ = ["LibraryError", "library_version", "perf_tracer"]
__version__ = "0.1.0"
