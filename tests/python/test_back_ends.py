# test_back_ends.py: functions of Python as back ends that fail. SPDX-License-Identifier: MIT
import logging
import os
import random
import signal
import time
import unittest

from perftrace import profiler as pr
from test_profilers import Case


class Failures(Case):
    def test_a_start_that_raises(self):
        ran = []
        p = self.open(pr.BackEnd(start=lambda window: 1 / 0, stop=ran.append, name="bad"))
        with p.record("x"):
            ran.append("body")
        self.assertFalse(p.start())
        self.assertEqual(ran, ["body"])
        self.assertEqual([type(e) for e in p.errors], [ZeroDivisionError] * 2)
        text = "\n".join(text for _, text in self.said)
        self.assertIn("start of the back end bad raised ZeroDivisionError: division by zero", text)
        self.assertIn("bad does not record: ZeroDivisionError: division by zero", text)

    def test_a_stop_and_a_step_that_raise(self):
        def step(number, action):
            raise KeyError(number)
        p = self.open(pr.BackEnd(stop=lambda window: 1 / 0, step=step, extension=".txt"))
        p.start()
        for _ in range(30):
            p.step()
        p.stop()
        self.assertEqual(len(p.errors), 16)
        self.assertEqual(type(p.errors[-1]), ZeroDivisionError)
        texts = [text for _, text in self.said]
        self.assertEqual(sum("step of the back end" in text for text in texts), 1, texts)
        self.assertEqual(sum("lost the window" in text for text in texts), 1, texts)
        self.assertEqual(self.files("*.txt"), [])  # an empty file would tell nobody anything

    def test_interruptions_pass(self):
        for what in ("start", "stop"):
            for error in (KeyboardInterrupt, SystemExit):
                def raises(window):
                    raise error(5)
                p = self.open(pr.BackEnd(**{what: raises}))
                with self.assertRaises(error) as caught:
                    with p.record():
                        pass
                self.assertEqual(caught.exception.args, (5,))
                p.close()
                self.assertEqual(pr.status().state, pr.State.IDLE)

    def test_a_signal_while_the_back_end_works(self):
        def slow(window):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(1)
        p = self.open(pr.BackEnd(stop=slow))
        p.start()
        with self.assertRaises(KeyboardInterrupt):
            p.stop()
        self.assertEqual(pr.status().state, pr.State.IDLE)

    def test_no_signal_is_lost_wherever_it_comes_in(self):
        rng = random.Random(3)
        for kind in (BaseException, Exception):
            class Stop(kind):
                pass
            raised = []

            def handler(number, frame):
                raised.append(number)
                raise Stop
            before = signal.signal(signal.SIGALRM, handler)
            self.addCleanup(signal.signal, signal.SIGALRM, before)
            p = self.open(pr.BackEnd(start=str, stop=str, step=lambda step, action: None))
            caught = 0
            for _ in range(1000):
                try:
                    signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, 3e-4))
                    for _ in range(3):
                        p.start()
                        p.step()
                        p.stop()
                    time.sleep(0.001)
                except Stop:
                    caught += 1
                ended = False
                while not ended:
                    try:
                        signal.setitimer(signal.ITIMER_REAL, 0)
                        p.stop()
                        ended = True
                    except Stop:
                        caught += 1
            self.assertEqual(caught, len(raised))
            self.assertGreater(caught, 0)
            self.assertEqual(pr.status().state, pr.State.IDLE)
            p.close()

    def test_a_log_that_raises(self):
        def log(level, text):
            raise LookupError(text)
        p = self.open(log=log)
        p.start()
        p.stop()
        self.assertTrue(p.errors and all(type(e) is LookupError for e in p.errors))

    def test_the_logger_that_is_used_without_a_log(self):
        with self.assertLogs("perftrace", logging.INFO) as logged:
            p = self.open(pr.BackEnd(start=lambda window: 1 / 0), log=None)
            p.start()
        self.assertTrue(any(record.exc_info for record in logged.records))
        self.assertEqual({record.levelname for record in logged.records}, {"ERROR", "WARNING"})

    def test_a_back_end_that_calls_its_profiler(self):
        found = []

        def start(window):
            for call in (p.stop, p.close, p.start, p.step, p.stage("x").__enter__):
                try:
                    call()
                except RuntimeError as error:
                    found.append(str(error))
        p = self.open(pr.BackEnd(start=start))
        p.start()
        self.assertEqual(len(found), 5)
        self.assertEqual(pr.status().state, pr.State.RECORDING)

    def test_a_description_of_any_length(self):
        def fails(window):
            raise ValueError("ü" * 5000)
        p = self.open(pr.BackEnd(start=fails))
        self.assertFalse(p.start())
        self.assertTrue(any("does not record: ValueError: üü" in text for _, text in self.said))


if __name__ == "__main__":
    unittest.main()
