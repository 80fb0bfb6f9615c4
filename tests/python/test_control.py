# test_control.py: the program controlled from outside. SPDX-License-Identifier: MIT
import json
import os
import signal
import threading
import time
import unittest
import unittest.mock
import urllib.error
import urllib.request
import warnings

import traced
from perftrace import _control, perf_tracer as pt


def ask(method, route, body=None):
    """(status, document) of a request to this process."""
    request = urllib.request.Request(pt.control_url() + route, data=body, method=method,
                                     headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.loads(answer.read() or b"{}")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read() or b"{}")


def until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it does not come about")
        time.sleep(0.005)


class Case(traced.Case):
    def setUp(self):
        super().setUp()
        self.configure(options={"control": "on"})
        if pt.control_url() is None:
            self.skipTest("the library was built without the control server")

    def waiting(self):
        return [each["where"] for each in ask("GET", "/status")[1]["hold"]["waiting"]]

    def later(self, function):
        """On another thread, which is waited for at the end."""
        thread = threading.Thread(target=function)
        thread.start()
        self.addCleanup(thread.join)
        return thread


class Held(Case):
    def test_where_it_listens(self):
        self.assertRegex(pt.control_url(), r"^http://127\.0\.0\.1:\d+$")
        self.assertEqual(ask("GET", "/health")[0], 200)
        pt.reset()
        self.assertIsNone(pt.control_url())

    def test_without_a_hold_it_goes_on(self):
        self.assertIs(pt.hold("load"), False)
        self.assertIs(pt.hold(), False)

    def test_the_main_thread_waits_until_it_is_resumed(self):
        ask("POST", "/hold")
        seen = []

        def resume():
            until(lambda: self.waiting() == ["before\N{SNOWMAN}"])
            time.sleep(0.05)
            until(self.waiting)
            seen.append(time.monotonic())
            ask("POST", "/resume")
        self.later(resume)
        self.assertIs(pt.hold("before\N{SNOWMAN}"), True)
        self.assertGreaterEqual(time.monotonic(), seen[0])
        self.assertEqual(self.waiting(), [])

    def test_other_threads_wait_too(self):
        ask("POST", "/hold")
        found = []
        threads = [self.later(lambda: found.append(pt.hold(7))) for _ in range(3)]
        until(lambda: self.waiting() == ["7"] * 3)
        self.assertEqual(found, [])
        ask("POST", "/resume")
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 3)

    def test_a_time_limit(self):
        ask("POST", "/hold")
        for call in (lambda: pt.hold("x", timeout=0.05), lambda: pt.hold("x", timeout=0)):
            begin = time.monotonic()
            with self.assertRaises(TimeoutError):
                call()
            self.assertLess(time.monotonic() - begin, 20)
        found = []

        def elsewhere():
            try:
                pt.hold("y", timeout=0.05)
            except TimeoutError:
                found.append("timeout")
        self.later(elsewhere).join()
        self.assertEqual(found, ["timeout"])
        ask("POST", "/resume")

    def test_a_limit_that_is_none(self):
        ask("POST", "/hold")
        self.later(lambda: (time.sleep(0.2), ask("POST", "/resume")))
        self.assertTrue(pt.hold("x", timeout=float("inf")))

    def test_signals_are_handled_meanwhile(self):
        ask("POST", "/hold")

        def interrupt():
            until(self.waiting)
            time.sleep(0.05)  # beyond the first look
            os.kill(os.getpid(), signal.SIGINT)
        self.later(interrupt)
        with self.assertRaises(KeyboardInterrupt):
            pt.hold("interrupted")
        ask("POST", "/resume")

    def test_reset_ends_it(self):
        ask("POST", "/hold")

        def end():
            until(self.waiting)
            pt.reset()
        self.later(end)
        self.assertIs(pt.hold(), True)


    def test_one_that_ends_between_two_looks_was_waited_for(self):
        ask("POST", "/hold")
        hold, looks = _control.lib.hold, []

        def look(*args):
            looks.append(hold(*args))
            if len(looks) == 1:
                ask("POST", "/resume")
            return looks[-1]
        with unittest.mock.patch.object(_control.lib, "hold", look):
            self.assertIs(pt.hold("x"), True)
        self.assertEqual(looks, [_control.lib.ERR_TIMEOUT, 0])


class Unheard(traced.Case):
    def test_a_hold_that_nobody_could_end(self):
        self.configure(options={"control": "on"})
        if pt.control_url() is None:
            self.skipTest("the library was built without the control server")
        pt.reset()
        self.configure(options={"hold": 1, "control": "off"})
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            self.assertIs(pt.hold("x"), False)
        warning, = caught
        self.assertIn("nobody can end it", str(warning.message))
        self.assertEqual(warning.filename, __file__)
        pt.reset()
        self.assertIs(pt.hold("x"), False)  # a hold of a run ends with it

    def test_unconfigured(self):
        self.assertIs(pt.hold("x"), False)
        self.assertIsNone(pt.control_url())

    def test_the_child_of_a_fork_is_not_held(self):
        done = traced.run("configure(options={'control': 'on', 'hold': 1})\n"
                          "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
                          "pid = os.fork()\n"
                          "if pid == 0:\n"
                          "    os._exit(0 if pt.hold() is False and pt.control_url() is None else 1)\n"
                          "print(os.waitpid(pid, 0)[1])\n", self.root)
        self.assertEqual(done.stdout.strip(), "0")


if __name__ == "__main__":
    unittest.main()
