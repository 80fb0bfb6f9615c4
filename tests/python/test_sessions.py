# test_sessions.py: the interface of AReaL's session tracer. SPDX-License-Identifier: MIT
import asyncio
import concurrent.futures
import os
import threading
import time
import unittest
import warnings

import traced
from perftrace import perf_tracer as pt


class Sessions(traced.Case):
    def test_on_and_off_by_configuration(self):
        self.configure()
        self.assertIsNone(pt.get_session_tracer())
        self.assertIsNone(pt.register_session(1))
        pt.reset()
        self.configure(sessions=1)
        self.assertIsNotNone(pt.get_session_tracer())
        self.assertEqual(pt.register_session(1), 0)

    def test_phases(self):
        self.configure(sessions=1)
        pt.register_task(5)
        session = pt.register_session(5)
        pt.set_session_id(session)
        self.assertEqual(pt.get_session_id(), session)

        async def main():
            async with pt.atrace_session_phase("generate", start_payload={"prompt": 3},
                                               end_payload={"tokens": 9, "text": "x"}):
                await asyncio.sleep(0.01)
        asyncio.run(main())
        with pt.trace_session_phase("reward"):
            time.sleep(0.01)
        pt.trace_session_event("increment_counter", session_id=session, name="retries", value=2)
        pt.trace_session_event("increment_counter", session_id=session, name="retries")
        pt.trace_session_event("mark_finalized", session_id=session, status="rejected", reason="stale")
        record, = self.records()
        self.assertEqual((record["task_id"], record["session_id"], record["rank"], record["status"],
                          record["reason"]), (5, session, 0, "rejected", "stale"))
        span, = record["phases"]["generate"]
        self.assertEqual((span["start"], span["end"]), ({"prompt": 3}, {"tokens": 9, "text": "x"}))
        self.assertGreater(record["generate_s"], 0.009)
        self.assertGreater(record["reward_s"], 0.009)
        self.assertEqual(record["counters"], {"retries": 3})

    def test_a_phase_that_fails_has_its_end(self):
        self.configure(sessions=1)
        pt.set_session_id(pt.register_session(1))
        with self.assertRaises(KeyError):
            with pt.trace_session_phase("generate", end_payload={"n": 1}):
                raise KeyError("k")
        pt.trace_session_event("mark_finalized", session_id=pt.get_session_id())
        record, = self.records()
        span, = record["phases"]["generate"]
        self.assertIsNotNone(span["end_ts"])
        self.assertEqual(span["end"], {"n": 1, "exception": "KeyError: 'k'"})

    def test_parallel_spans_of_one_phase(self):
        self.configure(sessions=1)
        pt.set_session_id(pt.register_session(1))

        async def tool(seconds):
            async with pt.atrace_session_phase("toolcall"):
                await asyncio.sleep(seconds)

        async def main():
            await asyncio.gather(tool(0.03), tool(0.01))
        asyncio.run(main())
        pt.trace_session_event("mark_finalized", session_id=pt.get_session_id(), status="accepted")
        record, = self.records()
        spans = record["phases"]["toolcall"]
        self.assertEqual(len(spans), 2)
        lengths = sorted(s["end_ts"] - s["start_ts"] for s in spans)
        self.assertGreater(lengths[0], 0.009)
        self.assertGreater(lengths[1], 0.029)

    def test_two_sessions_at_once_with_phases_on_an_executor(self):
        self.configure(sessions=1)
        together = threading.Barrier(2)

        def generate():
            together.wait(30)  # both phases are open
            time.sleep(0.01)

        def reward():
            time.sleep(0.01)

        @pt.session_context()
        async def episode(pool):
            loop = asyncio.get_running_loop()
            async with pt.atrace_scope("episode"):
                for name, work in (("generate", generate), ("reward", reward)):
                    async with pt.atrace_session_phase(name):
                        await loop.run_in_executor(pool, work)
                pt.trace_session_event("mark_finalized", session_id=pt.get_session_id(), status="accepted")

        async def main():
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                async def one(task):
                    pt.set_task_id(task)
                    await episode(pool)
                await asyncio.gather(one(1), one(2))
        asyncio.run(main())
        records = self.records()
        self.assertEqual(sorted(r["task_id"] for r in records), [1, 2])
        spans = {}
        for r in records:
            self.assertEqual({name: len(spans) for name, spans in r["phases"].items()},
                             {"generate": 1, "reward": 1})
            for name in ("generate", "reward"):
                self.assertGreater(r[f"{name}_s"], 0.009)
                span, = r["phases"][name]
                spans[r["task_id"], name] = span["start_ts"], span["end_ts"]
            self.assertLessEqual(spans[r["task_id"], "generate"][1], spans[r["task_id"], "reward"][0])
        (a, b), (c, d) = spans[1, "generate"], spans[2, "generate"]
        self.assertLess(max(a, c), min(b, d))  # they overlap
        times = {}
        for e in self.events("episode"):
            times.setdefault(e["id"], []).append((e["ph"], e["ts"]))
        self.assertEqual([[ph for ph, _ in each] for each in times.values()], [["b", "e"]] * 2)
        (_, a), (_, b), (_, c), (_, d) = (pair for each in times.values() for pair in each)
        self.assertLess(max(a, c), min(b, d))

    def test_a_role_has_a_folder_of_its_own(self):
        self.configure(role="rollout", sessions=1)
        session = pt.register_session(1)
        pt.trace_session_event("mark_finalized", session_id=session, status="accepted")
        self.assertEqual(self.records()[0]["role"], "rollout")
        self.assertIn(os.path.join("session_tracer", "rollout", "sessions-r0.jsonl"),
                      self.files("sessions*")[0])

    def test_events_of_a_task_reach_its_sessions(self):
        tracer = self.configure(sessions=1).session_tracer
        ids = [pt.register_session(7) for _ in range(4)] + [pt.register_session(8)]
        self.assertEqual(tracer.get_session_ids(7), ids[:4])
        pt.trace_session_event("mark_generate_start", task_id=7)
        pt.trace_session_event("mark_generate_end", task_id=7)
        pt.trace_session_event("mark_finalized", session_id=ids[0], status="failed")
        pt.trace_session_event("mark_finalized", task_id=7, status="accepted")
        self.assertEqual(tracer.get_session_ids(7), [])
        records = {r["session_id"]: r for r in self.records()}
        self.assertEqual([records[i]["status"] for i in ids],
                         ["failed", "accepted", "accepted", "accepted", "pending"])
        for i in ids[:4]:
            self.assertEqual(len(records[i]["phases"]["generate"]), 1)

    def test_a_session_wins_over_a_task(self):
        self.configure(sessions=1)
        a, b = pt.register_session(7), pt.register_session(7)
        pt.trace_session_event("mark_finalized", session_id=a, task_id=7, status="accepted")
        self.assertEqual({r["session_id"]: r["status"] for r in self.records()},
                         {a: "accepted", b: "pending"})

    def test_what_is_unknown_is_passed_over(self):
        self.configure(sessions=1)
        session = pt.register_session(1)
        for method in ("no_such_thing", "", 5, None, "mark_", "_end"):
            pt.trace_session_event(method, session_id=session)
        pt.trace_session_event("mark_finalized")
        # A payload may have keys of any name.
        pt.trace_session_event("mark_generate_start", session_id=session, event=1, self=2, payload=3)
        pt.trace_session_event("mark_generate_end", task_id=1, event=1, self=2, payload=3)
        pt.trace_session_event("mark_finalized", session_id=99, status="accepted")
        record, = self.records()
        self.assertEqual((record["status"], len(record["phases"]["generate"])), ("pending", 1))

    def test_with_events_off_sessions_below_the_threshold_are_written(self):
        # AReaL loses them at exit.
        self.configure(sessions=256, enabled=False)
        for task in range(3):
            session = pt.register_session(task)
            pt.trace_session_event("mark_finalized", session_id=session, status="accepted")
        self.assertEqual(len(self.records()), 3)

    def test_a_declared_phase_may_finish_its_session(self):
        self.configure(sessions=1)
        pt.declare_phase("grade", ready_on_complete=True)
        pt.set_session_id(pt.register_session(1))
        with pt.trace_session_phase("grade"):
            pass
        self.assertEqual(self.records()[0]["status"], "accepted")

    def test_flush_threshold(self):
        self.assertEqual(pt.SessionTracerConfig(True, 0).threshold(), 1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(pt.SessionTracerConfig(True, "x").threshold(), 1)
        self.assertEqual(len(caught), 1)

    def test_profile_steps(self):
        config = pt.PerfTracerConfig(profile_steps=[3, 1, 3, "x", True, 2.5])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertEqual(config.steps(), [1, 3])
        self.assertEqual(len(caught), 3)


if __name__ == "__main__":
    unittest.main()
