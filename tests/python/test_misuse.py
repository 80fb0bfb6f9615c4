# test_misuse.py: what is wrong is refused where a program is set up, and never fails where it is traced.
# SPDX-License-Identifier: MIT
import gc
import os
import time
import types
import unittest
import warnings

import traced
from perftrace import _library
from perftrace import perf_tracer as pt


class Bad:
    """Nothing that one may ask of it works."""

    def __repr__(self):
        raise RuntimeError("no repr")

    def __hash__(self):
        raise RuntimeError("no hash")

    def __eq__(self, other):
        raise RuntimeError("no comparison")

    @property
    def value(self):
        raise RuntimeError("no value")

    keys = __index__ = __repr__


class Configuring(traced.Case):
    def test_what_is_no_configuration(self):
        for bad in (None, 5, "text", {}, {"enabled": True}, Bad):
            with self.assertRaisesRegex(TypeError, "a PerfTracerConfig is wanted"):
                pt.configure(bad, rank=0)
        with self.assertRaisesRegex(TypeError, "a SessionTracerConfig is wanted"):
            self.configure(session_tracer=5)
        self.assertFalse(pt.is_configured())

    def test_a_class_with_the_same_fields_will_do(self):
        # AReaL's own, or what is made of a file.
        given = types.SimpleNamespace(
            experiment_name="exp", trial_name="trial", fileroot=self.root, enabled=True, save_interval=1,
            profile_steps=None, session_tracer=types.SimpleNamespace(enabled=True, flush_threshold=1))
        before = repr(given)
        pt.configure(given, rank=1)
        with pt.trace_scope("x"):
            pass
        pt.trace_session_event("mark_finalized", session_id=pt.register_session(2), status="accepted")
        self.assertEqual(self.one("x")["args"]["rank"], 1)
        self.assertEqual(self.records()[0]["task_id"], 2)
        self.assertEqual(repr(given), before)

    def test_ranks(self):
        for bad, error in (("0", TypeError), (1.5, TypeError), ([], TypeError), (Bad(), TypeError),
                           (-1, ValueError), (2**31, ValueError), (2**80, TypeError)):
            with self.subTest(type(bad)), self.assertRaisesRegex(error, "rank"):
                self.configure(rank=bad)
        self.assertFalse(pt.is_configured())

    def test_options(self):
        for bad, error in (({"ring_size": "x"}, TypeError), ({"ring_size": 1.5}, TypeError),
                           ({"ring_size": -1}, ValueError), ({"ring_size": 2**62 * 4}, TypeError),
                           ({"flush_ms": 2**32}, ValueError), ({5: 1}, ValueError), ({(): 1}, ValueError),
                           ({"log": 1}, ValueError), (5, TypeError)):
            with self.subTest(bad), self.assertRaises(error):
                self.configure(options=bad)
        self.assertFalse(pt.is_configured())
        self.configure(options={"role": 5, "ring_dir": os.fsencode(self.root)})
        pt.instant("x")
        self.assertEqual(self.one("x")["args"]["role"], "5")

    def test_numbers_that_are_none(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.configure(save_interval="x", profile_steps=2.5, sessions="many")
        self.assertEqual(len(caught), 3, caught)
        pt.reset()
        self.configure(save_interval=2**40, profile_steps=7, sessions=2**40)
        pt.instant("x")
        self.one("x")

    def test_what_is_no_function(self):
        for decorate in (pt.trace_perf("x"), pt.trace_session("x"), pt.session_context()):
            for bad in (5, None, "text", property(len)):
                with self.assertRaisesRegex(TypeError, "only what can be called"):
                    decorate(bad)


class Recording(traced.Case):
    """Nothing that is given to a call that records makes it raise."""

    def test_names_and_categories(self):
        self.configure()
        given = [(5, "5"), (None, "None"), (b"x", "b'x'"), ("", ""), ("a\0b", "a\ufffdb"), (Bad(), "<Bad>"),
                 ("\ud800", "\ufffd\ufffd\ufffd"), (["l"], "['l']"), (1.5, "1.5")]
        for name, _ in given:
            for args in (None, {"n": 1}, {"t": "text"}):
                with pt.trace_scope(name, category=Bad(), args=args):
                    pt.instant(name, category=name)
            pt.counter(name, 1, category=Bad())
            pt.trace_perf(name, category=Bad())(lambda: 1)()
        events = self.events()
        self.assertEqual(len(events), len(given) * 8)
        self.assertEqual({e["name"] for e in events}, {want for _, want in given})
        self.assertEqual({e["cat"] for e in events if e["ph"] == "X"}, {"misc"})

    def test_long_names(self):
        self.configure()
        for args in (None, {"n": 1}, {"t": "text"}):
            with pt.trace_scope("n" * 1000000, category="c" * 1000000, args=args):
                pass
        with pt.trace_scope("key", args={"k" * 1000000: 1}):
            pass
        events = self.events()
        self.assertEqual(len(events), 4)
        for e in events[:3]:
            self.assertTrue(e["name"].startswith("nnn") and e["cat"].startswith("ccc"))
            self.assertLess(len(e["name"]), 100000)
        key, = [k for k in events[3]["args"] if k.startswith("kkk")]
        self.assertEqual(events[3]["args"][key], 1)

    def test_objects_as_names_are_not_kept(self):
        class Name:
            alive = 0

            def __init__(self):
                Name.alive += 1

            def __del__(self):
                Name.alive -= 1

            def __str__(self):
                return "same"
        self.configure()
        for _ in range(100):
            with pt.trace_scope(Name()), pt.trace_scope("x", category=Name()):
                with pt.trace_scope("y", category=Name(), args={"n": 1}):
                    pass
        gc.collect()
        self.assertEqual(Name.alive, 0)
        self.assertEqual(len(self.events("same")), 100)

    def test_keys_that_are_made_up(self):
        done = traced.run("configure(options={'overflow': 1})\n"
                          "for i in range(20000):\n"
                          "    with pt.trace_scope('x', args={f'k{i}': i}): pass\n"
                          "    with pt.trace_scope('y', args={f'k{i}': 'text'}): pass\n"
                          "    with pt.trace_scope('z', category=f'c{i}'): pass\n"
                          "print(len(pt._scopes._shapes), len(pt._scopes._plain))\n", self.root)
        kept = [int(n) for n in done.stdout.split()]
        self.assertLess(max(kept), 5000)
        events = self.events()
        self.assertEqual(len(events), 60000)
        for name, value in (("x", lambda i: i), ("y", lambda i: "text")):
            for i, e in enumerate(e for e in events if e["name"] == name):
                args = e["args"].get("args", e["args"])
                self.assertEqual(args[f"k{i}"], value(i))
        categories = {e["cat"] for e in events if e["name"] == "z"}
        self.assertLess(len(categories), 2000)
        self.assertIn("misc", categories)

    def test_huge_arguments(self):
        wide = [[[0] * 200] * 200] * 200
        deep = []
        for _ in range(100000):
            deep = [deep]
        values = {"text": "x" * 10**7, "bytes": b"\xff" * 10**7, "list": list(range(10**6)), "wide": wide,
                  "deep": deep, "int": 7**200000, "ints": [10**5000], "dict": dict.fromkeys(range(10**5), 1)}
        self.configure()
        begin = time.process_time()
        for name, value in values.items():
            with pt.trace_scope(name, args={"before": 1, "v": value, "after": 2}):
                pass
        with pt.trace_scope("keys", args=dict.fromkeys(map(str, range(10**5)), 1)):
            pass
        self.assertLess(time.process_time() - begin, 5)
        while deep:  # one by one: to free it at once goes deep
            deep = deep.pop()
        events = {e["name"]: e["args"] for e in self.events()}
        self.assertEqual(set(events), {*values, "keys"})
        for name in values:
            with self.subTest(name):
                self.assertEqual((events[name]["before"], events[name]["after"]), (1, 2))
                self.assertLess(len(str(events[name]["v"])), 100000)
        self.assertTrue(events["text"]["v"].startswith("xxx"))
        self.assertTrue(events["bytes"]["v"].startswith("b'\\xff"))
        self.assertTrue(events["int"]["v"].startswith(hex(7**200000)[:1000]))
        self.assertEqual(events["list"]["v"][:2], [0, 1])

    def test_containers_that_fail(self):
        class Items(dict):
            def items(self):
                raise KeyError("items")
        self.configure()
        for name, args in (("bad", Bad()), ("items", Items(a=1)), ("inner", {"a": 1, "v": Items(b=1), "o": Bad()})):
            with pt.trace_scope(name, args=args):
                pass
        events = {e["name"]: e["args"] for e in self.events()}
        self.assertEqual(set(events), {"bad", "items", "inner"})
        self.assertEqual({k: v for k, v in events["inner"].items() if k != "rank"},
                         {"a": 1, "v": "<Items: KeyError>", "o": "<Bad: repr raises RuntimeError>"})

    def test_a_repr_that_is_traced(self):
        class Traced:
            def __repr__(self):
                with pt.trace_scope("repr", args={"n": 1}):
                    return "traced"

        class Endless:
            def __repr__(self):
                with pt.trace_scope("endless", args={"v": self}):
                    return "end"
        self.configure()
        with pt.trace_scope("x", args={"v": Traced()}):
            pass
        with pt.trace_scope("y", args={"v": Endless()}):
            pass
        events = self.events()
        self.assertEqual([e["args"]["v"] for e in events if e["name"] == "x"], ["traced"])
        self.assertEqual(len([e for e in events if e["name"] == "repr"]), 1)
        self.assertEqual(len([e for e in events if e["name"] == "y"]), 1)
        self.assertEqual(pt.statistics()["unfinished"], 0)

    def test_recursion_up_to_the_limit(self):
        entered = [0]

        @pt.trace_perf("deep")
        def down():
            entered[0] += 1
            with pt.trace_scope("numbers", args={"n": 1}):
                with pt.trace_scope("plain"):
                    with pt.trace_scope("text", args={"t": "x"}):
                        down()
        self.configure(options={"overflow": 1})
        before, depth = pt.statistics()["strays"], _library.depth()
        with self.assertRaises(RecursionError):
            down()
        self.assertEqual(_library.depth(), depth)
        self.assertEqual(pt.statistics()["strays"], before)
        with pt.trace_scope("afterwards"):
            pass
        events = self.events()
        for name in ("deep", "numbers", "plain", "text"):
            found = [e["args"].get("exception", "") for e in events if e["name"] == name]
            # Of the innermost ones it may be that nothing could be told.
            self.assertIn(len(found) - entered[0], (-1, 0, 1))
            self.assertGreater(sum(text.startswith("RecursionError") for text in found), len(found) - 5)
        self.assertEqual(len([e for e in events if e["name"] == "afterwards"]), 1)

    def test_numbers_of_flows_steps_tasks_and_sessions(self):
        self.configure(sessions=1)
        before = pt.statistics()["refused"]
        for bad in ("x", None, 1.5, [], Bad(), 2**70):
            pt.step(bad)
            pt.sync(bad)
            pt.flow_start("f", bad)
            pt.flow_end("f", bad)
            pt.register_task(bad)
            self.assertIsNotNone(pt.register_session(bad))  # of no task
            pt.set_task_id(bad)
            pt.set_session_id(bad)
            with pt.trace_session_phase("generate"):
                pass
            self.assertEqual(pt.session_context()(lambda: 7)(), 7)
            pt.set_session_id(None)
            pt.set_task_id(None)
            pt.trace_session_event("mark_finalized", session_id=bad)
            pt.trace_session_event("mark_finalized", task_id=bad)
            pt.trace_session_event("increment_counter", session_id=0, name=bad, value=bad)
            self.assertEqual(pt.get_session_tracer().get_session_ids(bad), [])
        self.assertGreater(pt.statistics()["refused"] - before, 30)
        pt.step(3.0)
        pt.sync(4)
        pt.sync(5.0)
        with pt.trace_scope("step"):
            pass
        events = self.events()
        self.assertEqual([e["args"]["global_step"] for e in events if e["name"] == "step"], [3])
        self.assertEqual([(e["ph"], e["cat"], e["args"]["sync_id"]) for e in events if e["name"] == "perftrace_sync"],
                         [("i", "comm", 4), ("i", "comm", 5)])
        # The two ends of an arrow have one number, also where it is given by a text.
        flows = [e for e in events if e["name"] == "f"]
        self.assertEqual([s["id"] for s in flows[::2]], [f["id"] for f in flows[1::2]])
        self.assertEqual(len({e["id"] for e in flows}), 6)

    def test_a_text_is_the_same_flow_in_every_process(self):
        ids = set()
        for _ in range(2):
            self.setUp()
            traced.run("configure()\npt.flow_start('f', 'request-17')\n", self.root)
            ids.add(self.one("f")["id"])
        self.assertEqual(len(ids), 1)


if __name__ == "__main__":
    unittest.main()
