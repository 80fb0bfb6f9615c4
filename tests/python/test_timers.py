# test_timers.py: times added up by name. SPDX-License-Identifier: MIT
import asyncio
import json
import threading
import time
import unittest

import traced
from perftrace import perf_tracer as pt
from perftrace import rlinf, timers


class TimersOfTheProcess(traced.Case):
    def setUp(self):
        super().setUp()
        pt.reset_timers()
        self.addCleanup(pt.reset_timers)

    def test_count_sum_least_and_greatest(self):
        for seconds in (0.01, 0.03, 0.02):
            with pt.timer("sleep"):
                time.sleep(seconds)
        with pt.timer("other"):
            pass
        figures = pt.read_timers()
        self.assertEqual(set(figures), {"sleep", "other"})
        sleep = figures["sleep"]
        self.assertEqual((sleep["count"], figures["other"]["count"]), (3, 1))
        self.assertGreaterEqual(sleep["min"], 0.01)
        self.assertGreaterEqual(sleep["max"], 0.03)
        self.assertGreaterEqual(sleep["sum"], 0.06)
        self.assertLess(sleep["min"], sleep["max"])
        # Three numbers with these least and greatest ones.
        self.assertTrue(2 * sleep["min"] + sleep["max"] <= sleep["sum"] <= sleep["min"] + 2 * sleep["max"])

    def test_reading_changes_nothing_and_resetting_begins_again(self):
        with pt.timer("x"):
            pass
        first = pt.read_timers()
        self.assertEqual(pt.read_timers(), first)
        first["x"]["count"] = 99  # a copy
        self.assertEqual(pt.read_timers(reset=True)["x"]["count"], 1)
        self.assertEqual(pt.read_timers(), {})
        with pt.timer("x"):
            pass
        self.assertEqual(pt.read_timers()["x"]["count"], 1)
        pt.reset_timers()
        self.assertEqual(pt.read_timers(), {})

    def test_what_is_timed_is_recorded_while_tracing_unless_it_is_asked_not_to(self):
        with pt.timer("before"):
            pass
        self.configure()
        with pt.timer("rollout", category="compute", args={"n": 2}):
            time.sleep(0.01)
        with pt.timer("hidden", trace=False):
            pass
        e = self.one("rollout")
        self.assertEqual((e["cat"], e["args"]["n"]), ("compute", 2))
        self.assertEqual([each["name"] for each in self.events()], ["rollout"])
        self.assertEqual(set(pt.read_timers()), {"before", "rollout", "hidden"})
        # The scope is the time that was added up, and what the two clocks cost.
        self.assertGreaterEqual(e["dur"] / 1e6, pt.read_timers()["rollout"]["sum"])

    def test_a_block_that_fails_is_timed(self):
        with self.assertRaises(KeyError):
            with pt.timer("fails"):
                time.sleep(0.01)
                raise KeyError("k")
        self.assertGreaterEqual(pt.read_timers()["fails"]["min"], 0.01)

    def test_coroutines_that_take_turns(self):
        async def work(seconds):
            async with pt.timer("await"):
                await asyncio.sleep(seconds)

        async def main():
            await asyncio.gather(work(0.01), work(0.03))
        asyncio.run(main())
        figures = pt.read_timers()["await"]
        self.assertEqual(figures["count"], 2)
        self.assertGreaterEqual(figures["min"], 0.01)
        self.assertGreaterEqual(figures["max"], 0.03)

    def test_threads_lose_no_count(self):
        def work():
            for _ in range(2000):
                with pt.timer("shared"):
                    pass
        counted = []

        def read():
            while not done.is_set():
                counted.append(pt.read_timers(reset=True).get("shared", {"count": 0})["count"])
        done = threading.Event()
        reader = threading.Thread(target=read)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in [reader, *threads]:
            t.start()
        for t in threads:
            t.join()
        done.set()
        reader.join()
        counted.append(pt.read_timers().get("shared", {"count": 0})["count"])
        self.assertEqual(sum(counted), 8000)

    def test_a_timer_that_is_closed_twice_or_never_opened_counts_once_and_not(self):
        before = pt.statistics()["strays"]
        t = pt.timer("once")
        t.__exit__(None, None, None)
        t.__enter__()
        t.__exit__(None, None, None)
        t.__exit__(None, None, None)
        self.assertEqual(pt.read_timers()["once"]["count"], 1)
        self.assertEqual(pt.statistics()["strays"] - before, 2)

    def test_as_a_decorator(self):
        @pt.timer("function")
        def function(x):
            """Doc."""
            return x + 1

        @pt.timer("coroutine", category="io")
        async def coroutine():
            await asyncio.sleep(0.01)
            return 2

        @pt.timer("generator")
        def generator():
            got = yield 1
            return got

        @pt.timer("hidden", trace=False)
        def fails():
            raise KeyError("k")
        self.configure()  # decorating comes before configuring
        self.assertEqual([function(1), function(2), function.__doc__], [2, 3, "Doc."])
        self.assertTrue(asyncio.iscoroutinefunction(coroutine))
        self.assertEqual(asyncio.run(coroutine()), 2)
        first, second = generator(), generator()  # they overlap
        self.assertEqual((next(first), next(second)), (1, 1))
        for each in (first, second):
            with self.assertRaises(StopIteration) as caught:
                each.send(7)
            self.assertEqual(caught.exception.value, 7)
        with self.assertRaises(KeyError):
            fails()
        figures = pt.read_timers()
        self.assertEqual({name: f["count"] for name, f in figures.items()},
                         {"function": 2, "coroutine": 1, "generator": 2, "hidden": 1})
        self.assertGreaterEqual(figures["coroutine"]["min"], 0.01)
        names = [e["name"] for e in self.events() if e["ph"] in "Xb"]
        self.assertEqual(sorted(names), ["coroutine", "function", "function", "generator", "generator"])
        with self.assertRaises(TypeError):
            pt.timer("x")(5)

    def test_names_that_are_no_text(self):
        with pt.timer(["list"]):
            pass
        with pt.timer(5):
            pass
        self.assertEqual(set(pt.read_timers()), {"['list']", "5"})

    def test_the_child_of_a_fork_can_time_while_a_thread_of_the_parent_did(self):
        done = traced.run("stop = False\n"
                          "def work():\n"
                          "    while not stop:\n"
                          "        with pt.timer('thread'): pass\n"
                          "thread = threading.Thread(target=work); thread.start()\n"
                          "for _ in range(50):\n"
                          "    pid = os.fork()\n"
                          "    if pid == 0:\n"
                          "        with pt.timer('child'): pass\n"
                          "        os._exit(0 if pt.read_timers()['child']['count'] == 1 else 1)\n"
                          "    assert os.waitpid(pid, 0)[1] == 0\n"
                          "stop = True; thread.join(); print('done')\n", self.root,
                          arguments=["-W", "ignore"])
        self.assertEqual(done.stdout.strip(), "done")


