# test_processes.py: fork, spawn, exits. SPDX-License-Identifier: MIT
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

import traced

RECOVER = os.environ.get("PERFTRACE_RECOVER")


class Processes(traced.Case):
    def ran(self, code, **options):
        return traced.run(code, self.root, **options)

    def test_exits(self):
        for end, want in [("", 0), ("sys.exit(3)", 3), ("raise KeyboardInterrupt", -2)]:
            with self.subTest(end):
                self.setUp()
                done = self.ran("configure()\n"
                                "for i in range(100):\n"
                                "    with pt.trace_scope('x', args={'i': i}): pass\n" + end, check=False)
                self.assertEqual(done.returncode, want, done.stderr)
                self.assertEqual(len(self.events("x")), 100)

    def test_pt05_nothing_is_lost_however_it_ends(self):
        # 200 scopes in 2 s, written each 200 ms; how it ends, the status, the least that is in the file,
        # without the tool that recovers the rest. All at once: they sleep most of the time.
        ends = {"return": ("", 0, 200), "side thread": ("t = threading.Thread(target=libc.exit, args=(5,))\n"
                                                        "t.start(); t.join()", 5, 200),
                "_exit": ("os._exit(6)", 6, 170), "sys.exit": ("sys.exit(7)", 7, 200),
                "exception": ("raise ValueError", 1, 200), "interrupt": ("raise KeyboardInterrupt", -signal.SIGINT, 200),
                "SIGTERM": ("os.kill(os.getpid(), 15); time.sleep(10)", -signal.SIGTERM, 170),
                "SIGTERM is caught": ("os.kill(os.getpid(), 15); time.sleep(10)", -signal.SIGTERM, 200),
                "SIGKILL": ("os.kill(os.getpid(), 9); time.sleep(10)", -signal.SIGKILL, 170)}
        processes = {}
        for end, (code, _, _) in ends.items():
            options = {"flush_ms": 200, "sigterm": int(end.endswith("caught"))}
            processes[end] = subprocess.Popen(
                [sys.executable, "-c",
                 "import ctypes, os, sys, threading, time\n"
                 "from perftrace import perf_tracer as pt\n"
                 "libc = ctypes.CDLL(None)\n"
                 f"pt.configure(pt.PerfTracerConfig(dir={os.path.join(self.root, end)!r}, enabled=True,\n"
                 f"                                 options={options}), rank=0)\n"
                 "begin = time.monotonic()\n"
                 "for i in range(200):\n"
                 "    with pt.trace_scope('x', args={'i': i}): pass\n"
                 "    time.sleep(max(0, begin + (i + 1) * 0.01 - time.monotonic()))\n"
                 "print(time.monotonic(), flush=True)\n" + code],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        outcome = {}

        def wait(end, process):
            out, _ = process.communicate(timeout=60)
            outcome[end] = process.returncode, time.monotonic() - float(out)
        waiting = [threading.Thread(target=wait, args=each) for each in processes.items()]
        for t in waiting:
            t.start()
        for t in waiting:
            t.join()
        for end, (_, status, least) in ends.items():
            with self.subTest(end):
                self.assertEqual(outcome[end][0], status)
                self.assertLess(outcome[end][1], 2)  # seconds from its last scope
                with open(os.path.join(self.root, end, "traces-r0.jsonl"), encoding="utf-8") as file:
                    whole = file.read().rpartition("\n")[0].splitlines()
                events = [e for e in map(traced.strict, whole) if e["name"] == "x"]
                self.assertEqual([e["args"]["i"] for e in events], list(range(len(events))))
                self.assertGreaterEqual(len(events), least)

    def test_an_end_without_cleaning_up_is_recovered(self):
        if not RECOVER:
            self.skipTest("PERFTRACE_RECOVER does not name the tool")
        for end in ("os._exit(0)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 15)", "os.abort()"):
            with self.subTest(end):
                self.setUp()
                self.ran("configure()\n"
                         "scope = pt.trace_scope('open', args={'n': 1}); scope.__enter__()\n"
                         "for i in range(100):\n"
                         "    with pt.trace_scope('x', args={'i': i}): pass\n" + end, check=False)
                done = subprocess.run([RECOVER, "-r", self.root], capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(len(self.events("x")), 100)
                self.assertEqual([e["args"]["unfinished"] for e in self.events("open")], [True])

    def test_scopes_in_atexit_and_del(self):
        self.ran("import atexit\n"
                 "class D:\n"
                 "    def __del__(self):\n"
                 "        with pt.trace_scope('del'): pass\n"
                 "def last():\n"
                 "    with pt.trace_scope('atexit'): pass\n"
                 "atexit.register(last)\n"
                 "configure()\n"
                 "d = D(); del d\n"
                 "keep = D(); keep.me = keep\n")
        names = self.names()
        self.assertIn("atexit", names)
        self.assertIn("del", names)

    def test_fork(self):
        self.ran("configure()\n"
                 "with pt.trace_scope('parent'): pass\n"
                 "pid = os.fork()\n"
                 "if pid == 0:\n"
                 "    with pt.trace_scope('child'): pass\n"
                 "    sys.exit(0)\n"
                 "os.waitpid(pid, 0)\n"
                 "with pt.trace_scope('parent'): pass\n", arguments=["-W", "ignore"])
        self.assertEqual(self.names(), ["child", "parent", "parent"])
        self.assertEqual(len({e["pid"] for e in self.events()}), 2)

    def test_forks_while_threads_trace(self):
        if not RECOVER:
            self.skipTest("PERFTRACE_RECOVER does not name the tool")
        self.ran("configure(options={'overflow': 1}, session_tracer=pt.SessionTracerConfig(True))\n"
                 "stop = False\n"
                 "def spin():\n"
                 "    while not stop:\n"
                 "        for _ in range(50):\n"
                 "            with pt.trace_scope('thread', args={'n': 1}): pt.instant('point', args={'t': 'x'})\n"
                 "        time.sleep(0.002)\n"
                 "threads = [threading.Thread(target=spin) for _ in range(3)]\n"
                 "for t in threads: t.start()\n"
                 "with pt.trace_scope('outer'):\n"
                 "    for i in range(20):\n"
                 "        pid = os.fork()\n"
                 "        if pid == 0:\n"
                 "            with pt.trace_scope('child', args={'i': i}):\n"
                 "                session = pt.register_session(i)\n"
                 "            pt.trace_session_event('mark_finalized', session_id=session, status='accepted')\n"
                 "            os._exit(0) if i % 2 else sys.exit(0)\n"
                 "        assert os.waitpid(pid, 0)[1] == 0\n"
                 "stop = True\n"
                 "for t in threads: t.join()\n", arguments=["-W", "ignore"])
        subprocess.run([RECOVER, "-r", self.root], check=True, capture_output=True)
        children = self.events("child")
        self.assertEqual(sorted(e["args"]["i"] for e in children), list(range(20)))
        self.assertEqual(len({e["pid"] for e in children}), 20)
        # The scope around goes on in each child, and is ended by those that end in order.
        outer = self.events("outer")
        self.assertEqual([e["ph"] for e in outer], ["X"] * 11)
        self.assertEqual(sum(e["args"].get("forked", False) for e in outer), 10)
        self.assertEqual(sum(e["args"].get("exception") == "SystemExit: 0" for e in outer), 10)
        self.assertEqual(sorted(r["task_id"] for r in self.records()), list(range(20)))

    def test_a_fork_while_another_thread_loads_what_arguments_need(self):
        done = traced.run("from importlib.machinery import PathFinder\n"
                          "class Slow:\n"
                          "    def find_spec(self, name, path=None, target=None):\n"
                          "        if name == 'json':\n"
                          "            spec = PathFinder.find_spec(name)\n"
                          "            load = spec.loader.exec_module\n"
                          "            def slow(module):\n"
                          "                loading.set(); time.sleep(0.5); load(module)\n"
                          "            spec.loader.exec_module = slow\n"
                          "            return spec\n"
                          "assert 'json' not in sys.modules\n"
                          "sys.meta_path.insert(0, Slow())\n"
                          "loading = threading.Event()\n"
                          "configure()\n"
                          "thread = threading.Thread(target=pt.instant, args=('thread',), kwargs={'args': {'l': [1]}})\n"
                          "thread.start(); loading.wait()\n"
                          "child = os.fork()\n"
                          "if child == 0:\n"
                          "    pt.instant('child', args={'l': [2]}); pt.reset(); os._exit(0)\n"
                          "end = time.monotonic() + 10\n"
                          "while os.waitpid(child, os.WNOHANG)[0] == 0:\n"
                          "    if time.monotonic() > end:\n"
                          "        os.kill(child, 9); sys.exit('the child hangs')\n"
                          "    time.sleep(0.01)\n"
                          "thread.join()\n", self.root)
        self.assertNotIn("hangs", done.stderr)
        self.assertEqual(sorted(e["name"] for e in self.events("thread", "child")), ["child", "thread"])

    def test_a_pool_of_processes(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method):
                self.setUp()
                script = os.path.join(self.root, "pool.py")
                with open(script, "w") as file:
                    file.write(
                        "import multiprocessing, os, sys\n"
                        "from perftrace import perf_tracer as pt\n"
                        f"config = pt.PerfTracerConfig(dir={self.root!r}, enabled=True)\n"
                        "def begin():\n"
                        "    if not pt.is_configured():\n"
                        "        pt.configure(config, rank=0)\n"
                        "@pt.trace_perf('work')\n"
                        "def work(i):\n"
                        "    return i * i\n"
                        "if __name__ == '__main__':\n"
                        "    pt.configure(config, rank=0)\n"
                        f"    context = multiprocessing.get_context({method!r})\n"
                        "    with context.Pool(3, begin) as pool:\n"
                        "        assert pool.map(work, range(60), 1) == [i * i for i in range(60)]\n"
                        "        pool.close(); pool.join()\n")
                subprocess.run([sys.executable, "-W", "ignore", script], check=True, timeout=120)
                if RECOVER:  # workers of a pool end by os._exit
                    subprocess.run([RECOVER, "-r", self.root], check=True, capture_output=True)
                    self.assertEqual(len(self.events("work")), 60)

    def test_sigterm_with_a_handler_of_python(self):
        self.ran("import signal\n"
                 "signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))\n"
                 "configure()\n"
                 "with pt.trace_scope('x'): pass\n"
                 "os.kill(os.getpid(), signal.SIGTERM)\n"
                 "time.sleep(10)\n")
        self.assertEqual(self.names(), ["x"])

    def test_sigterm_with_both_ends_a_wait(self):
        self.ran("import signal, subprocess\n"
                 "def end(*_):\n"
                 "    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
                 "    sys.exit(0)\n"
                 "signal.signal(signal.SIGTERM, end)\n"
                 "configure(options={'sigterm': 1})\n"
                 "with pt.trace_scope('x'): pass\n"
                 "child = subprocess.Popen(['sh', '-c', 'while kill $PPID; do sleep 0.2; done'])\n"
                 "try:\n"
                 "    child.wait()\n"
                 "finally:\n"
                 "    child.kill()\n")
        self.assertEqual(self.names(), ["x"])

    def test_sigterm_with_the_librarys(self):
        done = self.ran("configure(options={'sigterm': 1})\n"
                        "with pt.trace_scope('x'): pass\n"
                        "os.kill(os.getpid(), 15)\n"
                        "time.sleep(10)\n", check=False)
        self.assertEqual(done.returncode, -signal.SIGTERM)
        self.assertEqual(self.names(), ["x"])


if __name__ == "__main__":
    unittest.main()
