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
            # The drain comes when the ring is full, not when the machine lets it: its buffers have
            # their full size from the first round on. The ring is small, so they are, too.
            self.configure(options={"overflow": 1, "ring_size": 256 << 10, "flush_ms": 60000})
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
        # From the second on: the first one fills the caches, and its buffers go when others are there.
        self.assertLess(max(sizes[2:]) - sizes[1], 1 << 20, sizes)


if __name__ == "__main__":
    unittest.main()
