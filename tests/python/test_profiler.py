# test_profiler.py: torch.profiler on chosen steps, and ranks that torch starts. SPDX-License-Identifier: MIT
import gzip
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest
import warnings

import traced
from perftrace import _profiler
from perftrace import perf_tracer as pt

try:
    import torch
except ImportError:
    torch = None
KINETO = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "data", "torch",
                      "kineto.json")
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


class Marking(traced.Case):
    """What is added to the files of the many versions of torch: what they do not say themselves."""

    def marked(self, text):
        raw, out = os.path.join(self.root, "raw"), os.path.join(self.root, "out")
        with open(raw, "w", encoding="utf-8") as file:
            file.write(text)

        def once(pairs):
            self.assertEqual(len({key for key, _ in pairs}), len(pairs), [key for key, _ in pairs])
            return dict(pairs)
        _profiler.mark(raw, out, 12345, 3)
        with open(out, encoding="utf-8") as file:
            return json.load(file, object_pairs_hook=once)

    def test_each_version(self):
        few = [{"ph": "X", "ts": 5.5, "name": "x"}]
        many = few * 40000  # more than is looked at from the start
        epoch = [{"ph": "X", "ts": 1790000000000000.5, "name": "x"}]
        rank = {"distributedInfo": {"rank": 7}}
        base = {"baseTimeNanoseconds": 99}
        for name, given, want_base, want_rank in (
                ("no Kineto", few, 12345, 3), ("nothing", {"traceEvents": few}, 12345, 3),
                ("nothing, long", {"traceEvents": many}, 12345, 3),
                ("before", {**base, **rank, "traceEvents": many}, 99, 7),
                ("behind", {"traceEvents": many, "traceName": "x", **base, **rank}, 99, 7),
                ("of both one", {**rank, "traceEvents": many, **base}, 99, 7),
                ("epoch", {"traceEvents": epoch}, None, 3), ("empty", {"traceEvents": []}, None, 3)):
            with self.subTest(name):
                document = self.marked(json.dumps(given, indent=1))
                self.assertEqual(document.get("baseTimeNanoseconds"), want_base)
                self.assertEqual(document["distributedInfo"]["rank"], want_rank)
                events = given if isinstance(given, list) else given["traceEvents"]
                self.assertEqual(document["traceEvents"], events)


