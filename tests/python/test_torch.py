# test_torch.py: torch.profiler as a back end of windows, with a torch of our own and with the real one.
# SPDX-License-Identifier: MIT
import gzip
import json
import os
import sys
import threading
import types
import unittest
from unittest import mock

import traced
from perftrace import profiler as pr

try:
    import torch
except ImportError:
    torch = None


class FakeProfile:
    made = []

    def __init__(self, **arguments):
        self.arguments, self.calls, self.threads = arguments, [], set()
        FakeProfile.made.append(self)

    def start(self):
        self.calls.append("start")
        self.threads.add(threading.get_ident())

    def stop(self):
        self.calls.append("stop")
        self.threads.add(threading.get_ident())

    def step(self):
        self.calls.append("step")

    def export_chrome_trace(self, path):
        self.calls.append("export")
        with open(path, "w") as file:
            json.dump({"traceEvents": [{"ph": "X", "name": "aten::mm", "ts": 5.5, "dur": 1}]}, file)


def fake_torch(gpus):
    module = types.ModuleType("torch")
    module.__path__ = []
    module.cuda = types.SimpleNamespace(is_available=lambda: gpus > 0)
    module.profiler = types.ModuleType("torch.profiler")
    module.profiler.ProfilerActivity = types.SimpleNamespace(CPU="CPU", CUDA="CUDA")
    module.profiler.profile = FakeProfile
    return mock.patch.dict(sys.modules, {"torch": module, "torch.profiler": module.profiler})


def document(path):
    with gzip.open(path, "rt") as file:
        return json.load(file)


class Case(traced.Case):
    def setUp(self):
        super().setUp()
        FakeProfile.made = []
        self.said = []

    def open(self, back_end, **options):
        made = pr.Profiler(back_end, **{"dir": self.root, "log": lambda level, text: self.said.append(text),
                                        "name": pr.TraceName(role="actor", rank=0, world_size=2), **options})
        self.addCleanup(made.close)
        return made

    def one_window(self, back_end):
        with self.open(back_end, steps=[0]) as p:
            p.step(0)


class Contents(Case):
    def test_each_makes_its_arguments(self):
        off = {"profile_memory": False, "record_shapes": False, "with_stack": False}
        for gpus, contents, activities, extra in (
                (1, (), ["CPU", "CUDA"], {}), (0, (), ["CPU"], {}),
                (1, ["cpu"], ["CPU"], {}), (1, ["cuda"], ["CPU", "CUDA"], {}),
                (1, "cuda,cpu", ["CPU", "CUDA"], {}),
                (1, ["memory"], ["CPU"], {"profile_memory": True}),
                (1, ["shapes"], ["CPU"], {"record_shapes": True}),
                (1, ["stack"], ["CPU"], {"with_stack": True}),
                (1, ["cuda", "memory", "shapes", "stack"], ["CPU", "CUDA"],
                 {"profile_memory": True, "record_shapes": True, "with_stack": True})):
            with self.subTest(contents=contents, gpus=gpus), fake_torch(gpus):
                self.one_window(pr.Torch(contents))
                self.assertEqual(FakeProfile.made.pop().arguments, {"activities": activities, **off, **extra})

    def test_arguments_of_the_program_win_and_lists_stay_as_they_are(self):
        given = ["stack"]
        back_end = pr.Torch(given, with_stack=False, with_flops=True)
        with fake_torch(1):
            self.one_window(back_end)
        arguments = FakeProfile.made[0].arguments
        self.assertEqual((arguments["with_stack"], arguments["with_flops"]), (False, True))
        self.assertEqual((given, back_end.contents), (["stack"], ("stack",)))

    def test_others_are_refused(self):
        for bad in ("gpu", ["cpu", "nvtx"], ["CUDA"], " ", [""]):
            with self.assertRaisesRegex(ValueError, "known are cuda, cpu, memory, shapes, stack", msg=bad):
                pr.Torch(bad)

    def test_a_gpu_that_is_not_there_is_told(self):
        with fake_torch(0), self.assertLogs("perftrace", "WARNING") as logged:
            self.one_window(pr.Torch("cuda"))
        self.assertEqual(logged.output, ["WARNING:perftrace:torch finds no GPU: its profile has the CPU only"])
        self.assertEqual(FakeProfile.made[0].arguments["activities"], ["CPU"])

    def test_two_profilers_of_the_gpu_are_warned_of(self):
        for contents, warned in (("cuda", True), ("", True), ("cpu", False)):
            self.said.clear()
            self.open(["cuda", pr.Torch(contents)]).close()
            self.assertEqual(any("both use" in text and "torch" in text for text in self.said), warned, contents)


