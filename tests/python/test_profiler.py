# test_profiler.py: torch.profiler on chosen steps. SPDX-License-Identifier: MIT
import json
import os
import subprocess
import sys
import time
import unittest
import warnings

import traced
from perftrace import perf_tracer as pt

try:
    import torch
except ImportError:
    torch = None
CONVERT = os.environ.get("PERFTRACE_CONVERT")


class WithoutTorch(traced.Case):
    def test_one_warning_and_the_scopes_all_the_same(self):
        self.configure(profile_steps=[1])
        found, sys.modules["torch"] = sys.modules.get("torch"), None
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                for _ in range(3):
                    with pt.trace_scope("step", enable_profiler=True, args={"global_step": 1}):
                        pass
        finally:
            if found is None:
                del sys.modules["torch"]
            else:
                sys.modules["torch"] = found
        self.assertEqual(len([w for w in caught if "torch is not installed" in str(w.message)]), 1)
        self.assertEqual(len(self.events("step")), 3)

    def test_without_steps_nothing_is_asked_for(self):
        self.configure()
        with pt.trace_scope("step", enable_profiler=True, args={"global_step": 1}):
            pass
        self.assertEqual(self.one("step")["args"]["global_step"], 1)


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
class WithTorch(traced.Case):
    def setUp(self):
        super().setUp()
        warnings.simplefilter("ignore")

    def work(self):
        a = torch.ones(64, 64)
        return (a @ a).sum().item()

    def profiles(self):
        return [os.path.basename(p) for p in self.files("*.torch-*")]

    def test_only_on_configured_steps(self):
        self.configure(profile_steps=[2, 5])
        for step in range(7):
            with pt.trace_scope("step", enable_profiler=True, args={"global_step": step}):
                self.work()
            with pt.trace_scope("unasked", args={"global_step": step}):
                self.work()
        self.assertEqual(self.profiles(), ["traces-r0.torch-step2.json", "traces-r0.torch-step5.json"])
        self.assertEqual(len(self.events("step")), 7)

    def test_the_step_comes_from_a_scope_around_and_nested_requests_are_passed_over(self):
        self.configure(profile_steps=[3])
        with pt.trace_scope("outer", args={"global_step": 3}):
            with pt.trace_scope("a", enable_profiler=True):
                with pt.trace_scope("nested", enable_profiler=True, args={"global_step": 3}):
                    self.work()
            with pt.trace_scope("b", enable_profiler=True):
                self.work()
        self.assertEqual(self.profiles(), ["traces-r0.torch-step3.2.json", "traces-r0.torch-step3.json"])

    def test_it_is_stopped_on_exceptions(self):
        self.configure(profile_steps=[1])
        for _ in range(2):
            with self.assertRaises(KeyError):
                with pt.trace_scope("fails", enable_profiler=True, args={"global_step": 1}):
                    raise KeyError("k")
        self.assertEqual(len(self.profiles()), 2)

    def test_arguments_that_it_does_not_know(self):
        self.configure(profile_steps=[1])
        with pt.trace_scope("x", enable_profiler=True, profiler_args={"no_such": 1},
                            args={"global_step": 1}):
            self.work()
        self.assertEqual(self.profiles(), [])
        self.assertEqual(len(self.events("x")), 1)

    def test_one_timeline(self):
        if not CONVERT:
            self.skipTest("PERFTRACE_CONVERT does not name the tool")
        self.configure(rank=3, profile_steps=[1], role="actor")
        time.sleep(0.2)  # what starts at its own zero is seen to
        with pt.trace_scope("profiled", enable_profiler=True, args={"global_step": 1}):
            self.work()
            time.sleep(0.05)
        pt.reset()
        with open(self.files("*.torch-*")[0], encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(document["distributedInfo"]["rank"], 3)
        self.assertTrue(document["traceEvents"])
        out = os.path.join(self.root, "merged.json")
        done = subprocess.run([CONVERT, self.root, "-o", out], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        scope, = [e for e in events if e["name"] == "profiled"]
        operators = [e for e in events if e["name"].startswith("aten::") and e["ph"] == "X"]
        self.assertIn("aten::mm", {e["name"] for e in operators})
        for e in operators:
            self.assertTrue(scope["ts"] <= e["ts"] and
                            e["ts"] + e["dur"] <= scope["ts"] + scope["dur"], (scope, e))
        names = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        self.assertIn("Rank 3", names[operators[0]["pid"]])


if __name__ == "__main__":
    unittest.main()
