#!/usr/bin/env python3
"""The Python module railckpt over the librailckpt of the build directory, which this runs in."""
import ast
import ctypes
import logging
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
from over_build import CKPT, LIBRARY  # noqa: E402
import railckpt  # noqa: E402


def opened(folder, **options):
    return railckpt.open(folder, **{"socket": "", "job": 12, "restart": 0, "interval": 3600, **options})


def put(ck, step, text=None):
    with ck.write(step) as path:
        (path / "a").write_text(str(step) if text is None else text)


def committed(folder):
    return sorted(path.name for path in pathlib.Path(folder).glob("ckpt-*"))


def staged(folder):
    return sorted(path.name for path in pathlib.Path(folder).glob(".stage-*"))


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="railckpt-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)


class Single(Case):
    def test_from_open_to_close(self):
        with opened(str(self.folder)) as ck:
            self.assertIsNone(ck.latest())
            self.assertFalse(ck.due())
            self.assertRegex(ck.message, "^not yet: ")
            self.assertEqual(ck.interval, 3600.0)
            put(ck, 400)
            self.assertEqual(ck.message, "")
            last = ck.latest()
        self.assertEqual(last.path, self.folder / "ckpt-E0000-S000000000400")
        self.assertEqual((last.step, last.epoch, last.files, last.bytes, last.skipped), (400, 0, 1, 3, 0))
        self.assertGreater(last.time, 1.7e9)
        self.assertGreater(last.cost, 0)
        with self.assertRaisesRegex(railckpt.UsageError, "closed"):
            ck.due()
        ck.close()

    def test_environment(self):
        os.environ.update(RAIL_CKPT_DIR=str(self.folder), SLURM_JOB_ID="9", SLURM_RESTART_COUNT="3", RAIL_CKPT_INTERVAL="7s")
        try:
            with railckpt.open() as ck:
                self.assertEqual(ck.interval, 7.0)
                put(ck, 1)
                self.assertEqual(ck.latest().epoch, 3)
        finally:
            for name in ("RAIL_CKPT_DIR", "SLURM_JOB_ID", "SLURM_RESTART_COUNT", "RAIL_CKPT_INTERVAL"):
                del os.environ[name]
        with self.assertRaisesRegex(railckpt.UsageError, "set RAIL_CKPT_DIR"):
            railckpt.open()

    def test_damaged_checkpoint_is_passed_over(self):
        with opened(self.folder) as ck:
            put(ck, 1)
            put(ck, 2)
        (self.folder / "ckpt-E0000-S000000000002/a").write_text("x")
        with opened(self.folder, restart=1) as ck:
            last = ck.latest()
            self.assertEqual((last.step, last.skipped), (1, 1))
            self.assertIn("S000000000002/a: its checksum differs from the manifest's: passed over", ck.message)

    def test_block_that_raises_publishes_nothing(self):
        with opened(self.folder) as ck:
            put(ck, 1)
            with self.assertRaises(ZeroDivisionError):
                with ck.write(2) as path:
                    (path / "a").write_text("half")
                    raise ZeroDivisionError
            self.assertEqual((committed(self.folder), staged(self.folder)), (["ckpt-E0000-S000000000001"], []))
            put(ck, 2)
            self.assertEqual(ck.latest().step, 2)

    def test_killed_within_a_checkpoint(self):
        """A process dies with half a checkpoint written; the next incarnation goes on from the one before."""
        begun, told = multiprocessing.Pipe(False)

        def victim():
            ck = opened(self.folder)
            put(ck, 1)
            (ck.begin(2) / "a").write_text("half")
            told.send("begun")
            signal.pause()

        process = multiprocessing.get_context("fork").Process(target=victim)
        process.start()
        self.assertTrue(begun.poll(30))
        process.kill()
        process.join()
        self.assertEqual(len(staged(self.folder)), 1)
        with opened(self.folder, restart=1) as ck:
            self.assertEqual(ck.latest().step, 1)
            put(ck, 2)
            self.assertEqual(ck.latest().epoch, 1)
        self.assertEqual(staged(self.folder), [])

    def test_each_error_is_an_exception_of_its_own(self):
        with self.assertRaisesRegex(railckpt.MissingError, "create it"):
            opened(self.folder / "no")
        (self.folder / "epoch").write_text("?")
        with self.assertRaises(railckpt.CorruptError):
            opened(self.folder)
        (self.folder / "epoch").unlink()
        with opened(self.folder) as one, opened(self.folder) as two:
            with self.assertRaises(railckpt.UsageError):
                one.commit()
            one.begin(1)
            with self.assertRaises(railckpt.UsageError):
                one.begin(2)
            with self.assertRaises(railckpt.BusyError):
                two.begin(2)
            one.commit()
            with self.assertRaises(railckpt.StepExistsError):
                one.begin(1)
            with opened(self.folder, restart=1), self.assertRaisesRegex(railckpt.FencedError, "restart 1 of job 12 owns"):
                one.begin(3)
            shutil.rmtree(self.folder)
            with self.assertRaises(railckpt.Error) as raised:
                one.begin(4)
            self.assertLess(raised.exception.status, 0)
        with self.assertRaises(railckpt.UsageError):
            opened(tempfile.gettempdir(), read_only=True).begin(1)

    def test_numbers_that_C_would_take_for_others(self):
        for wrong in ({"job": -1}, {"job": 2**64 + 7}, {"restart": -1}, {"restart": 10000}, {"keep": 0}, {"keep": 2**32},
                      {"take_over": -1}, {"interval": 0}, {"interval": float("nan")}, {"interval": float("inf")},
                      {"mtbf": -1.0}, {"job": True}, {"job": "12"}, {"socket": "a\0b"}):
            with self.subTest(wrong), self.assertRaises(railckpt.UsageError):
                opened(self.folder, **wrong)
        with self.assertRaises(railckpt.UsageError):
            opened(f"{self.folder}\0/elsewhere")
        with opened(self.folder) as ck:
            for step in (-1, 2**64 + 1, 10**12, 1.5, "7"):
                with self.subTest(step), self.assertRaises(railckpt.UsageError):
                    ck.begin(step)
            ck.begin(10**12 - 1)

    def test_path_that_is_no_utf8(self):
        folder = os.path.join(os.fsencode(self.folder), b"r\xfcn")
        os.mkdir(folder)
        with opened(os.fsdecode(folder)) as ck:
            put(ck, 1)
            self.assertEqual(os.fsencode(ck.latest().path.parent), folder)
        with self.assertRaises(railckpt.MissingError):
            opened(os.fsdecode(folder + b"\xff"))

    def test_time_that_the_program_stood_still(self):
        with opened(self.folder) as ck:
            with self.assertRaises(railckpt.UsageError):
                ck.commit(blocked=1)
            (ck.begin(1) / "state").write_text("x")
            ck.commit(blocked=2.5)
            self.assertEqual(ck.latest().cost, 2.5)
            put(ck, 2)
            self.assertNotEqual(ck.latest().cost, 2.5)

    def test_child_after_fork_leaves_the_handle_alone(self):
        with opened(self.folder) as ck:
            path = ck.begin(5)
            (path / "a").write_text("5")

            def child():
                try:
                    ck.due()
                except railckpt.UsageError:
                    ck.close()
                    os._exit(0)
                os._exit(1)

            process = multiprocessing.get_context("fork").Process(target=child)
            process.start()
            process.join()
            self.assertEqual(process.exitcode, 0)
            self.assertTrue(path.is_dir(), "the child's end removed the parent's checkpoint")
            ck.commit()
            self.assertEqual(ck.latest().step, 5)

    def test_threads_take_turns(self):
        with opened(self.folder, keep=100) as ck:
            wrong, library = [], ck._lib

            class Watched:  # the library, where two calls at a time are seen
                busy = threading.Lock()

                def __getattr__(self, name):
                    def call(*arguments):
                        if not self.busy.acquire(blocking=False):
                            wrong.append(f"{name} beside another call")
                            return getattr(library, name)(*arguments)
                        try:
                            return getattr(library, name)(*arguments)
                        finally:
                            self.busy.release()
                    return call

            ck._lib = Watched()

            def ask():
                for _ in range(200):
                    ck.due()
                    last = ck.latest()
                    if last and last.path.name != f"ckpt-E0000-S{last.step:012}":
                        wrong.append(last)

            threads = [threading.Thread(target=ask) for _ in range(4)]
            for thread in threads:
                thread.start()
            for step in range(1, 20):
                put(ck, step)
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])


