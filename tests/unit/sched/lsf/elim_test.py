#!/usr/bin/env python3
"""elim.rail as LSF's lim runs it, beside a real nodewatchd over doubles of a host's HCAs and GPUs.

Runs in the build directory."""
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "system"))
from railcluster.speed import slowness  # noqa: E402

BUILD = os.getcwd()
GEN_SYSFS = pathlib.Path(__file__).resolve().parents[3] / "doubles" / "gen_sysfs.py"
SECONDS = 60 * slowness()  # in which a line comes each 5


class Elim(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="railyard-elim-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.conf = self.home / "railyard.conf"
        self.configure()
        subprocess.run([sys.executable, GEN_SYSFS, self.home / "sys", "--hcas", "2", "--host", "n001"], check=True)
        self.gpus("")

    def configure(self, more=""):
        # Port 9 (discard): nobody answers, and nobody must.
        self.conf.write_text(f'[agent]\njob_socket = "{self.home}/job.sock"\nsysfs = "{self.home}/sys"\nkmsg = ""\n'
                             f'nvml = "{BUILD}/tests/doubles/libnvidia-ml.so.1"\n{more}\n'
                             '[restartd]\nurl = "http://127.0.0.1:9"\n[placement]\nfabric = ""\n')

    def gpus(self, text):
        fresh = self.home / "nvml.new"
        fresh.write_text(f"count=2\n{text}")
        fresh.rename(self.home / "nvml")

    def start(self, command, **more):
        process = subprocess.Popen(command, env={**os.environ, "RAIL_NVML_STATE": str(self.home / "nvml")}, text=True, **more)

        def end():
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):
                if pipe:
                    pipe.close()

        self.addCleanup(end)
        return process

    def agent(self):
        return self.start([f"{BUILD}/nodewatchd", "--config", self.conf, "--host", "n001"], stderr=subprocess.DEVNULL)

    def elim(self, *options, environment=None):
        return subprocess.run([f"{BUILD}/elim.rail", "--config", self.conf, *options], capture_output=True, text=True, timeout=60,
                              env={**os.environ, **(environment or {})}, check=False)

    def until(self, wanted, lines):
        end = time.monotonic() + SECONDS
        told = []
        while time.monotonic() < end:
            if select.select([lines], [], [], 1)[0]:
                told.append(lines.readline())
                if told[-1] == wanted:
                    return
        self.fail(f"no {wanted!r} within {SECONDS:.0f} s: {told}")

    def test_lim_is_told_of_faults_and_of_their_end(self):
        self.agent()
        slow = self.start([f"{BUILD}/elim.rail", "--config", self.conf], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        gone = self.start([f"{BUILD}/elim.rail", "--config", self.conf], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        lim = self.start([f"{BUILD}/elim.rail", "--config", self.conf], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.until("2 health 100 planned 0\n", lim.stdout)
        self.gpus("0.lost=1\n")
        self.until("2 health 0 planned 0\n", lim.stdout)
        # lim has gone: elim.rail must not stay behind, though lim has left a line of it.
        self.assertTrue(select.select([gone.stdout], [], [], SECONDS)[0])
        for one in (gone, lim):
            one.stdout.close()
            one.stdout = None
            self.assertEqual(one.wait(SECONDS), 0)
        # Two more lines were due by then: none waits behind one that has not been taken.
        self.assertEqual(os.read(slow.stdout.fileno(), 65536).count(b"\n"), 1)

    def test_without_an_agent_a_host_is_taken_last_and_never_closed(self):
        done = self.elim("--once")
        self.assertEqual((done.returncode, done.stdout), (0, "2 health 60 planned 0\n"))
        self.assertIn(f"nodewatchd at {self.home}/metrics.sock: No such file or directory", done.stderr)

    def test_only_what_lsf_asks_for(self):
        self.assertEqual(self.elim("--once", environment={"LSF_RESOURCES": "mem planned"}).stdout, "1 planned 0\n")
        done = self.elim("--once", environment={"LSF_RESOURCES": "mem tmp"})
        self.assertEqual((done.returncode, done.stdout), (97, ""))
        self.assertIn("LSF asks for mem tmp, neither health nor planned", done.stderr)

    def test_what_cannot_work_is_refused(self):
        self.configure('metrics_socket = ""')
        done = self.elim()
        self.assertEqual(done.returncode, 2)
        self.assertIn("metrics_socket is empty", done.stderr)
        self.assertEqual(self.elim("--twice").returncode, 2)
        full = subprocess.run(f"{BUILD}/elim.rail --once >/dev/full", shell=True, capture_output=True, check=False)
        self.assertEqual(full.returncode, 2)


unittest.main()
