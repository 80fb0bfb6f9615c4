# test_timers.py: times added up by name. SPDX-License-Identifier: MIT
import asyncio
import threading
import time
import unittest

import traced
from perftrace import perf_tracer as pt


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


if __name__ == "__main__":
    unittest.main()
