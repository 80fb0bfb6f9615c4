# test_profilers.py: perftrace.profiler, with functions of Python as the back end. SPDX-License-Identifier: MIT
import asyncio
import gc
import os
import threading
import time
import unittest

import traced
from perftrace import profiler as pr


class Book(pr.BackEnd):
    """Writes down what it is asked for, and a file for each window."""
    name, extension = "book", ".txt"

    def __init__(self, **given):
        super().__init__(**given)
        self.calls = []

    def start(self, window):
        self.calls.append(("start", window))

    def stop(self, window):
        self.calls.append(("stop", window))
        with open(window.path, "w") as file:
            file.write("x")

    def step(self, number, action):
        self.calls.append(("step", number, action))

    def windows(self):
        return [call[1] for call in self.calls if call[0] == "stop"]


class Case(traced.Case):
    def setUp(self):
        super().setUp()
        self.said = []
        self.book = Book()

    def say(self, level, text):
        self.said.append((level, text))

    def open(self, back_end=None, **options):
        made = pr.Profiler(self.book if back_end is None else back_end,
                           **{"dir": self.root, "log": self.say, "name": pr.TraceName(role="actor", rank=0),
                              **options})
        self.addCleanup(made.close)
        return made


class Settings(Case):
    def test_numbers_that_c_would_cut(self):
        for name in ("perf_hz", "finish_limit_ms"):
            for bad in (-1, 2**32, 2**40):
                with self.assertRaisesRegex(ValueError, f"{name} is {bad}, which is none of 0 to 4294967295"):
                    self.open("self", **{name: bad})
            self.open("self", **{name: 2**32 - 1})

    def test_paths_that_c_would_cut(self):
        for name in ("dir", "relocate_from"):
            with self.assertRaisesRegex(ValueError, "has a NUL in it"):
                self.open("self", **{name: "a\0b"})
        with self.assertRaisesRegex(ValueError, "has a NUL in it"):
            self.open().start(dir=b"a\0b")
        with self.assertRaisesRegex(ValueError, "has a NUL in it"):
            pr.create(self.root + "\0x", pr.TraceName())

    def test_what_is_no_schedule_or_name(self):
        with self.assertRaisesRegex(TypeError, "schedule is a Schedule, not int"):
            self.open(schedule=5)
        with self.assertRaisesRegex(TypeError, "name is a TraceName, not str"):
            self.open(name="actor")
        with self.assertRaisesRegex(ValueError, "pid and time_ms are wanted"):
            pr.basename(pr.TraceName())


