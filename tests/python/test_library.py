# test_library.py: the shared library that the package finds, or does not. SPDX-License-Identifier: MIT
import ctypes.util
import os
import subprocess
import sys
import unittest

import perftrace
import traced


class Library(traced.Case):
    def load(self, library, code="import perftrace"):
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env={**os.environ, "PERFTRACE_LIBRARY": library})

    def test_a_missing_library(self):
        done = self.load("/no/such/libperftrace.so")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("libperftrace cannot be loaded: /no/such/libperftrace.so: there is no such file",
                      done.stderr)
        self.assertIn("PERFTRACE_LIBRARY", done.stderr)

    def test_a_library_of_another_kind(self):
        other = ctypes.util.find_library("z") or ctypes.util.find_library("m") or "libc.so.6"
        done = self.load(other)
        self.assertIn("is not libperftrace 0.1", done.stderr)
        script = os.path.join(self.root, "no.so")
        with open(script, "w") as file:
            file.write("no library")
        self.assertIn("LibraryError", self.load(script).stderr)

    def test_a_library_of_another_version(self):
        with open(os.environ["PERFTRACE_LIBRARY"], "rb") as file:
            data = file.read()
        version = getattr(perftrace, "library_version").encode() + b"\0"
        self.assertIn(version, data)
        other = os.path.join(self.root, "libperftrace.so.0")
        with open(other, "wb") as file:
            file.write(data.replace(version, b"0.9.9\0"))
        self.assertIn(f"{other} is version 0.9.9; this package needs 0.1", self.load(other).stderr)

    def test_what_is_no_file(self):
        self.assertIn("LibraryError", self.load(self.root).stderr)
        empty = os.path.join(self.root, "empty.so")
        open(empty, "w").close()
        self.assertIn("LibraryError: libperftrace cannot be loaded: " + empty, self.load(empty).stderr)

    def test_a_program_can_go_on_without_the_library(self):
        done = self.load("/no/such.so", "try:\n    import perftrace\nexcept ImportError as e:\n    print(type(e).__name__)")
        self.assertEqual((done.returncode, done.stdout), (0, "LibraryError\n"))

    def test_the_structures_are_those_of_the_library(self):
        from perftrace import _library as lib
        c = lib.Config()
        lib.ctypes.memset(lib.ctypes.byref(c), 0x5a, lib.ctypes.sizeof(c))
        lib.config_init(c, lib.ctypes.sizeof(c))
        self.assertEqual(c.struct_size, lib.ctypes.sizeof(c))
        for name, kind in lib.Config._fields_[1:]:
            want = None if kind in (lib.c_char_p, lib.c_void_p) else \
                -1 if kind is lib.c_int else 2**(8 * lib.ctypes.sizeof(kind)) - 1
            self.assertEqual(getattr(c, name), want, name)


if __name__ == "__main__":
    unittest.main()
