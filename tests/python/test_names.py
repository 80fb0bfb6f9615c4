# test_names.py: schedules and names of profiles from Python. SPDX-License-Identifier: MIT
import os
import random
import unittest

import traced
from perftrace import profiler as pr


class Schedules(unittest.TestCase):
    def test_the_actions_of_cycles(self):
        # By hand, from the rule: wait, warmup, active, the last of these saves; skip_first before, once.
        rng = random.Random(5)
        for _ in range(300):
            given = {"skip_first": rng.randrange(6), "wait": rng.randrange(4), "warmup": rng.randrange(4),
                     "active": rng.randrange(1, 5), "repeat": rng.randrange(4)}
            schedule = pr.Schedule(**given)
            cycle = [0] * given["wait"] + [1] * given["warmup"] + [2] * (given["active"] - 1) + [3]
            right = [0] * given["skip_first"] + cycle * (given["repeat"] or 60)
            for step in range(40):
                self.assertEqual(schedule.action(step), right[step] if step < len(right) else 0, (given, step))
            self.assertEqual(schedule.windows, given["repeat"] or None)
            first = given["skip_first"] + given["wait"] + given["warmup"]
            self.assertEqual(schedule.first_step, first)
            self.assertEqual(schedule.window(first), (0, first, first + given["active"] - 1))
            if first:
                self.assertIsNone(schedule.window(first - 1))

    def test_listed_steps_and_iterations(self):
        for steps in ("1,3,5-7", [1, 3, 5, 6, 7], iter((7, 6, 5, 3, 1))):
            schedule = pr.Schedule(steps=steps)
            self.assertEqual([step for step in range(20) if schedule.action(step)], [1, 3, 5, 6, 7])
        self.assertEqual((schedule.windows, schedule.window(6)), (3, (2, 5, 7)))
        self.assertEqual(pr.Schedule(steps=[]).windows, 0)
        self.assertIsNone(pr.Schedule(steps="").first_step)
        tokens = pr.Schedule.tokens(5, 9)
        self.assertEqual((tokens.delay_iterations, tokens.max_iterations), (5, 4))
        self.assertEqual(pr.Schedule().windows, 1)
        self.assertEqual(pr.Schedule().window(3), (0, 0, None))

    def test_what_cannot_be_followed(self):
        for bad in ({"wait": -1, "active": 1}, {"active": 1, "steps": "1"}, {"steps": "x"}, {"active": 2**64},
                    {"active": 1.5}, {"wait": "2"}, {"steps": [1.5]},
                    {"skip_first": 2**63 - 1, "wait": 2**63 - 1, "active": 1}):
            with self.assertRaises(ValueError, msg=bad):
                pr.Schedule(**bad)
        for bad in (-1, 2**63, "1", None):
            with self.assertRaises(ValueError):
                pr.Schedule(active=1).action(bad)
        with self.assertRaises(ValueError):
            pr.Schedule.tokens(5, 5)


class Names(traced.Case):
    def test_there_and_back(self):
        # The time is local; zones are whole seconds off, so the milliseconds stay.
        name = pr.TraceName(prefix="actor", role="train", first_step=7, last_step=7, rank=5, world_size=16, tp=1,
                            pp=0, dp=2, cp=0, pid=4242, time_ms=1784638725123)
        text = pr.basename(name, ".json.gz")
        self.assertRegex(text, r"^actor_train_step7_rank5-of-16_tp1-pp0-dp2-cp0_pid4242_\d{14}123\.json\.gz$")
        self.assertEqual(pr.describe(text), name)
        self.assertEqual(pr.describe(os.path.join("/some/where", text)), name)
        part = pr.TraceName(role="r", rank=0, pid=1, time_ms=5, first_step=2, last_step=4, steps_done=3,
                            steps_wanted=9, aborted=True)
        self.assertEqual(pr.describe(pr.basename(part)), part)

    def test_long_labels_and_what_is_no_name(self):
        text = pr.basename(pr.TraceName(role="ü" * 400, rank=0, pid=1, time_ms=5), ".json")
        self.assertLessEqual(len(text.encode()), 255)
        for bad in ({"pid": -5, "time_ms": 1}, {"pid": 2**70, "time_ms": 1}, {"pid": 1, "time_ms": 1, "tp": 2**40},
                    {"pid": "1", "time_ms": 1}):
            with self.assertRaises(ValueError, msg=bad):
                pr.basename(pr.TraceName(**bad))
        with self.assertRaises(ValueError):
            pr.describe("notes.txt")
        with self.assertRaises(ValueError):
            pr.basename(pr.TraceName(pid=1, time_ms=1), "../x")

    def test_no_file_is_made_twice(self):
        name = pr.TraceName(role="r", rank=0, pid=1, time_ms=5)
        paths = []
        for _ in range(3):
            path, fd = pr.create(self.root, name, ".json")
            os.close(fd)
            paths.append(path)
        self.assertEqual([pr.describe(path).number for path in paths], [None, 1, 2])
        self.assertEqual(sorted(paths), self.files("*.json"))
        with self.assertRaises(OSError):
            pr.create(os.path.join(self.root, "none"), name)


if __name__ == "__main__":
    unittest.main()