class Steps(Case):
    def test_commits_what_is_due_and_goes_on_from_there(self):
        done = []
        with opened(self.folder, interval=1e-6) as ck:
            for step in ck.steps(0, 10, lambda path: (path / "state").write_text(repr(done))):
                done.append(step)
                if step == 6:
                    break  # as a fault does: the seventh step is not saved
        with opened(self.folder, restart=1, interval=1e-6) as ck:
            last = ck.latest()
            self.assertEqual(last.step, 6)
            done = ast.literal_eval((last.path / "state").read_text())
            for step in ck.steps(last.step, 10, lambda path: (path / "state").write_text(repr(done))):
                done.append(step)
            self.assertEqual((done, ck.latest().step), (list(range(10)), 10))

    def test_failed_checkpoint_does_not_end_the_job(self):
        tried = []

        def save(path):
            tried.append(path)
            raise OSError(28, "No space left on device")

        with opened(self.folder, interval=1e-6) as ck, self.assertLogs("railckpt", logging.WARNING) as logged:
            self.assertEqual(list(ck.steps(0, 50, save)), list(range(50)))
        self.assertEqual(len(tried), 2, "it is not tried again at once, but at the end")
        self.assertIn("checkpoint of step 1 failed, the job goes on: [Errno 28]", logged.output[0])
        self.assertEqual((committed(self.folder), staged(self.folder)), ([], []))

    def test_fenced_off_ends_the_job(self):
        with opened(self.folder, interval=1e-6) as ck, opened(self.folder, restart=1):
            with self.assertRaises(railckpt.FencedError):
                for _ in ck.steps(0, 10, lambda path: None):
                    pass
        self.assertEqual(committed(self.folder), [])

    def test_agent_that_asks_to_save_is_heard(self):
        place = self.folder / "agent"
        asked = []

        def agent(listener):
            connection, _ = listener.accept()
            with connection, connection.makefile("rw") as lines:
                for line in lines:
                    asked.append(line)
                    save = '4000000000.5,"incident":"i-7"' if '"due"' in line else "null"
                    print(f'{{"ok":true,"interval_s":3600,"save_by":{save}}}', file=lines, flush=True)

        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
            listener.listen()
            thread = threading.Thread(target=agent, args=(listener,), daemon=True)
            thread.start()
            (self.folder / "ck").mkdir()
            with opened(self.folder / "ck", socket=place) as ck:
                self.assertTrue(ck.due(), ck.message)
                self.assertRegex(ck.message, r"^due: Railyard asks to save by .*\(i-7\)")
                put(ck, 3)
                self.assertFalse(ck.due(), ck.message)
            thread.join(30)
        self.assertTrue(any('"op":"commit' in line and '"step":3' in line for line in asked), asked)


