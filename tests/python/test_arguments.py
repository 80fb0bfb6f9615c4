# test_arguments.py: whatever is given as an argument. SPDX-License-Identifier: MIT
import enum
import json
import unittest

import traced
from perftrace import perf_tracer as pt


class Colour(enum.IntEnum):
    RED = 3


class Odd:
    def __repr__(self):
        raise RuntimeError("no repr")


class Long:
    def __repr__(self):
        return "r" * 100000


class Arguments(traced.Case):
    def args_of(self, args):
        self.configure()
        with pt.trace_scope("x", args=args):
            pass
        got = self.one("x")["args"]
        got.pop("rank", None)
        return got

    def check(self, *pairs):
        """Each value in a scope of its own."""
        self.configure()
        for i, (value, _) in enumerate(pairs):
            with pt.trace_scope(f"x{i}", args={"v": value}):
                pass
        events = {e["name"]: e["args"] for e in self.events()}
        for i, (_, want) in enumerate(pairs):
            with self.subTest(i, want=str(want)[:60]):
                self.assertEqual(events[f"x{i}"], {"v": want, "rank": 0})

    def test_values(self):
        self.check(
            (1, 1), (-2**63, -2**63), (2**63 - 1, 2**63 - 1), (2**64 - 1, 2**64 - 1),
            (2**64, str(2**64)), (-2**63 - 1, str(-2**63 - 1)), (0.5, 0.5), (True, True),
            (None, None), ("text", "text"), ("", ""), ("\u2028 \x01 \" \\", "\u2028 \x01 \" \\"),
            ("\ud800x", "\ufffd\ufffd\ufffdx"), ("a\0b", "a\ufffdb"), (b"\xff", "b'\\xff'"),
            (Colour.RED, 3), ([1, "a", None], [1, "a", None]), ((), []), ({}, {}),
            ({"a": {"b": [True]}}, {"a": {"b": [True]}}), ({1: 2}, {"1": 2}),
            (float("nan"), "NaN"), (float("inf"), "Infinity"), ([float("inf")], ["inf"]),
            (Odd(), "<Odd: repr raises RuntimeError>"), (Long(), "r" * 4000 + "…"))

    def test_what_refers_to_itself_ends(self):
        loop = []
        loop.append(loop)
        got = self.args_of({"v": loop})["v"]
        self.assertIsInstance(got, list)

    def test_large_containers_are_cut_and_say_so(self):
        got = self.args_of({"v": list(range(5000)), "w": ["x" * 3000, "y" * 3000]})
        self.assertEqual(got["v"][:3] + got["v"][-1:], [0, 1, 2, "… 4800 more"])
        # Too long for a line: a text that says how much is missing.
        self.assertRegex(got["w"], r'^\["xxx.*…\[\+\d+ bytes\]$')

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        self.check((numpy.float32(0.5), 0.5), (numpy.int64(7), 7), (numpy.bool_(True), True))
        self.assertIn("array(", self.args_of({"v": numpy.arange(3)})["v"])

    def test_more_than_there_is_room_for(self):
        got = self.args_of({f"k{i}": i for i in range(20)})
        self.assertEqual([got[f"k{i}"] for i in range(11)], list(range(11)))
        self.assertEqual(got["more_args"], {f"k{i}": i for i in range(11, 20)})

    def test_keys_and_names_that_are_no_text(self):
        self.configure()
        with pt.trace_scope(5, args={1: 2, None: 3, (4,): 5}):
            pass
        with pt.trace_scope(["list"], args=[1, 2]):
            pass
        with pt.trace_scope("n", category=["list"], args="text"):
            pass
        by_name = {e["name"]: e["args"] for e in self.events()}
        self.assertEqual({k: v for k, v in by_name["5"].items() if k != "rank"},
                         {"1": 2, "None": 3, "(4,)": 5})
        self.assertEqual(by_name["['list']"]["args"], [1, 2])
        self.assertEqual(by_name["n"]["args"], "text")

    def test_the_callers_dict_is_not_changed(self):
        self.configure(role="actor")
        args = {"a": 1, "b": [2]}
        pt.instant("i", args=args)
        with pt.trace_scope("x", args=args):
            pass
        self.assertEqual(args, {"a": 1, "b": [2]})

    def test_a_rank_among_the_arguments_is_the_programs_and_stands_once(self):
        self.configure(rank=2)
        pt.instant("i", args={"rank": 7})
        path, = self.files("traces-r2.jsonl")
        pt.reset()
        with open(path, encoding="utf-8") as file:
            line, = [each for each in file if '"name": "i"' in each]
        self.assertIn('"args": {"rank": 7}, "s": "t"}', line)

    def test_keys_that_are_the_same_once_they_are_texts(self):
        self.configure()
        given = {1: "a", "1": "b", "1 (2)": "c"}
        want = {"1": "a", "1 (2)": "b", "1 (2) (2)": "c"}
        with pt.trace_scope("top", args=given):
            pt.instant("within", args={"v": given, "w": [given]})
        pt.instant("ints", args={"\0": 1, "\ufffd": 2})
        with pt.trace_scope("shaped", args={"\0": 1, "\ufffd": 2.5}):
            pass
        pt.counter("count", **{"\0": 1, "\ufffd": 2})
        many = {i: i for i in range(12)}
        pt.instant("many", args={"more_args": 0, **many})
        pt.instant("long", args={"k" * 70000 + "a": 1, "k" * 70000 + "b": 2})
        seen = {}
        pt.reset()
        path, = self.files("traces-r0.jsonl")
        with open(path, encoding="utf-8") as file:
            for line in file:
                pairs = []  # a dict would hide twins
                event = json.loads(line, object_pairs_hook=lambda p: pairs.append([k for k, _ in p]) or dict(p))
                for keys in pairs:
                    self.assertEqual(len(keys), len(set(keys)), line)
                event.get("args", {}).pop("rank", None)
                seen[event["name"]] = event.get("args")
        self.assertEqual(seen["top"], want)
        self.assertEqual(seen["within"], {"v": want, "w": [want]})
        self.assertEqual(seen["ints"], {"\ufffd": 1, "\ufffd (2)": 2})
        self.assertEqual(seen["shaped"], {"\ufffd": 1, "\ufffd (2)": 2.5})
        self.assertEqual(seen["long"], {"k" * 16000: 1, "k" * 16000 + " (2)": 2})
        self.assertEqual(seen["count"], {"\ufffd": 1, "\ufffd (2)": 2})
        self.assertEqual(seen["many"], {"more_args": 0, **{str(i): i for i in range(10)},
                                        "more_args (2)": {"10": 10, "11": 11}})


if __name__ == "__main__":
    unittest.main()
