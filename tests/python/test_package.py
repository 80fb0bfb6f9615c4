# test_package.py: installing and importing. SPDX-License-Identifier: MIT
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "src", "bindings", "python")
PLAIN = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PERFTRACE_LIBRARY")}
LIBRARY = os.environ["PERFTRACE_LIBRARY"]
USE = ("from perftrace import perf_tracer as pt\n"
       "import perftrace; print(perftrace.__file__, perftrace.library_version)\n"
       "pt.configure(pt.PerfTracerConfig(dir='out', enabled=True), rank=0)\n"
       "with pt.trace_scope('x'): pass\n")


class Package(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="perftrace-package-")
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def wheel(self):
        out = subprocess.run([sys.executable, "-c",
                              "import build_backend, sys; print(build_backend.build_wheel(sys.argv[1]))",
                              self.dir], cwd=PACKAGE, env={**PLAIN, "PYTHONPATH": PACKAGE,
                                                           "PYTHONDONTWRITEBYTECODE": "1"},
                             capture_output=True, text=True, check=True)
        return os.path.join(self.dir, out.stdout.strip())

    def use(self, **env):
        done = subprocess.run([sys.executable, "-c", USE], cwd=self.dir, env={**PLAIN, **env},
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(os.path.join(self.dir, "out", "traces-r0.jsonl")))
        return done.stdout

    def test_a_wheel_with_the_library_in_it(self):
        site = os.path.join(self.dir, "site")
        shutil.unpack_archive(self.wheel(), site, "zip")
        self.assertTrue(os.path.exists(os.path.join(site, "perftrace", "py.typed")))
        shutil.copy(LIBRARY, os.path.join(site, "perftrace", "libperftrace.so.0"))
        self.assertIn(site, self.use(PYTHONPATH=site))

    def test_pip_without_a_network(self):
        if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
            self.skipTest("pip is not installed")
        site = os.path.join(self.dir, "site")
        copy = os.path.join(self.dir, "source")
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "build"))
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--target", site,
                               "--disable-pip-version-check", copy], capture_output=True, text=True,
                              env={**PLAIN, "PIP_ROOT_USER_ACTION": "ignore"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(site, self.use(PYTHONPATH=site, PERFTRACE_LIBRARY=LIBRARY))

    def test_importing_is_quick(self):
        # What it takes beyond ctypes and asyncio, which its users have anyway; instructions of a
        # kind are not to be had here, so only what is loaded is looked at.
        done = subprocess.run([sys.executable, "-c",
                               "import ctypes, asyncio, json, dataclasses, inspect, sys\n"
                               "before = set(sys.modules)\n"
                               "from perftrace import perf_tracer\n"
                               "print(*sorted(set(sys.modules) - before))"],
                              env={**os.environ}, capture_output=True, text=True, check=True)
        loaded = [m for m in done.stdout.split() if not m.startswith("perftrace")]
        for module in ("torch", "numpy", "multiprocessing", "yaml"):
            self.assertNotIn(module, loaded)


if __name__ == "__main__":
    unittest.main()
