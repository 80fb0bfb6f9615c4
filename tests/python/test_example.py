# test_example.py: examples/python/rollout.py and what its trace holds. SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

import traced

try:
    import torch
except ImportError:
    torch = None
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONVERT = os.environ.get("PERFTRACE_CONVERT")
SESSIONS = os.environ.get("PERFTRACE_SESSIONS")


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
@unittest.skipUnless(CONVERT and SESSIONS, "PERFTRACE_CONVERT and PERFTRACE_SESSIONS name the tools")
class Example(traced.Case):
    def test_rollout(self):
        out = os.path.join(self.root, "trace.json")
        traces = os.path.join(self.root, "trace")
        done = subprocess.run([sys.executable, "-W", "ignore", os.path.join(TOP, "examples", "python", "rollout.py"),
                               "--dir", traces, "--steps", "12"], capture_output=True, text=True, timeout=280)
        self.assertEqual(done.returncode, 0, done.stderr)
        first, last = map(float, re.search(r"reward (\S+) in .*, (\S+) in the last", done.stdout).groups())
        self.assertGreater(last, first, done.stdout)
        subprocess.run([CONVERT, traces, "-o", out], check=True, capture_output=True, text=True)
        with open(out, encoding="utf-8") as file:
            events = json.load(file, parse_constant=lambda name: self.fail(name))["traceEvents"]

        def count(name, ph):
            return sum(e["name"] == name and e["ph"] == ph for e in events)
        samples = 12 * 6 * 6
        self.assertEqual([count("step", "b"), count("rollout", "b"), count("sample", "X"), count("score", "X")],
                         [12, samples, samples, samples])
        self.assertEqual(count("optimize", "X"), 12)
        # The profiled steps: torch's operators within the scope that asked for them.
        train = [e for e in events if e["name"] == "train"]
        spans = [(b["ts"], e["ts"]) for b, e in zip(train[::2], train[1::2])]
        operators = [e for e in events if e["name"].startswith("aten::") and e["ph"] == "X"]
        self.assertGreater(len(operators), 100)
        for e in operators:
            self.assertTrue(any(begin <= e["ts"] and e["ts"] + e["dur"] <= end for begin, end in spans[2:4]), e)
        # Concurrent rollouts have tracks of their own.
        open_ = {}
        for e in sorted((e for e in events if e["name"] == "rollout"), key=lambda e: e["ts"]):
            open_[e["id"]] = open_.get(e["id"], 0) + (1 if e["ph"] == "b" else -1)
            self.assertIn(open_[e["id"]], (0, 1))
        report = json.loads(subprocess.run([SESSIONS, "--json", traces], check=True, capture_output=True).stdout)
        self.assertEqual((report["summary"]["sessions"], report["summary"]["unfinished"]), (samples, 0))
        phases = {d["name"]: d["count"] for d in report["durations"]}
        self.assertEqual((phases["generate"], phases["reward"]), (samples, samples))
        node = shutil.which("node") or shutil.which("nodejs")
        if node:
            check = subprocess.run([node, os.path.join(TOP, "tests", "checker", "check_trace.js"), out],
                                   capture_output=True, text=True)
            self.assertEqual(check.returncode, 0, (check.stdout + check.stderr)[-2000:])


if __name__ == "__main__":
    unittest.main()
