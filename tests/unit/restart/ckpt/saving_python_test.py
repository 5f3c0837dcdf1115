#!/usr/bin/env python3
"""The Python module railsave, which takes the checkpoints of a loop, over the librailckpt of the build directory, which this
runs in."""
import concurrent.futures
import logging
import pathlib
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
from over_build import CKPT  # noqa: E402,F401: it finds the modules
import railckpt  # noqa: E402
import railsave  # noqa: E402

PATIENCE = 60


class Background:
    """Writes when it is let, beside the loop."""

    def __init__(self, failure=None):
        self.may_end, self.failure = threading.Event(), failure
        self.pool = concurrent.futures.ThreadPoolExecutor(1)

    def save(self, path, name="state"):
        def write():
            self.may_end.wait(PATIENCE)
            if self.failure:
                raise self.failure
            (path / name).write_text("x")
        return self.pool.submit(write)


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="railsave-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def opened(self, interval=1e-6, restart=0):
        return railckpt.open(self.folder, socket="", job=12, restart=restart, interval=interval)

    def published(self):
        return [int(path.name.rpartition("S")[2]) for path in sorted(self.folder.glob("ckpt-*"))]


class Alone(Case):
    def test_the_loop_goes_on_while_a_checkpoint_is_written(self):
        background = Background()
        with self.opened() as ck:
            saver = railsave.Saver(ck)
            saver.after(1, background.save)
            for step in (2, 3):
                saver.after(step, background.save)
                self.assertEqual((self.published(), saver.saved), ([], None))
            background.may_end.set()
            saver._writing.result()
            another = Background()
            saver.after(4, another.save)
            self.assertEqual((self.published(), saver.saved), ([1], 1))
            another.may_end.set()
            saver.finish(5, another.save)
        self.assertEqual(self.published(), [4, 5])

    def test_what_it_cost_is_how_long_the_loop_stood_still(self):
        blocked = []
        background = Background()
        with self.opened() as ck:
            commit = ck.commit
            ck.commit = lambda held=None: (blocked.append(held), commit(held))
            saver = railsave.Saver(ck)
            saver.now(1, lambda path: (path / "state").write_text("x"))
            saver.now(2, background.save)
            held = saver._held
            background.may_end.set()
            saver.finish(2, background.save)
        self.assertIsNone(blocked[0], "it was written at once: librailckpt has measured it")
        self.assertGreaterEqual(blocked[1], held)

    def test_the_end_of_the_loop_is_saved(self):
        saved = []
        with self.opened(interval=3600) as ck:
            for _ in ck.steps(0, 5, lambda path: saved.append(path) or (path / "state").write_text("x")):
                pass
            self.assertEqual((len(saved), self.published()), (1, [5]))
            self.assertEqual(list(ck.steps(5, 5, lambda path: saved.append(path))), [])
        self.assertEqual(len(saved), 1, "nothing was done since")

    def test_what_fails_beside_the_loop_does_not_end_it(self):
        class Odd(BaseException):
            pass

        background = Background(failure=Odd("the storage is away"))
        background.may_end.set()
        with self.opened() as ck, self.assertLogs("railckpt", logging.WARNING) as logged:
            saver = railsave.Saver(ck, failures=(Odd,))
            saver.now(1, background.save)
            saver.finish(2, lambda path: (path / "state").write_text("x"))
        self.assertIn("checkpoint of step 1 failed, the job goes on: the storage is away", logged.output[0])
        self.assertEqual((self.published(), list(self.folder.glob(".stage-*"))), ([2], []))

    def test_an_error_of_the_program_is_raised(self):
        with self.opened() as ck, self.assertRaises(ZeroDivisionError):
            railsave.Saver(ck).now(1, lambda path: 1 / 0)
        self.assertEqual((self.published(), list(self.folder.glob(".stage-*"))), ([], []))

    def test_a_start_that_is_fenced_off_ends_while_it_writes(self):
        background = Background()
        with self.opened() as ck:
            saver = railsave.Saver(ck)
            saver.now(1, background.save)
            self.opened(restart=1).close()
            background.may_end.set()
            with self.assertRaises(railckpt.FencedError):
                saver.finish(2, background.save)
        self.assertEqual(self.published(), [])


class Shared(Case):
    """Groups: a thread for each process, which gather over a barrier."""

    def run_group(self, size, body):
        values, barrier, results = [None] * size, threading.Barrier(size), [None] * size

        def process(rank):
            def gather(value):
                values[rank] = value
                barrier.wait(PATIENCE)
                everybody = list(values)
                barrier.wait(PATIENCE)
                return everybody
            try:
                with railckpt.open_group(rank, gather, self.folder, socket="", job=12, restart=0, interval=1e-6) as ck:
                    results[rank] = body(ck, railsave.Saver(ck))
            except Exception as error:  # noqa: BLE001: it is the result
                results[rank] = error

        threads = [threading.Thread(target=process, args=(rank,)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def test_it_is_published_when_all_have_written_their_part(self):
        late = Background()

        def body(ck, saver):
            def save(path):
                if ck.rank == 1:
                    return late.save(path, "part-1")
                return (path / f"part-{ck.rank}").write_text("x")
            saver.after(1, save)
            saver.after(2, save)
            seen = self.published()
            ck.gathered(None)  # all have looked
            late.may_end.set()
            saver.finish(2, save)
            return seen, saver.saved, ck.latest().files

        self.assertEqual(self.run_group(3, body), [([], 2, 3)] * 3)

    def test_a_part_that_fails_publishes_nothing_and_all_go_on(self):
        late = Background()

        def body(ck, saver):
            def save(path):
                if ck.rank == 1:
                    late.may_end.set()
                    raise OSError(28, "No space left on device")
                return late.save(path, f"part-{ck.rank}")
            saver.now(1, save)
            first = saver.saved
            saver.finish(2, lambda path: (path / f"part-{ck.rank}").write_text("x"))
            return first, saver.saved

        with self.assertLogs("railckpt", logging.WARNING) as logged:
            self.assertEqual(self.run_group(3, body), [(None, 2)] * 3)
        self.assertEqual(len(logged.output), 1, "the first says it")
        self.assertIn("process 1: OSError: [Errno 28] No space left on device", logged.output[0])
        self.assertEqual(self.published(), [2])


if __name__ == "__main__":
    unittest.main()
