# test_decorators.py: trace_perf and the decorators of sessions. SPDX-License-Identifier: MIT
import asyncio
import inspect
import time
import unittest

import traced
from perftrace import perf_tracer as pt


@pt.trace_perf("before configure", category="io")
def early(x, *, y=2):
    """Its text."""
    return x + y


class Decorators(traced.Case):
    def duration(self, name):
        events = self.events(name)
        if events[0]["ph"] == "X":
            self.assertEqual(len(events), 1)
            return events[0]["dur"]
        self.assertEqual([e["ph"] for e in events], ["b", "e"])
        return events[1]["ts"] - events[0]["ts"]

    def test_decorating_before_configure(self):
        self.assertEqual(early(1), 3)
        self.configure()
        self.assertEqual(early(1, y=5), 6)
        self.assertEqual((early.__name__, early.__doc__), ("early", "Its text."))
        self.assertEqual(self.one("before configure")["cat"], "io")

    def test_pt23_a_coroutine(self):
        @pt.trace_perf("coroutine")
        async def sleep():
            await asyncio.sleep(0.05)
            return 5
        self.assertTrue(inspect.iscoroutinefunction(sleep))
        self.configure()
        self.assertEqual(asyncio.run(sleep()), 5)
        self.assertGreaterEqual(self.duration("coroutine"), 50000)

    def test_pt23_a_generator(self):
        @pt.trace_perf("generator")
        def three():
            got = []
            for i in range(3):
                time.sleep(0.02)
                got.append((yield i))
            return got
        self.assertTrue(inspect.isgeneratorfunction(three))
        self.configure()
        g = three()
        self.assertEqual([next(g), g.send("a"), g.send("b")], [0, 1, 2])
        with self.assertRaises(StopIteration) as stop:
            g.send("c")
        self.assertEqual(stop.exception.value, ["a", "b", "c"])
        self.assertGreaterEqual(self.duration("generator"), 60000)

    def test_pt23_an_async_generator(self):
        @pt.trace_perf("async generator")
        async def three():
            for i in range(3):
                await asyncio.sleep(0.02)
                try:
                    yield i
                except KeyError:
                    yield "caught"
        self.assertTrue(inspect.isasyncgenfunction(three))
        self.configure()

        async def main():
            self.assertEqual([i async for i in three()], [0, 1, 2])
            g = three()
            await g.__anext__()
            self.assertEqual(await g.athrow(KeyError()), "caught")
            await g.aclose()
        asyncio.run(main())
        events = self.events("async generator")
        self.assertEqual([e["ph"] for e in events], ["b", "e"] * 2)
        self.assertGreaterEqual(events[1]["ts"] - events[0]["ts"], 60000)
        self.assertNotIn("exception", events[3]["args"])  # closed, not failed

    def test_pt23_an_exception(self):
        @pt.trace_perf("raises")
        def fail():
            time.sleep(0.01)
            raise ValueError("why")
        self.configure()
        with self.assertRaisesRegex(ValueError, "why"):
            fail()
        e = self.one("raises")
        self.assertGreaterEqual(e["dur"], 10000)
        self.assertEqual(e["args"]["exception"], "ValueError: why")

    def test_pt23_a_generator_that_is_closed(self):
        @pt.trace_perf("closed")
        def endless():
            while True:
                time.sleep(0.02)
                yield 1
        self.configure()
        g = endless()
        next(g)
        g.close()
        events = self.events("closed")
        self.assertEqual([e["ph"] for e in events], ["b", "e"])
        self.assertGreaterEqual(events[1]["ts"] - events[0]["ts"], 20000)
        self.assertNotIn("exception", events[1]["args"])

    def test_methods(self):
        class Thing:
            @pt.trace_perf("method")
            def method(self):
                return self

            @classmethod
            @pt.trace_perf("class")
            def of_class(cls):
                return cls

            @pt.trace_perf("static")
            @staticmethod
            def static(x):
                return x

            @property
            @pt.trace_perf("property")
            def value(self):
                return 4
        self.configure()
        thing = Thing()
        self.assertIs(thing.method(), thing)
        self.assertIs(Thing.of_class(), Thing)
        self.assertEqual((Thing.static(3), thing.static(3), thing.value), (3, 3, 4))
        self.assertEqual([e["name"] for e in self.events()],
                         ["method", "class", "static", "static", "property"])

    def test_every_kind_of_signature(self):
        def f0():
            return ()

        def f1(a, b=2, /, c=3, *, d, e=5):
            return a, b, c, d, e

        def f2(*args, **kwargs):
            return args, kwargs

        def f3(a, *, function, scopes=1, _pt_number=7):
            return a, function, scopes, _pt_number

        f4 = lambda x=[], *, y={}: (x, y)  # noqa: E731
        self.configure()
        for f, args, kwargs in [(f0, (), {}), (f1, (1,), {"d": 4}), (f1, (1, 8, 9), {"d": 4, "e": 6}),
                                (f1, (1,), {"c": 2, "d": 4}), (f2, (1, 2), {"x": 3}),
                                (f3, (1,), {"function": 2}), (f4, (), {}), (f4, (1,), {"y": 2}),
                                (max, (3, 5), {}), (str.upper, ("x",), {})]:
            traced_f = pt.trace_perf("f")(f)
            self.assertEqual(traced_f(*args, **kwargs), f(*args, **kwargs))
            try:
                want = inspect.signature(f)
            except ValueError:
                continue  # of a built-in that does not say
            self.assertEqual(inspect.signature(traced_f), want)
        for bad in [lambda: pt.trace_perf("f")(f1)(), lambda: pt.trace_perf("f")(f0)(1)]:
            self.assertRaises(TypeError, bad)
        self.assertEqual(len(self.events("f")), 10)

    def test_recursion(self):
        @pt.trace_perf("recursive")
        def down(n):
            return n and down(n - 1)
        self.configure()
        down(150)
        events = self.events("recursive")
        self.assertEqual(len(events), 151)
        events.sort(key=lambda e: e["ts"])
        for outer, inner in zip(events, events[1:]):
            self.assertLessEqual(inner["ts"] + inner["dur"], outer["ts"] + outer["dur"] + 0.001)

    def test_a_call_that_was_on_while_it_was_switched(self):
        @pt.trace_perf("switches")
        def switch(to):
            pt.get_tracer().set_enabled(to)
        tracer = self.configure()
        switch(False)
        switch(True)
        self.assertTrue(tracer.enabled)
        self.assertEqual(len(self.events("switches")), 1)

    def test_sessions(self):
        @pt.session_context()
        async def episode():
            await generate()
            reward()
            return pt.get_session_id()

        @pt.trace_session("generate")
        async def generate():
            await asyncio.sleep(0.01)

        @pt.trace_session("reward")
        def reward():
            time.sleep(0.01)

        async def main():
            pt.set_task_id(7)
            return await asyncio.gather(episode(), episode())
        self.configure(sessions=1, enabled=False)
        ids = asyncio.run(main())
        self.assertEqual(len(set(ids)), 2)
        pt.trace_session_event("mark_finalized", task_id=7, status="accepted")
        records = self.records()
        self.assertEqual({r["session_id"] for r in records}, set(ids))
        for r in records:
            self.assertEqual((r["task_id"], r["status"]), (7, "accepted"))
            self.assertGreater(r["generate_s"], 0.009)
            self.assertGreater(r["reward_s"], 0.009)

    def test_without_a_task_there_is_no_session(self):
        @pt.session_context()
        def episode():
            return pt.get_session_id()
        self.configure(sessions=1)
        self.assertIsNone(episode())


if __name__ == "__main__":
    unittest.main()
