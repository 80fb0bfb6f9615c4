# test_example.py: examples/python/rollout.py and what its trace holds. SPDX-License-Identifier: MIT
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
except ImportError:
    torch = None
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CONVERT = os.environ.get("PERFTRACE_CONVERT")
SESSIONS = os.environ.get("PERFTRACE_SESSIONS")
STEPS = 12
SAMPLES = STEPS * 6 * 6  # of six tasks, six of each


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
@unittest.skipUnless(CONVERT and SESSIONS, "PERFTRACE_CONVERT and PERFTRACE_SESSIONS name the tools")
class Example(unittest.TestCase):
    """The example, run once for all that is looked at."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="perftrace-example-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = folder.name
        cls.traces = os.path.join(cls.root, "trace")
        cls.merged = os.path.join(cls.root, "trace.json")
        done = subprocess.run([sys.executable, "-W", "ignore", os.path.join(TOP, "examples", "python", "rollout.py"),
                               "--dir", cls.traces, "--steps", str(STEPS)], capture_output=True, text=True,
                              timeout=280)
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.output = done.stdout
        subprocess.run([CONVERT, cls.traces, "-o", cls.merged], check=True, capture_output=True, text=True)

    def test_it_learns(self):
        first, last = map(float, re.search(r"reward (\S+) in .*, (\S+) in the last", self.output).groups())
        self.assertGreater(last, first, self.output)
        self.assertIn(f"\n{SAMPLES} rollouts, ", self.output)

    def test_the_trace(self):
        with open(self.merged, encoding="utf-8") as file:
            events = json.load(file, parse_constant=lambda name: self.fail(name))["traceEvents"]

        def count(name, ph):
            return sum(e["name"] == name and e["ph"] == ph for e in events)
        self.assertEqual([count("step", "b"), count("rollout", "b"), count("sample", "X"), count("score", "X")],
                         [STEPS, SAMPLES, SAMPLES, SAMPLES])
        self.assertEqual(count("optimize", "X"), STEPS)
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
        node = shutil.which("node") or shutil.which("nodejs")
        if node:
            check = subprocess.run([node, os.path.join(TOP, "tests", "checker", "check_trace.js"), self.merged],
                                   capture_output=True, text=True)
            self.assertEqual(check.returncode, 0, (check.stdout + check.stderr)[-2000:])

    def test_the_report_of_its_sessions(self):
        report = json.loads(subprocess.run([SESSIONS, "--json", self.traces], check=True, capture_output=True).stdout)
        self.assertEqual((report["summary"]["sessions"], report["summary"]["unfinished"]), (SAMPLES, 0))
        phases = {d["name"]: d["count"] for d in report["durations"]}
        self.assertEqual((phases["generate"], phases["reward"]), (SAMPLES, SAMPLES))

    def test_it_is_opened_in_a_browser(self):
        # As tests/browser does it: whatever speedscope holds, in Chromium, is compared with the file.
        work = os.environ.get("PERFTRACE_BROWSER_WORK")
        if not work:
            self.skipTest("PERFTRACE_BROWSER_WORK names no folder for the browser's packages")
        shots = os.path.join(work, "example")
        done = subprocess.run(["bash", os.path.join(TOP, "tests", "browser", "browser.sh"), TOP, work,
                               "open_in_speedscope.js", self.merged, shots, "CPU functions"],
                              capture_output=True, text=True, timeout=200)
        if done.returncode == 77:
            self.skipTest(done.stdout.strip().splitlines()[-1])
        self.assertEqual(done.returncode, 0, (done.stdout + done.stderr)[-4000:])
        # Each process and the profiles of both steps.
        for name, at_least in ((r"\[trainer\] Rank 0, Process", 12), (r"\[scorer\] Rank 0, Process \(run 1", 1),
                               (r"\[scorer\] Rank 0, Process \(run 2", 1), (r"Rank 0, CPU functions \(run 1\)", 100),
                               (r"Rank 0, CPU functions \(run 2\)", 100)):
            counts = [int(n) for n in re.findall(rf"^{name}.*: (\d+) scopes$", done.stdout, re.MULTILINE)]
            self.assertGreaterEqual(sum(counts), at_least, done.stdout)
        self.assertGreater(os.path.getsize(os.path.join(shots, "speedscope.png")), 10000)


if __name__ == "__main__":
    unittest.main()
