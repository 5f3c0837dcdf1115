#!/usr/bin/env python3
"""The Python module railmarks over the librailckpt of the build directory, which this runs in."""
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

sys.dont_write_bytecode = True
from over_build import CKPT  # noqa: E402
import railckpt  # noqa: E402
import railmarks  # noqa: E402


class StepMarks(unittest.TestCase):
    """Which host holds the job back: told to nodewatchd, which here is a socket."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="railmarks-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_marks_reach_the_agent_with_what_was_waited_for(self):
        place, heard = self.folder / "agent", []

        def agent(listener):
            connection, _ = listener.accept()
            with connection, connection.makefile("rw") as lines:
                for line in lines:
                    heard.append(json.loads(line))
                    print('{"ok":true,"interval_s":null,"save_by":null}', file=lines, flush=True)

        program = ("import railmarks, time\n"
                   "with railmarks.Marks() as marks:\n"
                   "    end = time.monotonic() + 5.5\n"
                   "    while time.monotonic() < end:\n"
                   "        time.sleep(0.03)\n"
                   "        with marks.waiting():\n"
                   "            time.sleep(0.06)\n"
                   "        marks.mark()\n")
        told = {"RAIL_CKPT_SOCKET": str(place), "SLURM_JOB_ID": "12", "SLURM_RESTART_COUNT": "1", "SLURM_PROCID": "3",
                "PYTHONPATH": str(CKPT)}
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(place))
            listener.listen()
            thread = threading.Thread(target=agent, args=(listener,), daemon=True)
            thread.start()
            subprocess.run([sys.executable, "-B", "-c", program], env={**os.environ, **told}, check=True, timeout=60)
            thread.join(30)
        marks = [line for line in heard if line["op"] == "mark"]
        self.assertEqual([mark["rank"] for mark in marks], [3], heard)
        self.assertGreaterEqual(marks[0]["waited_s"], 0.06 * marks[0]["steps"], marks)
        self.assertLess(marks[0]["waited_s"], marks[0]["seconds"], marks)

    def test_marks_of_nobody_of_a_child_and_of_the_past(self):
        with railmarks.Marks() as marks:
            marks.mark(0.5)
            marks.mark()
            child = os.fork()
            if child == 0:
                try:
                    marks.mark(0)
                except railckpt.UsageError:
                    marks.close()
                    os._exit(7)
                os._exit(1)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
            marks.mark(0)
        marks.close()
        with self.assertRaisesRegex(railckpt.UsageError, "closed"):
            marks.mark(0)


if __name__ == "__main__":
    unittest.main()
