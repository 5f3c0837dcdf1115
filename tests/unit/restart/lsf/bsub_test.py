#!/usr/bin/env python3
"""bsub -a rail from the submission to the job's output, on the double of LSF's commands (tests/doubles/lsf).

restartd's part, bmod -m and bswitch, is done by hand. Runs in the build directory."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "system"))
from railcluster.process import Timeout, wait_for  # noqa: E402

BUILD = os.getcwd()
DOUBLE = pathlib.Path(__file__).resolve().parents[3] / "doubles" / "lsf" / "lsf_double"
SECONDS = 120  # for what takes moments
SCRIPT = """#!/bin/bash
#BSUB -n 4
# a comment; with a semicolon
if true
then
    printf '%s|' "$RAIL_NODELIST" "$RAIL_SPARE_NODELIST" "$RAIL_SPARES" "$LSB_MCPU_HOSTS"
fi
exit 3
"""


class Bsub(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="railyard-bsub-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.home.chmod(0o755)
        (self.home / "railyard.conf").write_text(f'[agent]\njob_socket = "{self.home}/job.sock"\n[placement]\nfabric = ""\n')
        cluster = self.home / "lsf"
        cluster.mkdir()
        # No TERM behind an INT before the job has had its time.
        (cluster / "lsf.json").write_text('{"time_scale": 20, "timing": {"JOB_TERMINATE_INTERVAL": 20000}}\n')
        server = subprocess.Popen([sys.executable, DOUBLE, "serve", cluster], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end, server)
        self.assertEqual(server.stdout.readline(), "ready\n")
        (cluster / "sbin" / "esub.rail").symlink_to(f"{BUILD}/esub.rail")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAIL_", "LSB_", "LSF_", "OMPI_", "SLURM_"))}
        self.environment = {**kept, "PATH": f"{cluster}/bin:{os.environ['PATH']}", "RAILYARD_CONF": str(self.home / "railyard.conf"),
                            "TMPDIR": str(self.home)}

    @staticmethod
    def end(server):
        server.terminate()
        server.wait()
        server.stdout.close()

    def lsf(self, *words, stdin=subprocess.DEVNULL, **variables):
        return subprocess.run(words, stdin=stdin, capture_output=True, text=True, timeout=SECONDS, cwd=self.home, check=False,
                              env={**self.environment, **variables})

    def as_administrator(self, *words):
        done = self.lsf(*words, LSF_DOUBLE_USER="lsfadmin")
        self.assertEqual(done.returncode, 0, done.stderr)

    def bsub(self, *words, **more):
        done = self.lsf("bsub", "-a", "rail", *words, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("is submitted to queue <gang>", done.stdout)
        return done.stdout.split("<")[1].split(">")[0]

    def start(self, job, hosts):
        self.as_administrator("bmod", "-m", hosts, job)
        self.as_administrator("bswitch", "gangrun", job)

    def state(self, job):
        return self.lsf("bjobs", "-a", "-w", job).stdout.splitlines()[1].split()[2]

    def until(self, job, *states):
        try:
            wait_for(lambda: self.state(job) in states, SECONDS, f"job {job} to be {' or '.join(states)}", every=0.05)
        except Timeout as error:
            self.fail(f"{error}; it is {self.state(job)}")

    def output(self, job):
        path, head = self.home / f"out.{job}", "The output (if any) follows:\n\n"
        wait_for(lambda: head in path.read_text(), SECONDS, f"the output of job {job}", [path], every=0.05)
        return path.read_text().partition(head)[2]

    def test_a_script_gets_its_flags_and_its_plan(self):
        (self.home / "job.sh").write_text(SCRIPT)
        with (self.home / "job.sh").open() as script:
            job = self.bsub("-R", "span[ptile=2]", "-o", "out.%J", stdin=script, RAIL_SPARES="1", RAIL_RESTART="auto")
        shown = self.lsf("bjobs", "-UF", job).stdout
        self.assertIn("Command <" + BUILD + "/rail-lsf-run --rail-spares=1 --restart=auto --line=%23%21/bin/bash%0A", shown)
        self.assertIn("Job Name <job.sh>", shown)
        self.assertIn("Re-runnable", shown)
        self.start(job, "n6+2 n3+1")
        self.until(job, "EXIT")
        self.assertEqual(self.output(job), "n6|n3|1|n6 2 n3 2 |")

    def test_a_line_is_the_users_own(self):
        job = self.bsub("-n", "2", "-R", "span[ptile=2]", "-q", "gang", "-o", "out.%J", "echo \"a  b\" 'c\"d' | cat && exit 4")
        self.start(job, "n1")
        self.until(job, "EXIT")
        self.assertEqual(self.output(job), 'a  b c"d\n')

    def test_a_requeued_job_is_told_once_and_runs_again(self):
        line = f"trap 'echo INT >>{self.home}/got; exit 9' INT; echo start $RAIL_RESTART_COUNT >>{self.home}/got; while :; do sleep 0.05; done"
        job = self.bsub("-n", "2", "-R", "span[ptile=2]", line, RAIL_SPAN="unit", RAIL_RESTART="auto")
        self.start(job, "n1")
        self.seen("start 0\n")
        self.as_administrator("brequeue", "-H", job)
        self.seen("start 0\nINT\n")
        self.until(job, "PSUSP")
        self.as_administrator("bmod", "-m", "n2", job)
        self.as_administrator("bresume", job)
        self.seen("start 0\nINT\nstart 1\n")
        self.as_administrator("bkill", job)
        self.until(job, "EXIT")

    def seen(self, text):
        got = self.home / "got"
        try:
            wait_for(lambda: got.read_text() == text, SECONDS, repr(text), [got], every=0.02)
        except Timeout as error:
            self.fail(f"{error}\n{self.lsf('bhist', '-l', '-u', 'all').stdout}")

    def test_what_cannot_be_is_refused_and_never_submitted(self):
        for words, variables, why in (
                (["-q", "gang", "sleep", "1"], {"RAIL_SPAN": "rack"}, "must be domain, unit, pod or fabric"),
                (["-q", "gang", "-n", "4", "sleep", "1"], {}, "does not say on how many hosts"),
                (["-q", "gang", "-m", "n1", "sleep", "1"], {}, "Railyard chooses the hosts"),
                (["-q", "normal", "sleep", "1"], {"RAIL_SPAN": "unit"}, "Railyard does not place the jobs of this queue: say -q gang")):
            done = self.lsf("bsub", "-a", "rail", *words, **variables)
            self.assertEqual((done.returncode, done.stdout), (255, ""))
            self.assertIn(why, done.stderr)
            self.assertTrue(done.stderr.endswith("Request aborted by esub. Job not submitted.\n"))
        self.assertIn("No unfinished job found", self.lsf("bjobs", "-u", "all").stderr)
        # bmod is none of esub.rail's.
        job = self.bsub("-q", "gang", "sleep", "1")
        self.assertEqual(self.lsf("bmod", "-a", "rail", "-n", "2", job, RAIL_SPAN="rack").returncode, 0)


unittest.main()
