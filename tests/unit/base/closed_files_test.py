#!/usr/bin/env python3
"""Programs whose standard files are closed, as LSF's lim starts an elim: each runs, and none writes its words into a file
that it has opened."""

import itertools
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "system"))
from railcluster import build  # noqa: E402

CLOSED = {0: "<&-", 1: ">&-", 2: "2>&-"}
EVERY = [numbers for count in (1, 2, 3) for numbers in itertools.combinations(CLOSED, count)]


def run(numbers, *words):
    """The status of a command for which these are closed."""
    script = 'exec "$@" ' + " ".join(CLOSED[number] for number in numbers)
    return subprocess.run(["sh", "-c", script, "sh", *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode


class ClosedFiles(unittest.TestCase):
    def test_every_program_runs(self):
        programs = [name for kind in ("bin", "sbin", "pkglibexec") for name in build.listed(Path("."), f"{kind}_PROGRAMS")]
        self.assertGreater(len(programs), 12)
        for name, numbers in itertools.product(programs, EVERY):
            with self.subTest(program=name, closed=numbers):
                self.assertEqual(run(numbers, f"./{name}", "--version"), 0)

    def test_a_file_that_is_written_holds_nothing_else(self):
        """The fabric is the first file that railtopo opens, and it says on standard output what it made."""
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for numbers in ((), *EVERY):
                path = Path(folder) / "fabric.json"
                self.assertEqual(run(numbers, "./railtopo", "synth", "--out", str(path), "pods=1 units=2 hosts=2 rails=2"), 0, numbers)
                made.append(path.read_bytes())
                path.unlink()
            self.assertEqual(len(set(made)), 1)

    def test_a_command_that_fails_says_so_by_its_status(self):
        for numbers in EVERY:
            self.assertEqual(run(numbers, "./railtopo", "show", "/nonexistent/fabric.json"), 2, numbers)


if __name__ == "__main__":
    unittest.main()