class Windows(Case):
    def test_a_step_that_stops_and_starts_another_profiler(self):
        other = pr.Profiler(Book(), dir=self.root, log=self.say)
        self.addCleanup(other.close)
        started = []

        class Stopper(Book):
            def step(self, number, action):
                if number == 3:
                    started.append(other.start())  # one is open: refused
                    other.stop()  # whoever's it is
        book = Stopper()
        with self.open(book, steps="2-5") as p:
            for step in range(7):
                p.step(step)
        self.assertEqual(started, [False])
        self.assertEqual([window.mark for window in book.windows()], ["partial 2/4"])
        self.assertEqual(list(p.errors), [])

    def test_a_schedule(self):
        schedule = pr.Schedule(wait=1, warmup=1, active=2, repeat=2)
        with self.open(schedule=schedule, name=pr.TraceName(role="actor", rank=0, world_size=8)) as p:
            actions = [p.step(step) for step in range(7)]  # the second window is cut
        self.assertEqual(actions, [schedule.action(step) for step in range(7)])
        self.assertEqual([call[1:] for call in self.book.calls if call[0] == "step"], list(enumerate(actions)))
        first, second = self.book.windows()
        self.assertEqual((first.mark, first.first_step, first.last_step, first.steps_done, first.aborted),
                         ("", 2, 3, 2, False))
        self.assertEqual((second.mark, second.number, second.role), ("partial 1/2", 1, "actor"))
        found = [pr.describe(path) for path in self.files("*.txt")]
        self.assertEqual({(n.first_step, n.last_step, n.world_size, n.cycle, n.steps_done) for n in found},
                         {(2, 3, 8, None, None), (6, 6, 8, 1, 1)})
        starts = [call[1] for call in self.book.calls if call[0] == "start"]
        self.assertEqual([(w.path, w.mark, w.dir) for w in starts], [("", "", self.root)] * 2)

    def test_start_and_stop(self):
        p = self.open()
        self.assertTrue(p.start("by hand"))
        self.assertFalse(p.start("again"))
        self.assertEqual(pr.status().state, pr.State.RECORDING)
        self.assertEqual((pr.status().role, pr.status().stage), ("actor", "by hand"))
        saved = pr.status().saved
        p.stop()
        p.stop()
        self.assertEqual((pr.status().state, pr.status().saved), (pr.State.IDLE, saved + 1))
        window, = self.book.windows()
        self.assertEqual((window.stage, pr.status().last_path), ("by hand", window.path))
        self.assertIn("by-hand", os.path.basename(window.path))
        self.assertTrue(p.start(schedule=pr.Schedule(wait=1, active=2)))
        for _ in range(5):
            p.step()
        self.assertEqual(len(self.book.windows()), 2)
        self.assertTrue(p.start(dir="below", by_stage=True))
        p.step()
        with p.stage("update"):
            pass
        p.stop()
        window = self.book.windows()[2]
        self.assertEqual((window.stage, os.path.dirname(window.path)), ("update", os.path.join(self.root, "below")))
        with self.assertRaises(ValueError):
            p.start(schedule=pr.Schedule(steps="1"))
        with self.assertRaises(ValueError):
            p.step(-1)

    def test_stages_are_windows_in_discrete_mode(self):
        p = self.open(discrete=True, steps=[3])

        @p.stage("update")
        def update(x, *, y):
            """Doc."""
            return x + y
        for step in range(5):
            p.step(step)
            self.assertEqual(update(1, y=2), 3)
            with p.stage("generate"):
                with p.stage("nested"):
                    pass
        self.assertEqual([w.stage for w in self.book.windows()], ["update", "generate"])
        self.assertEqual((update.__name__, update.__doc__), ("update", "Doc."))

    def test_a_body_that_fails(self):
        p = self.open(discrete=True)
        raised = KeyError("k")

        @p.stage("decorated")
        def fails():
            raise raised
        p.step(0)
        for block in (fails, lambda: self.within(p.stage("block"), raised)):
            with self.assertRaises(KeyError) as caught:
                block()
            self.assertIs(caught.exception, raised)
            self.assertIsNone(raised.__context__)
            self.assertIsNone(raised.__cause__)
        windows = self.book.windows()
        self.assertEqual([(w.stage, w.aborted) for w in windows], [("decorated", True), ("block", True)])
        self.assertTrue(all(w.mark.startswith("aborted") and os.path.getsize(w.path) for w in windows))
        self.assertEqual(pr.status().state, pr.State.IDLE)

    def within(self, block, error):
        with block:
            raise error

    def test_record(self):
        p = self.open()
        with p.record("one"):
            with p.record("ignored"):
                self.assertEqual(pr.status().stage, "one")
            self.assertEqual(pr.status().state, pr.State.RECORDING)
        with self.assertRaises(ZeroDivisionError):
            with p.record("two"):
                1 / 0

        @p.record("three")
        async def three():
            await asyncio.sleep(0)
            return 3
        self.assertEqual(asyncio.run(three()), 3)

        @p.record("four")
        def four():
            yield 4
        self.assertEqual(list(four()), [4])
        self.assertEqual([(w.stage, w.aborted) for w in self.book.windows()],
                         [("one", False), ("two", True), ("three", False), ("four", False)])

    def test_a_with_of_the_profiler_that_fails(self):
        with self.assertRaises(KeyError):
            with self.open(schedule=pr.Schedule(active=10, repeat=1)) as p:
                p.step(0)
                p.step(1)
                raise KeyError("k")
        self.assertTrue(p.closed)
        window, = self.book.windows()
        self.assertTrue(window.aborted)
        self.assertEqual(window.steps_wanted, 10)

    def test_windows_that_were_not_reached_are_told(self):
        self.open(schedule=pr.Schedule(skip_first=100, active=1, repeat=1)).close()
        text = " ".join(text for _, text in self.said)
        self.assertIn("0 of 1 windows recorded, first active step is 100", text)

    def test_after_close_nothing_is_done(self):
        p = self.open()
        p.close()
        p.close()
        self.assertEqual((p.step(), p.start(), p.stop()), (pr.Action.NONE, False, None))
        with p.stage("x"), p.record("y"):
            pass
        self.assertEqual(self.book.calls, [])
        with self.assertRaises(ValueError):
            pr.set_main(p)

    def test_what_comes_after_the_last_window(self):
        reports = os.path.join(self.root, "reports")
        os.mkdir(reports)
        notes = os.path.join(self.root, "notes")
        p = self.open(steps=[1], relocate_from=reports, finish_limit_ms=30000, finish_ranks=[0],
                      finish_command=f'echo "$PERFTRACE_PROFILE_ROLE $PERFTRACE_PROFILE_WINDOWS" >> {notes}')
        p.step(0)
        p.step(1)
        with open(os.path.join(reports, f"gpu.{os.getpid()}.nsys-rep"), "w") as file:
            file.write("report")
        self.assertFalse(os.path.exists(notes))
        p.step(2)
        p.step(3)
        p.close()
        with open(notes) as file:
            self.assertEqual(file.read(), "actor 1\n")
        self.assertEqual(os.listdir(reports), [])
        [moved] = self.files("*.nsys-rep")
        self.assertEqual((pr.describe(moved).first_step, pr.describe(moved).suffix),
                         (1, f"gpu-{os.getpid()}"))

    def test_ranks(self):
        for rank, ranks, works in ((0, None, True), (3, None, False), (3, "0,2-4", True), (3, [3], True)):
            book = Book()
            with self.open(book, ranks=ranks, name=pr.TraceName(rank=rank)) as p:
                with p.record():
                    pass
            self.assertEqual(len(book.windows()), int(works), (rank, ranks))

    def test_what_cannot_be_opened(self):
        for bad in ({"back_end": ()}, {"back_end": "nosuch"}, {"steps": "x"}, {"ranks": "x"}, {"perf_hz": "5"}):
            with self.assertRaises(ValueError, msg=bad):
                self.open(**bad)
        with self.assertRaisesRegex(ValueError, "no back end nosuch, only self"):
            self.open("nosuch")
        with self.assertRaises(ValueError):
            self.open([Book(), Book()])

    def test_a_directory_that_cannot_be_made(self):
        with open(os.path.join(self.root, "file"), "w"):
            pass
        p = self.open(dir=os.path.join(self.root, "file", "below"))
        self.assertFalse(p.start())
        self.assertTrue(any("no files can be made" in text for _, text in self.said), self.said)

    def test_the_librarys_own_back_end(self):
        self.configure()
        from perftrace import perf_tracer as pt
        with self.open(["self"], detail_categories="io") as p:
            for step in range(3):
                with pt.trace_scope("detail", category="io"):
                    pass
                if step == 0:
                    p.start()
            p.stop()
        self.assertEqual(len(self.events("detail")), 2)

    def test_stages_of_a_window_are_ranges_of_the_back_end(self):
        calls = []
        back_end = pr.BackEnd(range_begin=calls.append, range_end=lambda: calls.append(None))
        with self.open(back_end, steps=[1]) as p:
            for step in range(3):
                p.step(step)
                with p.stage("update"):
                    with p.stage("inner \u00e9"):
                        pass
        self.assertEqual(calls, ["actor.update", "actor.inner \u00e9", None, None])

        def fails(label=None):
            raise KeyError(label)
        p = self.open(pr.BackEnd(range_begin=fails, range_end=fails))
        p.start()
        for _ in range(3):
            with p.stage("update"):
                calls.append("body")
        p.stop()
        self.assertEqual(calls[4:], ["body"] * 3)
        self.assertEqual(len(p.errors), 6)
        said = [text for _, text in self.said if "raised KeyError" in text]
        self.assertEqual(len(said), 2, said)  # each once

    def test_stages_of_a_window_are_scopes_also_of_coroutines(self):
        self.configure()

        async def update(p, fails):
            async with p.stage("update"):
                await asyncio.sleep(0)
                if fails:
                    raise KeyError("body")

        with self.open(steps=[1, 3]) as p:
            for step in range(5):
                p.step(step)
                try:
                    asyncio.run(update(p, step == 3))
                except KeyError as error:
                    self.assertEqual((step, error.args), (3, ("body",)))
                with p.stage("generate"):
                    pass
        events = self.events("actor.update")
        self.assertEqual([(e["ph"], e["cat"]) for e in events], [("X", "instr")] * 2)  # of steps 1 and 3
        # The failure has ended the second window.
        self.assertEqual(len(self.events("actor.generate")), 1)


