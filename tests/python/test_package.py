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
       "import perftrace; print(perftrace.__file__)\n"
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
        # Processor time of the quickest of many, which is what the code takes; others make it longer.
        code = ("import ctypes\n"
                "begin = __import__('time').process_time_ns()\n"
                "from perftrace import perf_tracer\n"
                "print(__import__('time').process_time_ns() - begin)")
        # With byte code kept, as it is of what is installed.
        env = {**os.environ, "PYTHONPYCACHEPREFIX": self.dir}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        took = [int(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env,
                                   check=True).stdout) for _ in range(15)]
        self.assertLess(min(took), 30e6)

    def test_what_is_not_needed_is_not_loaded(self):
        done = subprocess.run([sys.executable, "-c",
                               "import ctypes, sys\n"
                               "from perftrace import perf_tracer\n"
                               "print(*sys.modules)"], capture_output=True, text=True, check=True)
        for module in ("torch", "numpy", "multiprocessing", "asyncio", "inspect", "dataclasses", "json"):
            self.assertNotIn(module, done.stdout.split())


if __name__ == "__main__":
    unittest.main()
