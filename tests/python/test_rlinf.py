# test_rlinf.py: RLinf's names. SPDX-License-Identifier: MIT
import asyncio
import inspect
import threading
import time
import unittest

import traced
from perftrace import perf_tracer as pt
from perftrace.rlinf import Timer, Tracer


class RLinf(traced.Case):
    def test_begin_and_end(self):
        self.configure()
        Tracer.trace_begin("step", "runner", {"step_idx": 3})
        Tracer.trace_begin("step", "runner")
        Tracer.trace_begin("other")
        Tracer.trace_end("step", "runner")
        Tracer.trace_end("step", "runner")
        Tracer.trace_end("other")
        events = self.events()
        self.assertEqual([(e["name"], e["cat"], e["args"].get("step_idx")) for e in events],
                         [("step", "runner", None), ("step", "runner", 3), ("other", "default", None)])

    def test_an_end_without_begin_is_counted(self):
        self.configure()
        before = pt.statistics()["strays"]
        Tracer.trace_end("nothing")
        self.assertEqual(pt.statistics()["strays"] - before, 1)
        self.assertEqual(self.events(), [])

    def test_threads_and_tasks_do_not_end_each_others(self):
        self.configure()
        Tracer.trace_begin("x")
        t = threading.Thread(target=Tracer.trace_end, args=("x",))
        t.start()
        t.join()
        Tracer.trace_end("x")

        async def work(seconds):
            Tracer.trace_begin("task")
            await asyncio.sleep(seconds)
            Tracer.trace_end("task")

        async def main():
            await asyncio.gather(work(0.03), work(0.01))
        asyncio.run(main())
        events = self.events()
        self.assertEqual(len([e for e in events if e["name"] == "x"]), 1)
        times = {}
        for e in events:
            if e["name"] == "task":
                times.setdefault(e["id"], []).append(e["ts"])
        lengths = sorted(end - begin for begin, end in times.values())
        self.assertGreaterEqual(lengths[0], 10000)
        self.assertGreaterEqual(lengths[1], 30000)

    def test_spans_end_on_exceptions(self):
        self.configure()
        with self.assertRaises(ValueError):
            with Tracer.trace_span("span", "io", {"n": 1}):
                raise ValueError
        self.assertEqual(self.one("span")["args"]["exception"], "ValueError")

    def test_functions(self):
        @Tracer.trace_func
        def bare(x):
            return x + 1

        @Tracer.trace_func()
        def called(x):
            return x + 2

        @Tracer.trace_func("comm")
        def positional(x):
            return x + 3

        @Tracer.trace_func(cat="io")
        async def coroutine(x):
            return x + 4
        self.assertTrue(inspect.iscoroutinefunction(coroutine))
        self.assertEqual(bare(0), 1)  # off: it runs all the same
        self.configure()
        self.assertEqual([bare(0), called(0), positional(0), asyncio.run(coroutine(0))], [1, 2, 3, 4])
        self.assertEqual([(e["name"], e["cat"]) for e in self.events() if e["ph"] in "Xb"],
                         [("bare", "default"), ("called", "default"), ("positional", "comm"),
                          ("coroutine", "io")])

    def test_timers(self):
        timer = Timer("actor")
        with timer("rollout"):
            time.sleep(0.01)
        self.configure()
        with timer("rollout", trace_args={"n": 2}):
            time.sleep(0.01)
        with timer("hidden", trace=False):
            pass
        self.assertGreaterEqual(timer.pop("rollout"), 0.02)
        self.assertEqual(timer.pop("rollout"), 0.0)
        self.assertEqual(list(timer.pop_all()), ["hidden"])
        e, = self.events()
        self.assertEqual((e["name"], e["cat"], e["args"]["n"]), ("rollout", "actor", 2))

    def test_a_name_that_is_timed_twice(self):
        timer = Timer("runner", once=True)
        with timer("step"):
            pass
        with self.assertRaises(ValueError):
            timer("step")
        timer.pop("step")
        with timer("step"):
            pass

    def test_finalize_writes(self):
        self.configure()
        with Tracer.trace_span("x"):
            pass
        Tracer.finalize()
        path, = self.files("traces-r0.jsonl")
        self.assertEqual([e["name"] for e in traced.read(path) if e["ph"] == "X"], ["x"])


if __name__ == "__main__":
    unittest.main()
