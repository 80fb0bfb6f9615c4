# traced.py: what the tests of this folder share. SPDX-License-Identifier: MIT
import contextlib
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

from perftrace import perf_tracer as pt


def strict(text):
    """A line of JSON as every strict reader has it."""
    def refuse(name):
        raise ValueError(f"{name} is no JSON")
    return json.loads(text, parse_constant=refuse)


def read(path):
    with open(path, encoding="utf-8") as file:
        return [strict(line) for line in file]


class Case(unittest.TestCase):
    """A fresh folder for each test; the tracer is reset at its end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perftrace-python-")
        self.addCleanup(folder.cleanup)
        self.addCleanup(pt.reset)
        self.root = folder.name

    def config(self, **fields):
        return pt.PerfTracerConfig("exp", "trial", self.root, **{"enabled": True, **fields})

    def configure(self, rank=0, role=None, sessions=None, **fields):
        if sessions is not None:
            fields["session_tracer"] = pt.SessionTracerConfig(True, sessions)
        return pt.configure(self.config(**fields), rank=rank, role=role)

    def files(self, pattern):
        return sorted(glob.glob(os.path.join(self.root, "**", pattern), recursive=True))

    def lines(self, pattern="traces-*.jsonl"):
        """All events of the files, which are complete once the tracer is reset."""
        pt.reset()
        return [e for path in self.files(pattern) for e in read(path)]

    def events(self, *names):
        events = [e for e in self.lines() if e["ph"] != "M"]
        return [e for e in events if e["name"] in names] if names else events

    def names(self):
        return sorted(e["name"] for e in self.events())

    def records(self):
        return self.lines("sessions-r*.jsonl")

    def one(self, name):
        found = self.events(name)
        self.assertEqual(len(found), 1, found)
        return found[0]


def run(code, root, *, check=True, env=None, arguments=()):
    """Runs a program of its own, which finds its folder in `root`."""
    head = ("import asyncio, os, sys, threading, time\n"
            "from perftrace import perf_tracer as pt\n"
            f"root = {root!r}\n"
            "def configure(**fields):\n"
            "    rank = fields.pop('rank', 0)\n"
            "    pt.configure(pt.PerfTracerConfig('exp', 'trial', root, enabled=True, **fields), rank=rank)\n")
    done = subprocess.run([sys.executable, *arguments, "-c", head + code], capture_output=True,
                          text=True, timeout=120, env={**os.environ, **(env or {})})
    if check and done.returncode != 0:
        raise AssertionError(f"the program ended with {done.returncode}:\n{done.stderr}")
    return done


@contextlib.contextmanager
def quiet():
    """Errors that a test wants are not printed."""
    with contextlib.redirect_stderr(open(os.devnull, "w")):
        yield