class TimersOfTheLibrary(traced.Case):
    def setUp(self):
        super().setUp()
        timers.reset_all()
        pt.reset_timers()
        self.addCleanup(timers.reset_all)
        self.addCleanup(pt.reset_timers)

    def test_the_same_times_with_a_histogram(self):
        for seconds in (0.01, 0.03, 0.02):
            with pt.timer("sleep"):
                time.sleep(seconds)
        ours, s = pt.read_timers()["sleep"], timers.read("sleep")
        self.assertEqual(s.count, 3)
        for mine, its in ((ours["sum"], s.sum), (ours["min"], s.min), (ours["max"], s.max), (ours["sum"] / 3, s.mean)):
            self.assertAlmostEqual(mine, its, delta=mine / 100)
        self.assertEqual((sum(s.buckets), s.lost), (3, 0))
        for i, count in enumerate(s.buckets):
            if count:
                self.assertLessEqual(timers.bucket_seconds(i), ours["max"])
                self.assertGreater(timers.bucket_seconds(i + 1), ours["min"] * 0.99)
        self.assertTrue(s.min <= s.quantile(0.01) <= s.min * 1.25, s)  # in the first bucket that has any
        self.assertEqual((s.quantile(0), s.quantile(1)), (s.min, s.max))

    def test_reading_and_resetting(self):
        self.assertIsNone(timers.read("none of that name"))
        with pt.timer("x"), pt.timer("y"):
            pass
        self.assertEqual({name: s.count for name, s in timers.read_all().items()}, {"x": 1, "y": 1})
        self.assertEqual(timers.read("x", reset=True).count, 1)
        self.assertEqual(timers.read("x"), timers.TimerStats())
        self.assertEqual(set(timers.read_all()), {"y"})
        self.assertEqual(pt.read_timers()["x"]["count"], 1)  # on its own

    def test_those_of_ranks_are_added_up(self):
        with pt.timer("a"):
            time.sleep(0.01)
        with pt.timer("b"):
            pass
        a, b = timers.read("a"), timers.read("b")
        both = a.merged(b)
        self.assertEqual((both.count, both.min, both.max), (2, b.min, a.max))
        self.assertAlmostEqual(both.sum, a.sum + b.sum, 8)
        self.assertEqual(both.buckets, tuple(map(sum, zip(a.buckets, b.buckets))))
        self.assertEqual(timers.TimerStats().merged(a), a)
        self.assertEqual((timers.TimerStats().mean, timers.TimerStats().quantile(0.5)), (0, 0))
        with self.assertRaises(IndexError):
            timers.bucket_seconds(timers.BUCKETS)

    def test_threads_lose_no_count(self):
        def work():
            for _ in range(2000):
                with pt.timer("threads"):
                    pass
        threads = [threading.Thread(target=work) for _ in range(4)]
        counted = []
        for t in threads:
            t.start()
        while any(t.is_alive() for t in threads):
            counted.append(timers.read("threads", reset=True) or timers.TimerStats())
        for t in threads:
            t.join()
        counted.append(timers.read("threads"))
        self.assertEqual(sum(s.count for s in counted), 8000)

    def test_a_traced_run_leaves_them_beside_its_trace(self):
        self.configure()
        for _ in range(5):
            with pt.timer("left"):
                pass
        pt.reset()
        path, = self.files("timers-r0.json")
        with open(path) as file:
            left, = [t for t in json.load(file)["timers"] if t["name"] == "left"]
        self.assertEqual((left["count"], sum(n for _, n in left["buckets_ns"])), (5, 5))

    def test_times_of_any_kind_are_harmless(self):
        timer = rlinf.Timer()
        for seconds in (float("nan"), float("inf"), -1.0, 1e300, 2.5):
            timer.add("any", seconds)
        self.assertEqual(timers.read("any").count, 1)
        self.assertAlmostEqual(timers.read("any").sum, 2.5, 2)

    def test_names_that_are_made_up_have_a_bound(self):
        done = traced.run("from perftrace import timers, _timers\n"
                          "for i in range(6000):\n"
                          "    with pt.timer(f'name {i}', trace=False): pass\n"
                          "print(len(_timers.handles), len(pt.read_timers()), len(timers.read_all()))\n", self.root)
        self.assertEqual(done.stdout.split(), ["4096", "6000", "4096"])


if __name__ == "__main__":
    unittest.main()
