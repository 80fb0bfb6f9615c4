# test_tracer.py: the interface of AReaL's tracer. SPDX-License-Identifier: MIT
import asyncio
import os
import time
import unittest

import traced
from perftrace import perf_tracer as pt


class Tracer(traced.Case):
    def test_without_configure_there_is_no_tracer(self):
        self.assertFalse(pt.is_configured())
        with self.assertRaises(RuntimeError):
            pt.get_tracer()
        self.assertIsNone(pt.get_session_tracer())

    def test_unconfigured_everything_does_nothing(self):
        with pt.trace_scope("x", args={"n": 1}):
            pt.instant("y")
        pt.counter("z", 1)
        pt.flow_start("f", 1)
        pt.save()
        pt.register_task(1)
        self.assertIsNone(pt.register_session(1))
        with pt.trace_session_phase("generate"):
            pt.trace_session_event("mark_finalized", session_id=0)

        async def main():
            async with pt.atrace_scope("x"):
                async with pt.atrace_session_phase("p"):
                    return 5
        self.assertEqual(asyncio.run(main()), 5)
        self.assertEqual(pt.trace_perf("d")(lambda: 7)(), 7)
        self.assertEqual(self.files("*"), [])

    def test_scope_with_an_instant_within_and_one_after(self):
        self.configure()
        with pt.trace_scope("outer", category="compute", args={"n": 3}):
            pt.instant("within", args={"k": "v"})
        pt.instant("after")
        pt.save(force=True)
        path, = self.files("traces-r0.jsonl")
        self.assertEqual({e["name"] for e in traced.read(path) if e["ph"] != "M"},
                         {"outer", "within", "after"})
        by_name = {e["name"]: e for e in self.events()}
        self.assertEqual(set(by_name), {"outer", "within", "after"})
        outer, within, after = (by_name[n] for n in ("outer", "within", "after"))
        self.assertEqual(outer["ph"], "X")
        self.assertEqual(outer["cat"], "compute")
        self.assertEqual(outer["args"], {"n": 3, "rank": 0})
        self.assertEqual(within["args"]["k"], "v")
        self.assertTrue(outer["ts"] <= within["ts"] <= outer["ts"] + outer["dur"] <= after["ts"])

    def test_role(self):
        self.configure(rank=3, role="actor")
        with pt.trace_scope("x"):
            pt.instant("y", args={"n": 1})

        async def main():
            async with pt.atrace_scope("z"):
                pass
        asyncio.run(main())
        lines = self.lines()
        timed = [e for e in lines if e["ph"] != "M"]
        self.assertEqual(sorted(e["name"] for e in timed), ["x", "y", "z", "z"])
        for e in timed:
            self.assertEqual((e["args"]["role"], e["args"]["rank"]), ("actor", 3))
        names = [e["args"]["name"] for e in lines if e["name"] == "process_name"]
        self.assertEqual(names, ["[actor] Rank 3, Process"])
        self.assertIn(os.path.join("perf_tracer", "actor", "traces-r3.jsonl"), self.files("traces*")[0])

    def test_two_ranks_write_files_of_their_own(self):
        for rank in (0, 1):
            self.configure(rank=rank)
            with pt.trace_scope(f"of {rank}"):
                pass
            pt.reset()
        for rank in (0, 1):
            path, = self.files(f"traces-r{rank}.jsonl")
            lines = traced.read(path)
            self.assertEqual({e["args"]["rank"] for e in lines if e["ph"] != "M"}, {rank})
            self.assertEqual([e["name"] for e in lines if e["ph"] == "X"], [f"of {rank}"])
            self.assertEqual([e["args"]["name"] for e in lines if e["name"] == "process_name"],
                             [f"Rank {rank}, Process"])
            self.assertEqual([e["args"]["sort_index"] for e in lines
                              if e["name"] == "process_sort_index"], [rank])

    def test_two_processes_of_two_ranks(self):
        for rank in (0, 1):
            traced.run(f"configure(rank={rank})\n"
                       "with pt.trace_scope('work'):\n"
                       "    pt.instant('point')\n"
                       "print(os.getpid())\n", self.root)
        pids = []
        for rank in (0, 1):
            path, = self.files(f"traces-r{rank}.jsonl")
            lines = traced.read(path)
            self.assertEqual({e["args"]["rank"] for e in lines if e["ph"] != "M"}, {rank})
            self.assertEqual({e["name"] for e in lines if e["ph"] != "M"}, {"work", "point"})
            pid, = {e["pid"] for e in lines}
            pids.append(pid)
        self.assertNotEqual(*pids)

    def test_a_second_configure_raises(self):
        self.configure()
        with self.assertRaises(RuntimeError):
            self.configure()
        self.assertTrue(pt.is_configured())
        pt.reset()
        self.configure(rank=1)
        self.assertEqual(pt.get_tracer().rank, 1)

    def test_a_negative_rank_raises(self):
        with self.assertRaises(ValueError):
            self.configure(rank=-1)
        self.assertFalse(pt.is_configured())

    def test_an_unknown_option_raises_and_leaves_nothing(self):
        with self.assertRaises(ValueError):
            self.configure(options={"no_such_option": 1})
        self.assertFalse(pt.is_configured())
        self.configure(options={"ring_size": 65536, "overflow": 1})

    def test_save_interval(self):
        # The library writes by itself, too: at its start, and here then not before a minute is over.
        self.configure(save_interval=3, options={"flush_ms": 60000})
        pt.save(force=True)
        written = []
        for step in range(5):
            with pt.trace_scope(f"step {step}"):
                pass
            pt.save(step=step)
            written.append(self.written())
        self.assertEqual(written, [0, 0, 3, 3, 3])
        pt.save(force=True)
        self.assertEqual(self.written(), 5)
        pt.instant("later")
        pt.save()  # without a step in any case
        self.assertEqual(self.written(), 6)

    def written(self):
        return sum(e["ph"] != "M" for p in self.files("traces-r0.jsonl") for e in traced.read(p))

    def test_an_interval_that_is_none_is_one(self):
        self.configure(save_interval=0, options={"flush_ms": 60000})
        pt.save(force=True)
        for step in range(2):
            pt.instant("x")
            pt.save(step=step)
            self.assertEqual(self.written(), step + 1)

    def test_enabled_may_be_switched(self):
        tracer = self.configure()
        self.assertTrue(tracer.enabled)
        tracer.set_enabled(False)
        with pt.trace_scope("off"):
            pass
        tracer.set_enabled(True)
        with pt.trace_scope("on"):
            pass
        self.assertEqual([e["name"] for e in self.events()], ["on"])

    def test_off_by_configuration_and_switched_on(self):
        tracer = self.configure(enabled=False)
        with pt.trace_scope("off"):
            pass
        pt.save(force=True)
        self.assertEqual(self.files("*.jsonl"), [])
        tracer.set_enabled(True)
        with pt.trace_scope("on"):
            pass
        self.assertEqual([e["name"] for e in self.events()], ["on"])

    def test_categories(self):
        self.configure()
        given = [("compute", "compute"), (pt.Category.COMM, "comm"), ("communication", "comm"),
                 (None, "misc"), ("  ", "misc"), (5, "misc"), ("my own", "my own")]
        for i, (category, _) in enumerate(given):
            with pt.trace_scope(f"s{i}", category=category):
                pass
        found = {e["name"]: e["cat"] for e in self.events()}
        self.assertEqual([found[f"s{i}"] for i in range(len(given))], [want for _, want in given])

    def test_the_other_events(self):
        self.configure()
        pt.step(9)
        with pt.trace_scope("send"):
            pt.flow_start("message", 2**63 + 5)
        with pt.trace_scope("receive"):
            pt.flow_end("message", 2**63 + 5)
        pt.counter("queue", 4)
        pt.counter("bytes", sent=1, received=2.5)
        pt.counter("mixed", good=7, text="x", nothing=None, items=[1])
        pt.counter("none of it", "text")
        events = self.events()
        flows = [e for e in events if e["name"] == "message"]
        self.assertEqual([(e["ph"], e["id"]) for e in flows],
                         [("s", "0x8000000000000005"), ("f", "0x8000000000000005")])
        self.assertEqual([e["args"] for e in events if e["ph"] == "C"],
                         [{"value": 4}, {"sent": 1, "received": 2.5}, {"good": 7}])
        self.assertEqual({e["args"]["global_step"] for e in events if e["ph"] == "X"}, {9})

    def test_statistics(self):
        self.assertEqual(pt.statistics()["emitted"], 0)
        self.configure()
        for _ in range(10):
            with pt.trace_scope("x"):
                pass
        pt.save(force=True)
        s = pt.statistics()
        self.assertEqual((s["emitted"], s["written"], s["dropped"]), (10, 10, {}))

    def test_a_reset_loses_nothing_and_the_next_run_has_its_own_file(self):
        self.configure()
        with pt.trace_scope("first"):
            pass
        pt.reset()
        self.configure()
        with pt.trace_scope("second"):
            pass
        self.assertEqual(sorted(e["name"] for e in self.events()), ["first", "second"])
        self.assertEqual(len(self.files("traces-r0*.jsonl")), 2)

    def test_many_names_made_up_on_the_way(self):
        self.configure(options={"overflow": 1})
        n = 6000
        for i in range(n):
            with pt.trace_scope(f"name {i}", args={"i": i}):
                pass
        events = self.events()
        self.assertEqual({e["name"]: e["args"]["i"] for e in events}, {f"name {i}": i for i in range(n)})

    def test_time_is_measured(self):
        self.configure()
        with pt.trace_scope("sleep"):
            time.sleep(0.02)
        self.assertGreaterEqual(self.one("sleep")["dur"], 20000)


if __name__ == "__main__":
    unittest.main()