class Windows(Case):
    def test_windows_are_files_and_torch_is_not_stepped(self):
        with fake_torch(0), self.open(pr.Torch(), schedule=pr.Schedule(wait=1, warmup=1, active=2, repeat=2)) as p:
            for step in range(7):  # the second window is cut
                p.step(step)
        self.assertEqual([made.calls for made in FakeProfile.made], [["start", "stop", "export"]] * 2)
        found = sorted((pr.describe(path) for path in self.files("*.json.gz")), key=lambda n: n.first_step)
        self.assertEqual([(n.role, n.rank, n.first_step, n.last_step, n.steps_done, n.steps_wanted) for n in found],
                         [("actor", 0, 2, 3, None, None), ("actor", 0, 6, 6, 1, 2)])
        for path in self.files("*.json.gz"):
            trace = document(path)
            self.assertEqual([e["name"] for e in trace["traceEvents"]], ["aten::mm"])
            self.assertEqual(trace["distributedInfo"], {"rank": 0})
            self.assertGreater(trace["baseTimeNanoseconds"], 10**18)
        self.assertEqual([name for name in os.listdir(self.root) if name.startswith(".")], [])

    def test_a_body_that_fails(self):
        with fake_torch(0):
            p = self.open(pr.Torch(), discrete=True)
            with self.assertRaises(KeyError), p.stage("update"):
                raise KeyError("k")
        self.assertEqual(FakeProfile.made[0].calls, ["start", "stop", "export"])
        [path] = self.files("*.json.gz")
        self.assertTrue(pr.describe(path).aborted)
        self.assertEqual(len(document(path)["traceEvents"]), 1)

    def test_it_is_called_by_the_thread_that_steps(self):
        with fake_torch(0):
            p = self.open(pr.Torch())
            other = threading.Thread(target=p.start)
            other.start()
            other.join()
            self.assertEqual(FakeProfile.made, [])
            p.step(1)
            self.assertEqual(pr.status().state, pr.State.RECORDING)
            other = threading.Thread(target=p.stop)
            other.start()
            other.join()
            self.assertEqual(FakeProfile.made[0].calls, ["start"])
            p.step(2)
        self.assertEqual(FakeProfile.made[0].calls, ["start", "stop", "export"])
        self.assertEqual(FakeProfile.made[0].threads, {threading.get_ident()})

    def test_without_torch_the_body_runs_and_one_line_says_why(self):
        with mock.patch.dict(sys.modules, {"torch": None, "torch.profiler": None}):
            p = self.open(pr.Torch(), steps=[0, 2])
            ran = []
            for step in range(4):
                p.step(step)
                with p.stage("update"):
                    ran.append(step)
            p.close()
        self.assertEqual(ran, [0, 1, 2, 3])
        self.assertEqual(self.files("*.json.gz"), [])
        self.assertEqual(sum("torch does not record" in text for text in self.said), 1, self.said)
        self.assertTrue(any("torch is not installed" in text for text in self.said), self.said)


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
class Real(Case):
    def test_the_operators_of_the_recorded_steps(self):
        import warnings
        warnings.simplefilter("ignore")  # torch's own
        with self.open(pr.Torch(["cpu", "shapes"]), steps=[1, 2, 5]) as p:
            for step in range(7):
                p.step(step)
                a = torch.ones(32, 32)
                for _ in range(step):
                    (a @ a).sum().item()
        found = {}
        for path in self.files("*.json.gz"):
            events = document(path)["traceEvents"]
            name = pr.describe(path)
            found[name.first_step, name.last_step] = sum(e.get("name") == "aten::matmul" for e in events)
            self.assertFalse([e for e in events if str(e.get("name")).startswith("ProfilerStep")])
        self.assertEqual(found, {(1, 2): 1 + 2, (5, 5): 5})
        self.assertEqual(list(p.errors), [])


if __name__ == "__main__":
    unittest.main()
