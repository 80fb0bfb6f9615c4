# test_interrupts.py: what comes up while something is recorded. SPDX-License-Identifier: MIT
import asyncio
import functools
import signal
import time
import unittest

import traced
from perftrace import _library
from perftrace import perf_tracer as pt


class Alarm(Exception):
    pass


class Liar:
    @property
    def __class__(self):
        raise ValueError("no class")


class Unequal(str):
    def __eq__(self, other):
        raise ZeroDivisionError

    __hash__ = str.__hash__


class Number(int):
    def __ge__(self, other):
        raise ValueError

    __le__ = __lt__ = __gt__ = __index__ = __ge__


class Handler:
    def ring(self, number, frame):
        raise Alarm

    def __call__(self, number, frame):
        raise Alarm


def ring(number, frame):
    raise Alarm


class Slow:
    """Its repr goes on until the alarm rings."""

    def __repr__(self):
        signal.setitimer(signal.ITIMER_REAL, 0.005)
        end = time.monotonic() + 10
        while time.monotonic() < end:
            pass
        return "slow"


class Interrupted(traced.Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(signal.signal, signal.SIGALRM, signal.getsignal(signal.SIGALRM))
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)

    def test_what_a_handler_raises_passes(self):
        self.configure(sessions=1)
        slow = Slow()
        uses = (lambda: pt.instant("x", args={"v": slow}), lambda: pt.instant("x", args={"v": [slow]}),
                lambda: pt.instant("x", args={slow: 1}), lambda: pt.instant("x", args=slow),
                lambda: pt.instant(slow), lambda: pt.trace_scope("x", args={"v": slow}),
                lambda: pt.flow_start("x", slow))
        for handler in (ring, Handler(), Handler().ring, functools.partial(ring)):
            signal.signal(signal.SIGALRM, handler)
            for i, use in enumerate(uses):
                with self.subTest(i, handler=str(handler)), self.assertRaises(Alarm):
                    use()
        # The same class of exception from a repr is the argument's own failure.

        class Fails:
            def __repr__(self):
                raise Alarm
        pt.instant("own", args={"v": Fails()})
        self.assertEqual(self.one("own")["args"]["v"], "<Fails: repr raises Alarm>")

    def test_a_time_out_at_any_place_passes(self):
        self.configure(options={"overflow": 1})
        signal.signal(signal.SIGALRM, ring)
        for i in range(300):
            with self.assertRaises(Alarm):
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + i * 1e-6)
                end = time.monotonic() + 10
                while time.monotonic() < end:
                    with pt.trace_scope("numbers", args={"x": 1.5}):
                        with pt.trace_scope("text", args={"t": "a"}), pt.trace_scope("plain"):
                            pt.instant("list", args={"l": [1, {"a": 2}]})
        pt.instant("after")
        lines = self.lines()
        footer, = [e["args"] for e in lines if e["name"] == "perftrace_footer"]
        self.assertEqual(footer["emitted"], footer["written"] + sum(footer["dropped"].values()))
        self.assertEqual(footer["emitted"] + footer["unfinished"], len([e for e in lines if e["ph"] != "M"]))
        self.assertEqual(len([e for e in lines if e["name"] == "after"]), 1)

    def test_a_scope_is_closed_when_telling_of_its_end_is_interrupted(self):
        class Ends(Exception):
            def __str__(self):
                raise SystemExit(3)

        @pt.trace_perf("function")
        def function():
            raise Ends

        @pt.trace_perf("coroutine")
        async def coroutine():
            raise Ends

        def block(scope):
            with scope:
                raise Ends

        async def in_session():
            pt.set_session_id(pt.register_session(1))
            with pt.trace_session_phase("generate"):
                raise Ends

        self.configure(sessions=1)
        for use in (function, lambda: block(pt.trace_scope("plain")),
                    lambda: block(pt.trace_scope("number", args={"n": 1})),
                    lambda: block(pt.trace_scope("text", args={"t": "x"})),
                    lambda: asyncio.run(coroutine()), lambda: asyncio.run(in_session())):
            with self.assertRaises(SystemExit):
                use()
            self.assertEqual(_library.depth(), 0)
        self.assertEqual(pt.statistics()["strays"], 0)
        self.assertEqual([e["ph"] for e in self.events("coroutine")], ["b", "e"])
        self.assertEqual(len(self.events("function", "plain", "number", "text")), 4)
        phase = self.records()[0]
        self.assertNotIn("unfinished", str(phase))

    def test_recursion_of_coroutines_and_phases_up_to_the_limit(self):
        @pt.trace_perf("coroutine")
        async def down():
            with pt.trace_session_phase("generate"):
                await down()

        @pt.trace_perf("generator")
        def below():
            yield from below()

        self.configure(sessions=1, options={"overflow": 1})
        pt.set_session_id(pt.register_session(1))
        self.addCleanup(pt.set_session_id, None)
        for _ in range(3):
            with self.assertRaises(RecursionError):
                asyncio.run(down())
            with self.assertRaises(RecursionError):
                list(below())
        events = self.events("coroutine", "generator")
        for name in ("coroutine", "generator"):
            kinds = [e["ph"] for e in events if e["name"] == name]
            self.assertGreater(len(kinds), 100)
            self.assertEqual(kinds.count("b"), kinds.count("e"), name)

    def test_objects_whose_methods_fail(self):
        self.configure(sessions=1)
        odd = [Liar(), Unequal("a"), Number(4), ["list"], {1: 2}]
        for value in odd:
            for args in (None, {"n": 1}, {"v": value}):
                with pt.trace_scope("x", category=value, args=args):
                    pt.instant("i", category=value, args=args)
            pt.step(value)
            pt.set_task_id(value)
            pt.register_task(value)
        pt.step(Number(4))
        with pt.trace_scope("four"):
            pass
        events = self.events()
        self.assertEqual(len([e for e in events if e["name"] == "x"]), 15)
        self.assertEqual([e["args"]["global_step"] for e in events if e["name"] == "four"], [4])

    def test_payloads_without_a_truth_value(self):
        class Array:
            def __bool__(self):
                raise ValueError("ambiguous")

            def __repr__(self):
                return "array"

        self.configure(sessions=1)
        pt.set_session_id(pt.register_session(1))
        self.addCleanup(pt.set_session_id, None)
        with pt.trace_session_phase("generate", start_payload=Array(), end_payload=Array()):
            pass
        pt.trace_session_event("mark_finalized", session_id=pt.get_session_id(), status="accepted")
        self.assertIn("array", str(self.records()))


if __name__ == "__main__":
    unittest.main()
