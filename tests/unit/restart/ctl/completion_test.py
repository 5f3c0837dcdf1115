#!/usr/bin/env python3
"""What bash completes for railctl: the hosts and jobs of Slurm, or of LSF where there is no Slurm."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

FILE = pathlib.Path(__file__).resolve().parents[4] / "etc" / "bash-completion" / "railctl"
PROGRAMS = ("awk", "sort", "cat")  # all that it may need
SLURM = {"sinfo": "n001\nn002\nn001\n", "squeue": "12\n13\n"}
LSF = {"bhosts": "HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV\nh1 ok - 8 0 0 0 0 0\nh2 closed_Adm - 8 0 0 0 0 0\n",
       "bjobs": "JOBID USER STAT QUEUE FROM_HOST EXEC_HOST JOB_NAME SUBMIT_TIME\n41 ann RUN gang h1 h1 a Nov 23 10:00\n"
                "42 ann PEND gang h1 - a b Nov 23 10:00\n"}


class Completion(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="railyard-completion-"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in PROGRAMS:
            (self.folder / name).symlink_to(shutil.which(name))

    def complete(self, commands, *words):
        for name, text in commands.items():
            (self.folder / f"{name}.txt").write_text(text)
            (self.folder / name).write_text(f"#!/bin/sh\ncat {self.folder}/{name}.txt\n")
            (self.folder / name).chmod(0o755)
        script = f'. {FILE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _railctl; printf "%s\\n" "${{COMPREPLY[@]}}"'
        done = subprocess.run([shutil.which("bash"), "-c", script, "bash", *words], env={"PATH": str(self.folder), "HOME": os.environ.get("HOME", "/")},
                              capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_hosts_and_jobs_are_slurms(self):
        self.assertEqual(self.complete(SLURM, "railctl", "drain", "n"), ["n001", "n002"])
        self.assertEqual(self.complete(SLURM, "railctl", "explain", "1"), ["12", "13"])

    def test_where_there_is_no_slurm_they_are_lsfs(self):
        self.assertEqual(self.complete(LSF, "railctl", "drain", "h"), ["h1", "h2"])
        self.assertEqual(self.complete(LSF, "railctl", "explain", "4"), ["41", "42"])
        self.assertEqual(self.complete(LSF, "railctl", "history", "--job", ""), ["41", "42"])

    def test_slurm_comes_first_where_both_are(self):
        self.assertEqual(self.complete({**SLURM, **LSF}, "railctl", "resume", "n"), ["n001", "n002"])
        self.assertEqual(self.complete({**SLURM, **LSF}, "railctl", "resume", "h"), [])

    def test_without_either_there_are_still_words(self):
        self.assertEqual(self.complete({}, "railctl", "drain", "--n"), ["--no-wait"])
        self.assertEqual(self.complete({}, "railctl", "doc"), ["doctor"])
        self.assertEqual(self.complete({}, "railctl", "history", "--fo"), ["--follow"])
        self.assertEqual(self.complete({}, "railctl", "status", "--color", "a"), ["auto", "always"])


if __name__ == "__main__":
    unittest.main()
