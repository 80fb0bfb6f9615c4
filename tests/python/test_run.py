# test_run.py: python -m perftrace run. SPDX-License-Identifier: MIT
import os
import subprocess
import sys
import unittest

import traced

SCRIPT = """
import sys
import helper

def hot(i):
    return i + 1

def work(n):
    total = 0
    for _ in range(n):
        total = hot(total)
    return total

class Thing:
    def method(self):
        return work(10)

def generator():
    yield 1

def fails():
    raise ValueError

def recursive(n):
    return n and recursive(n - 1)

if __name__ == "__main__":
    for _ in range(5):
        Thing().method()
    list(generator())
    try:
        fails()
    except ValueError:
        pass
    recursive(30)
    helper.help_me()
    print("arguments", sys.argv[1:], __name__, __file__)
"""
HELPER = """
def help_me():
    return deeper()

def deeper():
    return 1
"""


class Run(traced.Case):
    def setUp(self):
        super().setUp()
        for name, text in (("script.py", SCRIPT), ("helper.py", HELPER)):
            with open(os.path.join(self.root, name), "w") as file:
                file.write(text)
        self.script = os.path.join(self.root, "script.py")

    def ran(self, *arguments, code=0, env=None):
        done = subprocess.run([sys.executable, "-m", "perftrace", *arguments], capture_output=True,
                              text=True, timeout=120, cwd=self.root, env={**os.environ, **(env or {})})
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def counts(self):
        counts = {}
        for e in self.events():
            if e["ph"] == "X":
                counts[e["name"]] = counts.get(e["name"], 0) + 1
        return counts

    def test_a_script(self):
        done = self.ran("run", "--dir", "out", self.script, "a", "-b", "--dir", "x")
        self.assertEqual(done.stdout.strip(),
                         f"arguments ['a', '-b', '--dir', 'x'] __main__ {self.script}")
        self.assertEqual(len(self.files("traces-u*.jsonl")), 1)

    def test_the_environment_and_the_launcher(self):
        self.ran("run", self.script, env={"PERFTRACE_DIR": "there", "PERFTRACE_ROLE": "actor",
                                         "RANK": "3", "WORLD_SIZE": "8", "LOCAL_RANK": "1",
                                         "MASTER_ADDR": "localhost", "MASTER_PORT": "1"})
        header = self.lines("traces-r3.jsonl")[0]["args"]
        self.assertEqual((header["rank"], header["world_size"], header["role"]), (3, 8, "actor"))

    def test_functions(self):
        self.ran("run", "--dir", "out", "--functions", "__main__,helper", "--limit", "100", self.script)
        self.assertEqual(self.counts(), {
            "__main__.Thing.method" if sys.version_info >= (3, 11) else "__main__.method": 5,
            "__main__.work": 5, "__main__.hot": 50, "__main__.fails": 1, "__main__.recursive": 31,
            "helper.help_me": 1, "helper.deeper": 1})
        events = {e["name"]: e for e in self.events()}
        outer, inner = events["helper.help_me"], events["helper.deeper"]
        self.assertTrue(outer["ts"] <= inner["ts"] and
                        inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"])
        self.assertEqual(self.lines()[-1]["args"]["unfinished"], 0)

    def test_the_hottest_functions_are_dropped_and_named(self):
        with open(self.script, "a") as file:
            file.write("    work(300000)\n    recursive(500)\n")
        done = self.ran("run", "--dir", "out", "--functions", "__main__", "--limit", "0.001", self.script)
        self.assertRegex(done.stderr, r"perftrace: (__main__\.)?hot was called too often to be recorded "
                                      r"within the limit: dropped after \d+ calls")
        self.assertLess(self.counts()["__main__.hot"], 10000)
        self.assertEqual(self.counts()["__main__.work"], 6)
        self.assertEqual(self.lines()[-1]["args"]["unfinished"], 0)

    def test_a_module(self):
        self.ran("run", "--dir", "out", "--functions", "helper", "-m", "script")
        self.assertEqual(self.counts(), {"helper.help_me": 1, "helper.deeper": 1})

    def test_exits_pass_through(self):
        with open(self.script, "a") as file:
            file.write("    sys.exit(7)\n")
        self.ran("run", "--dir", "out", self.script, code=7)
        with open(self.script, "a") as file:
            file.write("raise KeyError('why')\n")
        with open(self.script) as file:
            text = file.read().replace("    sys.exit(7)\n", "")
        with open(self.script, "w") as file:
            file.write(text)
        self.assertIn("KeyError: 'why'", self.ran("run", "--dir", "out", self.script, code=1).stderr)

    def test_what_is_wrong_is_said(self):
        self.assertIn("there is no such file", self.ran("run", "no.py", code=3).stderr)
        self.assertIn("--limit takes", self.ran("run", "--limit", "0", self.script, code=2).stderr)
        self.assertIn("usage", self.ran(code=2).stderr)
        self.assertIn("tracing cannot start",
                      self.ran("run", "--dir", os.path.join(self.script, "x"), self.script, code=4).stderr)
        self.assertIn("--functions", self.ran("run", "--help").stdout)
        self.assertRegex(self.ran("--version").stdout, r"^perftrace \d")


if __name__ == "__main__":
    unittest.main()
