# test_leak.py: ten million scopes take no more memory than one. SPDX-License-Identifier: MIT
import os
import unittest

import traced
from perftrace import perf_tracer as pt

MILLIONS = 10


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Leak(traced.Case):
    def test_ten_million_scopes(self):
        sizes = []
        for million in range(MILLIONS):
            # A small ring: what waits in it while the machine is busy, and so the buffers of the
            # drain, cannot hide what a scope would keep.
            self.configure(options={"overflow": 1, "ring_size": 256 << 10})
            for i in range(500000):
                with pt.trace_scope("plain"):
                    pass
                with pt.trace_scope("numbers", args={"i": i, "x": 0.5}):
                    if i % 1000 == 0:
                        with pt.trace_scope(f"name {i}", args={"s": "text", "l": [1, i], "n": None}):
                            pt.instant("point", args={"i": i})
            self.assertEqual(pt.statistics()["dropped"], {})
            pt.reset()
            for path in self.files("*.jsonl"):
                os.unlink(path)
            sizes.append(resident())
        # From the second on: the first one fills the caches.
        self.assertLess(max(sizes[1:]) - sizes[0], 2 << 20, sizes)


if __name__ == "__main__":
    unittest.main()
