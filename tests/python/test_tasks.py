# test_tasks.py: coroutines, and work that is handed to threads. SPDX-License-Identifier: MIT
import asyncio
import concurrent.futures
import threading
import unittest

import traced
from perftrace import perf_tracer as pt


def spans(events):
    """(name, id, begin, end) of the async scopes, and that each has its end."""
    open_, out = {}, []
    for e in events:
        if e["ph"] == "b":
            open_.setdefault((e["id"], e["name"]), []).append(e["ts"])
        elif e["ph"] == "e":
            out.append((e["name"], e["id"], open_[e["id"], e["name"]].pop(), e["ts"]))
    assert not any(open_.values()), open_
    return out


class Tasks(traced.Case):
    def test_sync_and_async_scopes_around_a_loop(self):
        self.configure()

        async def main():
            async with pt.atrace_scope("async", args={"n": 1}):
                with pt.trace_scope("sync in task"):
                    await asyncio.sleep(0)
        with pt.trace_scope("sync"):
            asyncio.run(main())
        events = self.events()
        self.assertEqual([e["name"] for e in events if e["ph"] == "X"], ["sync"])
        by_name = {s[0]: s for s in spans(events)}
        self.assertEqual(set(by_name), {"async", "sync in task"})
        self.assertEqual(by_name["async"][1], by_name["sync in task"][1])  # one track
        begin = next(e for e in events if e["name"] == "async" and e["ph"] == "b")
        self.assertEqual(begin["args"]["n"], 1)

    def test_pt43_concurrent_coroutines_have_tracks_of_their_own(self):
        self.configure()

        async def work(name):
            with pt.trace_scope(name):
                await asyncio.sleep(0.03)
                await asyncio.sleep(0.03)

        async def main():
            await asyncio.gather(work("t1"), work("t2"), work("t3"))
        asyncio.run(main())
        events = self.events()
        self.assertEqual([e for e in events if e["ph"] == "X"], [])
        found = spans(events)
        self.assertEqual(sorted(s[0] for s in found), ["t1", "t2", "t3"])
        self.assertEqual(len({s[1] for s in found}), 3)
        for name, _, begin, end in found:
            self.assertGreaterEqual(end - begin, 60000, name)
        # They did overlap.
        self.assertLess(max(s[2] for s in found), min(s[3] for s in found))

    def test_a_task_made_within_a_scope_knows_its_parent(self):
        self.configure()

        async def child():
            with pt.trace_scope("child"):
                await asyncio.sleep(0)

        async def main():
            with pt.trace_scope("parent"):
                await asyncio.gather(child(), child())
            with pt.trace_scope("later"):
                pass
        asyncio.run(main())
        events = self.events()
        parent = next(e for e in events if e["name"] == "parent")
        children = [e for e in events if e["name"] == "child" and e["ph"] == "b"]
        self.assertEqual([e["args"]["parent"] for e in children], [int(parent["id"], 16)] * 2)
        self.assertEqual(len({e["id"] for e in children}), 2)
        later = next(e for e in events if e["name"] == "later")
        self.assertNotIn("parent", later["args"])

    def test_an_exception_is_noted_and_passes(self):
        self.configure()

        async def main():
            async with pt.atrace_scope("fails"):
                raise ValueError("why")
        with self.assertRaises(ValueError):
            asyncio.run(main())

        async def cancelled():
            async def forever():
                with pt.trace_scope("cancelled"):
                    await asyncio.sleep(60)
            task = asyncio.ensure_future(forever())
            await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        asyncio.run(cancelled())
        ends = {e["name"]: e["args"]["exception"] for e in self.events() if e["ph"] == "e"}
        self.assertEqual(ends, {"fails": "ValueError: why", "cancelled": "CancelledError"})

    def test_a_callback_of_the_loop_is_no_task(self):
        self.configure()

        async def main():
            done = asyncio.Event()

            def call():
                with pt.trace_scope("callback"):
                    done.set()
            asyncio.get_running_loop().call_soon(call)
            await done.wait()
        asyncio.run(main())
        self.assertEqual(self.one("callback")["ph"], "X")

    # ---- PT-22: threads that a coroutine hands work to ----

    def sessions_on_a_pool(self, call):
        """Two sessions that take turns on a pool; which session each phase was filed under."""
        self.configure(sessions=1)

        def work(name):
            with pt.trace_session_phase(name):
                with pt.trace_scope(f"scope of {name}"):
                    pass

        async def one(task):
            pt.set_session_id(pt.register_session(task))
            with pt.trace_scope(f"outer {task}"):
                for _ in range(20):
                    await call(work, f"p{task}")
            pt.trace_session_event("mark_finalized", session_id=pt.get_session_id(), status="accepted")

        async def main():
            with concurrent.futures.ThreadPoolExecutor(2) as pool:
                self.pool = pool
                await asyncio.gather(one(1), one(2))
        asyncio.run(main())
        orphans = pt.statistics()["orphans"]
        filed = {r["task_id"]: {name: len(s) for name, s in r.get("phases", {}).items()}
                 for r in self.records()}
        events = self.events()
        outer = {e["name"]: int(e["id"], 16) for e in events if e["name"].startswith("outer")}
        parents = {(e["name"], e["args"].get("parent")) for e in events if e["name"].startswith("scope")}
        return filed, orphans, {(f"scope of p{t}", outer[f"outer {t}"]) for t in (1, 2)}, parents

    def check_carried(self, call):
        before = pt.statistics()["orphans"]
        filed, orphans, want, parents = self.sessions_on_a_pool(call)
        self.assertEqual(filed, {1: {"p1": 20}, 2: {"p2": 20}})
        self.assertEqual(parents, want)
        self.assertEqual(orphans, before)

    def test_pt22_to_thread(self):
        self.check_carried(asyncio.to_thread)

    def test_pt22_our_submit(self):
        self.check_carried(lambda work, name: asyncio.wrap_future(pt.submit(self.pool, work, name)))

    def test_pt22_carry(self):
        self.check_carried(lambda work, name: asyncio.get_running_loop().run_in_executor(
            self.pool, pt.carry(work), name))

    def test_pt22_run_in_executor_and_submit_when_patched(self):
        pt.patch_executors()
        self.addCleanup(pt.unpatch_executors)
        for call in (
                lambda work, name: asyncio.get_running_loop().run_in_executor(self.pool, work, name),
                lambda work, name: asyncio.wrap_future(self.pool.submit(work, name))):
            with self.subTest():
                self.setUp()
                self.check_carried(call)

    def test_pt22_unpatched_they_are_counted_and_filed_under_nobody(self):
        before = pt.statistics()["orphans"]
        filed, orphans, _, parents = self.sessions_on_a_pool(
            lambda work, name: asyncio.get_running_loop().run_in_executor(self.pool, work, name))
        self.assertEqual(filed, {1: {}, 2: {}})
        self.assertEqual(orphans - before, 40)
        self.assertEqual({p for _, p in parents}, {None})

    def test_a_patch_is_undone(self):
        plain = concurrent.futures.ThreadPoolExecutor.submit
        pt.patch_executors()
        pt.patch_executors()
        pt.unpatch_executors()
        self.assertIsNot(concurrent.futures.ThreadPoolExecutor.submit, plain)
        pt.unpatch_executors()
        pt.unpatch_executors()
        self.assertIs(concurrent.futures.ThreadPoolExecutor.submit, plain)

    def test_threads_have_their_own_scopes(self):
        self.configure()

        def work(i):
            with pt.trace_scope("outer", args={"i": i}):
                with pt.trace_scope("inner", args={"i": i}):
                    barrier.wait()
        barrier = threading.Barrier(8)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        events = self.events()
        tids = {e["args"]["i"]: e["tid"] for e in events if e["name"] == "outer"}
        self.assertEqual(len(set(tids.values())), 8)
        for e in events:
            self.assertEqual(e["tid"], tids[e["args"]["i"]])


if __name__ == "__main__":
    unittest.main()
