# test_windows.py: torch.profiler as the back end of windows, by functions of Python.
# SPDX-License-Identifier: MIT
import ctypes
import json
import os
import shutil
import tempfile
import unittest
import warnings

from test_schedule import Schedule

try:
    import torch
except ImportError:
    torch = None

TEXT, I64, INT, VOID = ctypes.c_char_p, ctypes.c_int64, ctypes.c_int, ctypes.c_void_p


class Name(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("prefix", TEXT), ("role", TEXT), ("host", TEXT), ("suffix", TEXT),
                ("first_step", I64), ("last_step", I64)] + [
        (n, INT) for n in ("rank", "world_size", "tp", "pp", "dp", "cp", "ep")] + [
        (n, I64) for n in ("pid", "time_ms", "number", "mb_first", "mb_last", "cycle", "part", "steps_done",
                           "steps_wanted")] + [("aborted", INT)]

    def __init__(self):
        super().__init__(ctypes.sizeof(Name))
        for name, kind in self._fields_[5:-1]:
            setattr(self, name, -1)


class Window(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [(n, TEXT) for n in ("dir", "path", "role", "stage", "mark")] + [
        (n, I64) for n in ("first_step", "last_step", "steps_done", "steps_wanted", "number", "time_ms")] + [
        ("aborted", INT)]


SPAN = ctypes.CFUNCTYPE(INT, VOID, ctypes.POINTER(Window))
STEP = ctypes.CFUNCTYPE(None, VOID, I64, INT)
LOG = ctypes.CFUNCTYPE(None, INT, TEXT, VOID)


class BackEnd(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", TEXT), ("extension", TEXT), ("gpu", INT), ("start", SPAN),
                ("stop", SPAN), ("step", STEP), ("describe", VOID), ("user", VOID)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("back_ends", TEXT), ("callback", ctypes.POINTER(BackEnd)),
                ("steps", TEXT), ("steps_apart", INT), ("discrete", INT), ("schedule", Schedule), ("dir", TEXT),
                ("name", Name), ("enable", INT), ("all_ranks", INT), ("ranks", TEXT), ("same_thread", INT),
                ("detail_categories", TEXT), ("cuda_library", TEXT), ("roc_library", TEXT), ("perf_command", TEXT),
                ("perf_hz", ctypes.c_uint32), ("log", LOG), ("log_user", VOID)]


@unittest.skipIf(torch is None, "torch is not installed (python3-torch)")
class Windows(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")
        self.lib = ctypes.CDLL(os.environ["PERFTRACE_LIBRARY"])
        self.lib.perftrace_profiler_step.argtypes = [VOID, I64]
        self.lib.perftrace_profiler_close.argtypes = [VOID]
        self.dir = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.dir)
        self.marks, self.actions, self.messages = [], [], []
        self.profile = None

    def start(self, user, window):
        self.profile = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU])
        self.profile.__enter__()
        return 0

    def stop(self, user, window):
        self.profile.__exit__(None, None, None)
        self.profile.export_chrome_trace(window[0].path.decode())
        self.marks.append(window[0].mark.decode())
        return 0

    def open(self, schedule):
        calls = BackEnd(ctypes.sizeof(BackEnd), b"torch.profiler", b".json", 1, SPAN(self.start), SPAN(self.stop),
                        STEP(lambda user, step, action: self.actions.append(action)))
        options = Options(struct_size=ctypes.sizeof(Options), callback=ctypes.pointer(calls), dir=self.dir.encode(),
                          enable=1, same_thread=1, schedule=schedule,
                          log=LOG(lambda level, text, user: self.messages.append(text.decode())))
        options.name = Name()
        options.name.role, options.name.rank, options.name.world_size = b"actor", 0, 8
        self.alive = calls, options
        profiler = VOID()
        self.assertEqual(self.lib.perftrace_profiler_open(ctypes.byref(options), ctypes.byref(profiler)), 0)
        return profiler

    def test_the_windows_of_a_schedule_are_traces_of_torch(self):
        schedule = Schedule(struct_size=ctypes.sizeof(Schedule), wait=1, warmup=1, active=2, repeat=2)
        profiler = self.open(schedule)
        for step in range(7):  # the second window is cut
            self.lib.perftrace_profiler_step(profiler, step)
            a = torch.ones(32, 32)
            (a @ a).sum().item()
        self.lib.perftrace_profiler_close(profiler)
        theirs = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2)
        self.assertEqual(self.actions, [theirs(step).value for step in range(7)])
        self.assertEqual(self.marks, ["", "partial 1/2"])
        files = sorted(os.listdir(self.dir))
        self.assertEqual(len(files), 2)
        self.assertRegex(files[0], r"^actor_step2-3_rank0-of-8_@[^_]+_pid%d_\d{17}\.json$" % os.getpid())
        self.assertRegex(files[1], r"^actor_step6_rank0-of-8_.*_cycle1_partial1-of-2\.json$")
        for name, products in zip(files, (2, 1)):
            with open(os.path.join(self.dir, name), encoding="utf-8") as file:
                trace = json.load(file)
            events = trace if isinstance(trace, list) else trace["traceEvents"]
            self.assertEqual(len([e for e in events if e.get("name") == "aten::matmul"]), products)
            self.assertTrue(any(name in text and "bytes" in text for text in self.messages), self.messages)


if __name__ == "__main__":
    unittest.main()
