# test_schedule.py: the schedule of windows is torch's. SPDX-License-Identifier: MIT
import ctypes
import os
import random
import unittest
import warnings

try:
    import torch
    from torch.profiler import schedule as torch_schedule
except ImportError:
    torch = None


class Schedule(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [
        (name, ctypes.c_int64) for name in ("skip_first", "wait", "warmup", "active", "repeat")] + [
        ("skip_first_wait", ctypes.c_int), ("steps_apart", ctypes.c_int), ("steps", ctypes.c_char_p),
        ("delay_iterations", ctypes.c_int64), ("max_iterations", ctypes.c_int64),
        ("max_iterations_exceeded", ctypes.c_int)]


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
class AgainstTorch(unittest.TestCase):
    def setUp(self):
        self.action = ctypes.CDLL(os.environ["PERFTRACE_LIBRARY"]).perftrace_schedule_action
        self.action.argtypes = [ctypes.POINTER(Schedule), ctypes.c_int64, ctypes.c_void_p]
        warnings.simplefilter("ignore")  # torch's, of schedules without warmup

    def test_every_action_of_10000_schedules(self):
        names = torch_schedule.__kwdefaults__.keys() | {"wait", "warmup", "active"}
        rng = random.Random(7)
        recorded = 0
        for _ in range(10000):
            given = {"skip_first": rng.randrange(12), "wait": rng.randrange(8), "warmup": rng.randrange(5),
                     "active": rng.randrange(1, 8), "repeat": rng.randrange(4)}
            if "skip_first_wait" in names:
                given["skip_first_wait"] = rng.randrange(2)
            theirs = torch_schedule(**given)
            ours = Schedule(struct_size=ctypes.sizeof(Schedule), **given)
            steps = list(range(60)) + [rng.randrange(1 << 40) for _ in range(4)]
            for step in steps:
                want = theirs(step).value
                self.assertEqual(self.action(ours, step, None), want, (given, step))
                recorded += want >= 2
        self.assertGreater(recorded, 10000)

    def test_what_torch_refuses_is_refused(self):
        for bad in ({"wait": -1}, {"warmup": -1}, {"repeat": -1}, {"skip_first": -1}, {"active": -1}):
            given = {"wait": 1, "warmup": 1, "active": 1, **bad}
            with self.assertRaises(AssertionError):
                torch_schedule(**given)
            ours = Schedule(struct_size=ctypes.sizeof(Schedule), **given)
            self.assertEqual(self.action(ours, 0, None), -1)


if __name__ == "__main__":
    unittest.main()