class Shared(Case):
    """Groups: a thread for each process, which gather over a barrier."""

    def run_group(self, size, body, interval=1e-6):
        values, barrier = [None] * size, threading.Barrier(size)
        results = [None] * size

        def process(rank):
            def gather(value):
                values[rank] = value
                barrier.wait(30)
                everybody = list(values)
                barrier.wait(30)
                return everybody
            try:
                with railckpt.open_group(rank, gather, self.folder, socket="", job=12, restart=0, interval=interval) as ck:
                    results[rank] = body(ck)
            except Exception as error:  # noqa: BLE001: it is the result
                results[rank] = error

        threads = [threading.Thread(target=process, args=(rank,)) for rank in range(size)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return results

    def test_all_write_and_one_commits(self):
        def body(ck):
            for _ in ck.steps(0, 3, lambda path: (path / f"part-{ck.rank}").write_text("x")):
                pass
            return ck.latest()

        found = self.run_group(3, body)
        self.assertEqual([(last.step, last.files) for last in found], [(3, 3)] * 3)

    def test_group_stood_still_as_long_as_its_slowest(self):
        def body(ck):
            (ck.begin(1) / f"part-{ck.rank}").write_text("x")
            ck.commit(blocked=[1.5, 2.5, None][ck.rank])
            return ck.latest().cost

        self.assertEqual(self.run_group(3, body), [2.5] * 3)

    def test_one_that_wants_a_checkpoint_is_enough(self):
        def wants(ck):
            return [ck.due(), ck.due(wanted=ck.rank == 2), ck.due()]

        self.assertEqual(self.run_group(3, wants, interval=3600), [[False, True, False]] * 3)

    def test_part_that_fails_publishes_nothing(self):
        def body(ck):
            with ck.write(1) as path:
                (path / f"part-{ck.rank}").write_text("x")
                if ck.rank == 1:
                    raise OSError(28, "No space left on device")

        errors = self.run_group(3, body)
        self.assertEqual([type(error) for error in errors], [railckpt.PeerError, OSError, railckpt.PeerError])
        self.assertIn("process 1: OSError: [Errno 28] No space left on device", str(errors[2]))
        self.assertEqual((committed(self.folder), staged(self.folder)), ([], []))

    def test_all_hear_of_an_error_of_the_first(self):
        shutil.rmtree(self.folder)
        errors = self.run_group(3, lambda ck: None)
        self.assertEqual([type(error) for error in errors], [railckpt.MissingError] * 3)
        self.assertIn("create it", str(errors[2]))
        self.folder.mkdir()

    def test_all_are_fenced_off_together(self):
        def body(ck):
            ck.due()
            if ck.rank == 0:
                opened(self.folder, restart=1).close()
            ck.due()
            put(ck, 1)

        self.assertEqual([type(error) for error in self.run_group(2, body)], [railckpt.FencedError] * 2)


class Contract(unittest.TestCase):
    """The module holds itself to railckpt.h, and to old Pythons."""

    header = (CKPT / "railckpt.h").read_text()

    def test_structures_are_laid_out_as_in_C(self):
        lines = []
        for name, kind in (("railckpt_options", railckpt._Options), ("railckpt_info", railckpt._Info)):
            lines.append(f'printf("{name} %zu\\n", sizeof(struct {name}));')
            lines += [f'printf("{name}.{field} %zu:%zu\\n", offsetof(struct {name}, {field}), sizeof ((struct {name}*)0)->{field});'
                      for field, _ in kind._fields_]
        with tempfile.TemporaryDirectory() as scratch:
            program = pathlib.Path(scratch) / "layout"
            source = f'#include "railckpt.h"\n#include <stdio.h>\nint main(void) {{ {" ".join(lines)} }}\n'
            subprocess.run(["gcc", "-I", CKPT, "-x", "c", "-o", program, "-"], input=source, text=True, check=True)
            said = dict(line.split() for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())
        for name, kind in (("railckpt_options", railckpt._Options), ("railckpt_info", railckpt._Info)):
            self.assertEqual(int(said[name]), ctypes.sizeof(kind), name)
            for field, _ in kind._fields_:
                member = getattr(kind, field)
                self.assertEqual(said[f"{name}.{field}"], f"{member.offset}:{member.size}", f"{name}.{field}")

    def test_every_function_and_status_is_there(self):
        source = (CKPT / "railckpt.py").read_text() + (CKPT / "railmarks.py").read_text()
        for function in re.findall(r"^[a-z].*[ *]railckpt_([a-z_]*)\(", self.header, re.M):
            self.assertIn(f'("{function}", ', source)
        declared = re.findall(r"(RAILCKPT_E[A-Z]+) = (-\d+)", self.header)
        self.assertEqual(sorted(int(number) for _, number in declared), sorted(railckpt._ERRORS))

    def test_python_3_8_reads_it(self):
        for module in ("railckpt.py", "railmarks.py", "railsave.py", "railcallbacks.py"):
            ast.parse((CKPT / module).read_text(), feature_version=(3, 8))

    def test_missing_library_is_said(self):
        clean = {key: value for key, value in os.environ.items() if key not in ("LD_LIBRARY_PATH", "LD_PRELOAD")}
        with tempfile.TemporaryDirectory() as scratch:
            if subprocess.run([sys.executable, "-c", "import ctypes; ctypes.CDLL('librailckpt.so.0')"], env=clean,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0:
                self.skipTest("librailckpt is installed on this machine")
            shutil.copy(CKPT / "railckpt.py", scratch)
            said = subprocess.run([sys.executable, "-B", "-c", "import railckpt; railckpt.open('/tmp')"], cwd=scratch, env=clean,
                                  capture_output=True, text=True, check=False)
        self.assertRegex(said.stderr, r"LibraryError: librailckpt.so.0: .*install librailckpt")


if __name__ == "__main__":
    unittest.main()