class Threads(Case):
    def test_steps_go_on_while_a_window_is_saved(self):
        saving, go = threading.Event(), threading.Event()

        def stop(window):
            saving.set()
            go.wait(30)
        p = self.open(pr.BackEnd(stop=stop))
        p.start()
        thread = threading.Thread(target=p.stop)
        thread.start()
        saving.wait(30)
        self.assertEqual(pr.status().state, pr.State.SAVING)
        for step in range(100):
            p.step(step)
        self.assertFalse(p.start())
        go.set()
        thread.join()
        self.assertEqual(pr.status().state, pr.State.IDLE)

    def test_close_waits_for_others(self):
        saving, go, closed = threading.Event(), threading.Event(), threading.Event()

        def stop(window):
            saving.set()
            go.wait(30)
        p = self.open(pr.BackEnd(stop=stop))
        p.start()
        first = threading.Thread(target=p.stop)
        first.start()
        saving.wait(30)
        second = threading.Thread(target=lambda: (p.close(), closed.set()))
        second.start()
        self.assertFalse(closed.wait(0.05))
        self.assertEqual(p.step(), pr.Action.NONE)
        go.set()
        first.join()
        second.join()
        self.assertTrue(closed.is_set())

    def test_many_at_once(self):
        p = self.open()
        deadline = time.monotonic() + 1

        def work():
            while time.monotonic() < deadline:
                if p.start():
                    p.step()
                    p.stop()
                p.step()
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        p.close()
        kinds = [call[0] for call in self.book.calls if call[0] != "step"]
        self.assertEqual(kinds, ["start", "stop"] * (len(kinds) // 2))
        self.assertGreater(len(kinds), 2)
        self.assertEqual(list(p.errors), [])

    def test_closed_profilers_are_freed(self):
        import weakref
        alive = []
        for _ in range(20):
            book = Book()
            p = self.open(book)
            self._cleanups.pop()
            with p.record():
                pass
            p.close()
            alive += [weakref.ref(book), weakref.ref(p)]
        del book, p
        gc.collect()
        self.assertEqual([each() for each in alive], [None] * 40)


class Ends(traced.Case):
    HEAD = ("import logging\n"
            "from perftrace import profiler as pr\n"
            "logging.basicConfig(level=logging.INFO)\n"
            "def stop(window):\n"
            "    with open(window.path, 'w') as file: file.write(window.mark or 'whole')\n"
            "p = pr.Profiler(pr.BackEnd(stop=stop, extension='.txt'), dir=root, name=pr.TraceName(role='r'))\n")

    def run_it(self, code, **options):
        return traced.run(self.HEAD + code, self.root, arguments=["-X", "dev", "-W", "error"], **options)

    def test_one_that_is_left_open(self):
        done = self.run_it("p.start(); p.step(); p.step()\n")
        path, = self.files("*.txt")
        with open(path) as file:
            self.assertEqual(file.read(), "whole")
        self.assertNotIn("Traceback", done.stderr)

    def test_a_program_that_fails(self):
        done = self.run_it("with p.record('x'): raise KeyError('k')\n", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("KeyError: 'k'", done.stderr)
        path, = self.files("*.txt")
        self.assertTrue(pr.describe(path).aborted)

    def test_a_fork_while_others_use_it(self):
        done = self.run_it("deadline = time.monotonic() + 1\n"
                           "def work():\n"
                           "    while time.monotonic() < deadline:\n"
                           "        if p.start(): p.stop()\n"
                           "        p.step()\n"
                           "threads = [threading.Thread(target=work) for _ in range(2)]\n"
                           "for t in threads: t.start()\n"
                           "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
                           "while time.monotonic() < deadline:\n"
                           "    pid = os.fork()\n"
                           "    if pid == 0:\n"
                           "        p.step(); p.stop()\n"
                           "        ok = p.start('child') and pr.status().state == pr.State.RECORDING\n"
                           "        p.close()\n"
                           "        os._exit(0 if ok else 1)\n"
                           "    assert os.waitpid(pid, 0)[1] == 0\n"
                           "for t in threads: t.join()\n"
                           "print('done')\n")
        self.assertEqual(done.stdout.strip(), "done")
        self.assertTrue(self.files("*child*"))

    def test_a_fork_while_another_thread_tells_something(self):
        # That thread waits in the middle of a file, whose lock the child would get as it is.
        done = self.run_it("read, write = os.pipe()\n"
                           "book = os.fdopen(write, 'w', 1)\n"
                           "def log(level, text): book.write(text + '\\n')\n"
                           "q = pr.Profiler(pr.BackEnd(stop=stop, extension='.txt'), dir=root, log=log)\n"
                           "def empty():\n"
                           "    time.sleep(0.5)\n"
                           "    while os.read(read, 65536): pass\n"
                           "for work in (lambda: q._logged(1, b'w' * (1 << 20), None), empty):\n"
                           "    threading.Thread(target=work, daemon=True).start()\n"
                           "time.sleep(0.2)\n"
                           "import warnings; warnings.simplefilter('ignore', DeprecationWarning)\n"
                           "pid = os.fork()\n"
                           "if pid == 0:\n"
                           "    q.start('child'); q.close(); os._exit(0)\n"
                           "deadline = time.monotonic() + 60\n"
                           "while os.waitpid(pid, os.WNOHANG) == (0, 0):\n"
                           "    if time.monotonic() > deadline: os.kill(pid, 9)\n"
                           "    time.sleep(0.01)\n"
                           "print('done' if time.monotonic() < deadline else 'hung'); sys.stdout.flush()\n"
                           "os._exit(0)\n")
        self.assertEqual(done.stdout.strip(), "done")
        self.assertTrue(self.files("*child*"))

    def test_requests_from_outside(self):
        done = self.run_it("import urllib.request, sys; sys.path.insert(0, %r)\n"
                           "from test_control import ask\n"
                           "configure(options={'control': 'on'})\n"
                           "if pt.control_url() is None: sys.exit(print('none'))\n"
                           "pr.set_main(p)\n"
                           "print(ask('POST', '/start_profile', b'{}')[0], pr.status().state.name)\n"
                           "print(ask('POST', '/stop_profile')[0])\n"
                           "pt.reset()\n" % os.path.dirname(os.path.abspath(__file__)))
        if done.stdout == "none\n":
            self.skipTest("the library was built without the control server")
        self.assertEqual(done.stdout.split()[:2], ["200", "RECORDING"])
        self.assertIn(done.stdout.split()[2], ("200", "202"))
        self.assertEqual(len(self.files("*.txt")), 1)


if __name__ == "__main__":
    unittest.main()
