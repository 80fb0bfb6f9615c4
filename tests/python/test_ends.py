# test_ends.py: scopes that are closed wrongly or not at all, and what traces after its tracer has ended.
# SPDX-License-Identifier: MIT
import asyncio
import os
import threading
import time
import unittest

import traced
from perftrace import perf_tracer as pt


class Ending(traced.Case):
    def test_closing_twice_and_elsewhere(self):
        self.configure()
        before = pt.statistics()["strays"]
        scope = pt.trace_scope("twice")
        scope.__enter__()
        scope.__exit__(None, None, None)
        scope.__exit__(None, None, None)
        self.assertEqual(pt.statistics()["strays"] - before, 1)
        elsewhere = pt.trace_scope("elsewhere")
        elsewhere.__enter__()
        t = threading.Thread(target=elsewhere.__exit__, args=(None, None, None))
        t.start()
        t.join()
        self.assertEqual(pt.statistics()["strays"] - before, 2)
        elsewhere.__exit__(None, None, None)
        self.assertEqual(self.names(), ["elsewhere", "twice"])

    def test_scopes_that_are_left_open(self):
        self.configure()
        pt.trace_scope("never closed").__enter__()
        pt.trace_scope("with", args={"n": 1}).__enter__()
        events = self.events()
        self.assertEqual([(e["name"], e["ph"], e["args"]["unfinished"]) for e in events],
                         [("never closed", "B", True), ("with", "B", True)])

    def test_after_reset_nothing_is_recorded(self):
        self.configure()
        scope = pt.trace_scope("kept")
        pt.reset()
        with scope:
            pass
        with pt.trace_scope("after"):
            pass
        self.assertEqual(self.names(), [])

    def test_a_directory_that_cannot_be_made(self):
        with open(os.path.join(self.root, "file"), "w"):
            pass
        with self.assertRaisesRegex(RuntimeError, "tracing cannot start"):
            pt.configure(pt.PerfTracerConfig(dir=os.path.join(self.root, "file", "x"), enabled=True), rank=0)
        self.assertFalse(pt.is_configured())

    def test_every_kind_of_scope_that_is_closed_twice(self):
        self.configure(sessions=1)
        pt.set_session_id(pt.register_session(1))
        self.addCleanup(pt.set_session_id, None)

        def twice():
            for scope in (pt.trace_scope("plain"), pt.trace_scope("numbers", args={"n": 1}),
                          pt.trace_scope("text", args={"t": "x"}), pt.trace_scope(["made"]),
                          pt.trace_session_phase("phase"), pt.timer("timer")):
                scope.__enter__()
                scope.__exit__(None, None, None)
                scope.__exit__(None, None, None)

        async def main():
            twice()
        before = pt.statistics()["strays"]
        twice()
        self.assertEqual(pt.statistics()["strays"] - before, 6)
        asyncio.run(main())
        self.assertEqual(pt.statistics()["strays"] - before, 12)
        events = self.events()
        for name in ("plain", "numbers", "text", "['made']", "timer"):
            self.assertEqual(sorted(e["ph"] for e in events if e["name"] == name), ["X", "b", "e"], name)

    def test_a_scope_of_a_task_that_another_task_or_thread_closes(self):
        self.configure()
        before = pt.statistics()["strays"]

        async def close(scope):
            scope.__exit__(None, None, None)

        async def main():
            for name in ("by a task", "by a thread"):
                scope = pt.trace_scope(name)
                scope.__enter__()
                if name == "by a task":
                    await asyncio.ensure_future(close(scope))
                else:
                    await asyncio.to_thread(scope.__exit__, None, None, None)
            with pt.trace_scope("later"):
                pass
        asyncio.run(main())
        events = self.events()
        for name in ("by a task", "by a thread", "later"):
            ends = [(e["ph"], e["id"]) for e in events if e["name"] == name]
            self.assertEqual([ph for ph, _ in ends], ["b", "e"], name)
            self.assertEqual(len({each for _, each in ends}), 1)
        self.assertEqual(pt.statistics()["strays"], before)

    def test_a_phase_that_another_thread_closes(self):
        self.configure(sessions=1)
        pt.set_session_id(pt.register_session(1))
        self.addCleanup(pt.set_session_id, None)
        phase = pt.trace_session_phase("generate")
        phase.__enter__()
        t = threading.Thread(target=phase.__exit__, args=(None, None, None))
        t.start()
        t.join()
        pt.trace_session_event("mark_finalized", session_id=pt.get_session_id(), status="accepted")
        span, = self.records()[0]["phases"]["generate"]
        self.assertIsNotNone(span["end_ts"])

    def test_what_a_task_and_a_session_leave_open(self):
        self.configure(sessions=1)

        async def main():
            pt.set_session_id(pt.register_session(1))
            pt.trace_scope("left open").__enter__()
            pt.trace_session_phase("generate").__enter__()
        asyncio.run(main())
        self.assertEqual([e["ph"] for e in self.events("left open")], ["b"])
        record, = self.records()
        self.assertEqual(record["status"], "pending")
        self.assertIsNone(record["phases"]["generate"][0]["end_ts"])

    def test_scopes_that_outlive_their_run(self):
        self.configure(sessions=1)
        pt.set_session_id(pt.register_session(1))
        self.addCleanup(pt.set_session_id, None)
        scopes = [pt.trace_scope("plain"), pt.trace_scope("numbers", args={"n": 1}),
                  pt.trace_session_phase("phase"), pt.timer("timer")]

        async def main():
            scopes.append(pt.trace_scope("task"))
            for scope in scopes:
                scope.__enter__()
            pt.reset()
            self.configure(rank=1, sessions=1)
            for scope in scopes:
                scope.__exit__(None, None, None)
        asyncio.run(main())
        pt.instant("next run")
        pt.reset()
        first, second = ({e["name"]: e for e in traced.read(path) if e["ph"] != "M"}
                         for path in self.files("traces-r*.jsonl"))
        # A thread goes on with its scopes: unfinished in the first run, marked as older than the second.
        # The others have ended with the first.
        on = ["numbers", "plain", "timer"]
        self.assertEqual([first[name]["args"]["unfinished"] for name in on], [True] * 3)
        self.assertEqual(sorted(second), sorted([*on, "next run"]))
        self.assertEqual([(second[name]["ts"], second[name]["args"]["forked"]) for name in on], [(0, True)] * 3)
        self.assertEqual([r["session_id"] for r in self.records()], [0])

    def test_tracers_that_are_kept_after_reset(self):
        old = self.configure(sessions=1)
        sessions = old.session_tracer

        @pt.trace_perf("decorated")
        def decorated():
            return 7
        pt.reset()

        def use():
            old.set_enabled(True)
            old.save(force=True)
            old.reset()
            self.assertEqual(decorated(), 7)
            old.instant("x")
            self.assertIsNone(old.merge_profiler_trace([{"ts": 1}], 0))
            sessions.register_task(1)
            sessions.record_event(0, "mark_finalized")
            sessions.increment_counter(0, "n")
            return sessions.register_session(1)
        self.assertIsNone(use())
        self.assertFalse(pt.is_configured())
        files = self.files("*.jsonl")
        pt.get_session_tracer()
        self.configure(rank=1)  # and they leave this one alone
        use()
        with pt.trace_scope("of the next"):
            pass
        self.assertEqual([e["name"] for e in self.events() if e["args"].get("rank") == 1][-1], "of the next")
        self.assertEqual(len(self.files("traces*.jsonl")), len([f for f in files if "traces" in f]) + 1)

    def test_threads_that_trace_while_the_tracer_is_reset(self):
        stop = threading.Event()
        failed = []

        def work():
            try:
                while not stop.is_set():
                    with pt.trace_scope("x", args={"n": 1}):
                        pt.instant("y", args={"t": "text"})
            except BaseException as error:
                failed.append(error)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(20):
            self.configure(options={"overflow": 1})
            time.sleep(0.01)
            pt.reset()
        stop.set()
        for t in threads:
            t.join()
        self.assertEqual(failed, [])
        self.assertGreater(len(self.events()), 100)

    def test_at_the_end_of_the_interpreter(self):
        done = traced.run(
            "import atexit, weakref\n"
            "class D:\n"
            "    def __del__(self):\n"
            "        with pt.trace_scope('del', args={'n': 1, 't': 'x'}): pass\n"
            "        pt.counter('c', 1)\n"
            "        pt.save()\n"
            "def trace(name):\n"
            "    with pt.trace_scope(name): pass\n"
            "    pt.trace_session_event('mark_finalized', session_id=pt.register_session(1))\n"
            "atexit.register(trace, 'before configure')\n"
            "configure(session_tracer=pt.SessionTracerConfig(True))\n"
            "atexit.register(trace, 'after configure')\n"
            "weakref.finalize(os, trace, 'finalizer')\n"
            "at_once = D(); del at_once\n"
            "of_the_module = D()\n"
            "cycle = D(); cycle.me = cycle\n"
            "def generator():\n"
            "    with pt.trace_scope('generator'): yield 1\n"
            "suspended = generator(); next(suspended)\n", self.root, arguments=["-X", "dev"])
        self.assertEqual(done.stderr, "")
        names = [e["name"] for e in self.events()]
        for name in ("before configure", "after configure", "finalizer"):
            self.assertIn(name, names)
        self.assertEqual((names.count("del"), names.count("c")), (3, 3))
        self.assertEqual(len(self.records()), 3)

    def test_a_daemon_thread_that_traces_to_the_very_end(self):
        for _ in range(5):
            self.setUp()
            done = traced.run("configure()\n"
                              "def spin():\n"
                              "    while True:\n"
                              "        with pt.trace_scope('daemon', args={'n': 1}): pass\n"
                              "        pt.instant('point', args={'t': 'x'})\n"
                              "for _ in range(3): threading.Thread(target=spin, daemon=True).start()\n"
                              "time.sleep(0.05)\n", self.root, arguments=["-X", "dev"])
            self.assertEqual(done.stderr, "")
            self.assertIn("daemon", {e["name"] for e in self.events()})


if __name__ == "__main__":
    unittest.main()