class Merging(traced.Case):
    """PerfTracer.merge_profiler_trace, on an invented profile with Kineto's fields."""

    def setUp(self):
        super().setUp()
        with open(KINETO, encoding="utf-8") as file:
            self.document = json.load(file)
        first = next(e for e in self.document["traceEvents"] if e["name"] == "ProfilerStep#1")
        self.first_ns = round(first["ts"] * 1000)  # of all its events, from its zero

    def merged(self):
        if not CONVERT:
            self.skipTest("PERFTRACE_CONVERT does not name the tool")
        pt.reset()
        out = os.path.join(self.root, "merged.json")
        done = subprocess.run([CONVERT, self.root, "-o", out], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(out, encoding="utf-8") as file:
            return json.load(file)

    def check(self, begin_ns):
        """That the events of the streams are on tracks of theirs, under the rank, and that the first
        event of the profile was at begin_ns."""
        document = self.merged()
        events = document["traceEvents"]
        epoch = int(document["metadata"]["perftrace_convert"]["base_epoch_ns"])
        processes = {e["pid"]: e["args"] for e in events if e["name"] == "process_name"}
        threads = {(e["pid"], e["tid"]): e["args"]["name"].strip() for e in events
                   if e["name"] == "thread_name"}
        device = [e for e in self.document["traceEvents"] if e["ph"] == "X" and e["pid"] == 0]
        found = [e for e in events if e["ph"] == "X" and "stream" in threads[e["pid"], e["tid"]]]
        self.assertEqual(len(found), len(device))
        for want, got in zip(sorted(device, key=lambda e: (e["ts"], e["name"])),
                             sorted(found, key=lambda e: (e["ts"], e["name"]))):
            self.assertEqual((got["name"], threads[got["pid"], got["tid"]]),
                             (want["name"], f"stream {want['tid']}"))
            self.assertEqual(processes[got["pid"]]["rank"], 3)
            self.assertIn("Rank 3", processes[got["pid"]]["name"])
            true = begin_ns + round(want["ts"] * 1000) - self.first_ns
            # The clock of the rank's own trace and the epoch's agree as far as they were read together.
            self.assertLess(abs(epoch + round(got["ts"] * 1000) - true), 100000, want)
            self.assertAlmostEqual(got["dur"], want["dur"], 2)
        return events

    def test_by_its_own_base_time(self):
        tracer = self.configure(rank=3, role="actor")
        zero = time.time_ns()
        self.document["baseTimeNanoseconds"] = zero
        before = json.dumps(self.document)
        with pt.trace_scope("around"):
            path = tracer.merge_profiler_trace(self.document, 5, args={"global_step": 1, "note": "x"})
        self.assertEqual(os.path.basename(path), "traces-r3.torch-step1.json")
        self.assertEqual(json.dumps(self.document), before)
        events = self.check(zero + self.first_ns)
        mm = next(e for e in events if e["name"] == "aten::mm")
        self.assertEqual((mm["args"]["note"], mm["args"]["Sequence number"]), ("x", 11))

    def test_by_the_time_it_is_told_where_it_has_none(self):
        for clock in (time.time_ns, time.monotonic_ns):
            with self.subTest(clock.__name__):
                self.setUp()
                tracer = self.configure(rank=3)
                del self.document["baseTimeNanoseconds"]
                begin, told = time.time_ns(), clock()
                pt.instant("now")
                tracer.merge_profiler_trace(self.document, told)
                self.check(begin)

    def test_a_file_a_packed_file_and_a_list_of_events(self):
        tracer = self.configure(rank=3)
        pt.instant("now")
        base = self.document["baseTimeNanoseconds"] = time.time_ns()
        plain, packed = (os.path.join(self.root, name) for name in ("a.trace", "b.trace"))
        for path, opened in ((plain, open), (packed, gzip.open)):
            with opened(path, "wt", encoding="utf-8") as file:
                json.dump(self.document, file)
        paths = [tracer.merge_profiler_trace(*each) for each in (
            (plain, 0), (pathlib.Path(packed), 0),
            (self.document["traceEvents"], base + self.first_ns))]
        self.assertEqual([os.path.basename(p) for p in paths],
                         ["traces-r3.torch.json", "traces-r3.torch.2.json", "traces-r3.torch.3.json"])
        documents = []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                documents.append(json.load(file))
        self.assertEqual([d["traceEvents"] for d in documents], [self.document["traceEvents"]] * 3)
        self.assertEqual([d["baseTimeNanoseconds"] for d in documents], [base] * 3)
        self.assertEqual([d["distributedInfo"]["rank"] for d in documents], [3] * 3)
        for path in (plain, packed, *paths[1:]):
            os.unlink(path)
        self.check(base + self.first_ns)

    def test_what_is_no_trace(self):
        tracer = self.configure(rank=3)
        with self.assertRaisesRegex(RuntimeError, "no event of the trace has a time"):
            tracer.merge_profiler_trace({"traceEvents": [
                {"ph": "M", "ts": 1}, {"ph": "X", "ts": "5"}, {"ph": "X", "ts": float("nan")}, {}, None]}, 0)
        for bad in (5, None, {"traceEvents": 7}, {}):
            with self.assertRaisesRegex(TypeError, "no trace"):
                tracer.merge_profiler_trace(bad, 0)
        with self.assertRaises(FileNotFoundError):
            tracer.merge_profiler_trace(os.path.join(self.root, "none.json"), 0)
        broken = os.path.join(self.root, "broken")
        with open(broken, "w") as file:
            file.write("{")
        with self.assertRaises(ValueError):
            tracer.merge_profiler_trace(broken, 0)
        # A step that is no number names no file; arguments of any kind are taken.
        event = [{"ph": "X", "name": "x", "ts": 5, "dur": 1, "pid": 1, "tid": 1}]
        path = tracer.merge_profiler_trace(event, time.time_ns(), args={"global_step": "../x", "o": object()})
        self.assertEqual(os.path.basename(path), "traces-r3.torch.json")
        tracer.merge_profiler_trace(event, time.time_ns(), args=7)
        self.assertEqual(len(self.files("*.torch*.json")), 2)

    def test_while_nothing_is_recorded(self):
        tracer = self.configure(rank=3, enabled=False)
        self.assertIsNone(tracer.merge_profiler_trace(self.document, 0))
        self.assertEqual(self.files("*.torch*"), [])


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

    def test_two_ranks_of_torchrun(self):
        script = os.path.join(self.root, "work.py")
        with open(script, "w") as file:
            file.write("from perftrace import perf_tracer as pt\n"
                       f"pt.configure(pt.PerfTracerConfig(dir={self.root!r}, enabled=True), rank=None)\n"
                       "with pt.trace_scope('work'):\n"
                       "    pt.instant('point')\n")
        # Redirected: with nothing to redirect, Debian's torch 1.13 fails under its Python 3.11.
        subprocess.run([sys.executable, "-W", "ignore", "-m", "torch.distributed.run", "--standalone",
                        "--nproc_per_node", "2", "-r", "1", "-t", "1",
                        "--log_dir", os.path.join(self.root, "logs"), script], check=True, timeout=240,
                       capture_output=True)
        for rank in (0, 1):
            path, = self.files(f"traces-r{rank}.jsonl")
            lines = traced.read(path)
            self.assertEqual((lines[0]["args"]["rank"], lines[0]["args"]["world_size"]), (rank, 2))
            self.assertEqual(sorted((e["name"], e["args"]["rank"]) for e in lines if e["ph"] != "M"),
                             [("point", rank), ("work", rank)])

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
