#!/usr/bin/env python3
"""What restartd says that a killed program has lost is what it has lost: a program of each kind, twenty times killed at any
moment, also while it saves, beside railckpt watch of the build directory, and the figure that restartd makes of what it
is told (Commit::beside_s): from the last whole checkpoint to the kill. The same on a cluster: system:restart."""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import queue
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PATIENCE, KILLS, AT_ONCE = 120, 20, 4
GRAIN_S = 0.1  # of a file system's clock, and between the kill and the look at the clock
# Saves each few steps as its framework does, with pauses in between in which it may be killed; says when it begins and ends.
PROGRAM = r"""
import os, pathlib, random, sys, time
kind, folder, numbers = sys.argv[1], pathlib.Path(sys.argv[2]), random.Random(sys.argv[3])
os.chdir(folder)

def put(name, text="tensors"):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    time.sleep(numbers.uniform(0, 0.006))

def replace(name, text):
    put(name + ".writing", text)
    os.rename(name + ".writing", name)

def megatron(n):
    for name in ("__0_0.distcp", "__1_0.distcp", "common.pt", ".metadata", "metadata.json"):
        put(f"iter_{n:07}/{name}")
    replace("latest_checkpointed_iteration.txt", str(n))  # in place, a kill could leave it empty, and the program with nothing

def deepspeed(n):
    for name in ("mp_rank_00_model_states.pt", "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt", "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt"):
        put(f"global_step{n}/{name}")
    replace("latest", f"global_step{n}")

def dcp(n):
    put(f"step-{n}/__0_0.distcp")
    put(f"step-{n}/__1_0.distcp")
    replace(f"step-{n}/.metadata", "pickle")

def nemo(n):
    name = f"gpt--epoch=0-step={n}"
    put(name + "-unfinished", "")
    for shard in ("__0_0.distcp", ".metadata", "metadata.json"):
        put(f"{name}/weights/{shard}")
    put(f"{name}/context/model.yaml")
    os.unlink(name + "-unfinished")

def lightning(n):
    replace(f"epoch=0-step={n}.ckpt", "tensors")

def orbax(n):
    there = f"{n}.orbax-checkpoint-tmp-{n}"
    for name in ("_CHECKPOINT_METADATA", "default/manifest.ocdbt", "commit_success.txt"):
        put(f"{there}/{name}")
    os.rename(there, str(n))

def glob(n):
    replace(f"step_{n}.pt", "tensors")

step = 0
print("began", flush=True)
while True:
    time.sleep(numbers.uniform(0.01, 0.08))
    step += 10
    print("saving", step, time.time(), flush=True)
    globals()[kind](step)
    print("saved", step, time.time(), flush=True)
"""


def goes_on_from(kind, folder):
    """The step that the program itself would load."""
    def text(name):
        return (folder / name).read_text() if (folder / name).exists() else ""

    def steps(pattern, whole=lambda path: True):
        return [int(re.search(r"(\d+)\D*$", path.name)[1]) for path in folder.glob(pattern) if whole(path)]
    found = {
        "megatron": lambda: [int(n) for n in text("latest_checkpointed_iteration.txt").split()],
        "deepspeed": lambda: [int(n) for n in re.findall(r"\d+", text("latest"))],
        "dcp": lambda: steps("step-*", lambda path: (path / ".metadata").exists()),
        "nemo": lambda: steps("gpt--*", lambda path: path.is_dir() and not (folder / f"{path.name}-unfinished").exists()),
        "lightning": lambda: steps("*.ckpt"),
        "orbax": lambda: steps("*", lambda path: path.name.isdigit()),
        "glob": lambda: steps("step_*.pt")}[kind]()
    return max(found, default=None)


class Agent:
    """Takes what nodewatchd would, and notes when."""

    def __init__(self, place):
        self.commits = queue.Queue()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place))
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                with client, client.makefile() as lines:
                    for line in lines:
                        said = json.loads(line)
                        if said["op"] == "commit":
                            self.commits.put((said, time.time()))
                        client.sendall(b'{"ok":true,"interval_s":60.0,"save_by":null,"incident":null}\n')

    def last(self):
        """The step of the last commit, and when what it saved was, as restartd takes it."""
        last = None, None
        while not self.commits.empty():
            said, heard = self.commits.get()
            beside = max(0, said.get("safe_s", 0) - said["cost_s"])
            last = said["step"], heard - beside
        return last


class LostWork(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="railckpt-lost-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name).resolve()

    def kill(self, kind, number):
        """One life and its end: (the figure, the least and the most that it is, both steps)."""
        numbers = random.Random(f"{kind} {number}")
        folder, place = self.scratch / f"{kind}-{number}", self.scratch / f"{kind}-{number}.sock"
        folder.mkdir()
        agent = Agent(place)
        environment = {"PATH": os.environ["PATH"], "SLURM_JOB_ID": "12", "SLURM_JOB_START_TIME": str(int(time.time())),
                       "RAIL_CKPT_SOCKET": str(place), "RAIL_CKPT_DIR": str(folder), "RAIL_CKPT_SIGNAL": "none"}
        word = "glob:step_*.pt" if kind == "glob" else kind
        program = subprocess.Popen([sys.executable, "-c", PROGRAM, kind, str(folder), str(number)], stdout=subprocess.PIPE, text=True)
        watch = subprocess.Popen(["./railckpt", "watch", "--kind", word, "--pid", str(program.pid)], env=environment,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            self.assertEqual(program.stdout.readline(), "began\n")
            time.sleep(numbers.uniform(0.05, 1))
            program.send_signal(signal.SIGKILL)
            killed = time.time()
            said = [line.split() for line in program.stdout if line.endswith("\n")]
            complaints = watch.communicate(timeout=PATIENCE)[1]
            self.assertEqual(watch.returncode, 0, complaints)
        finally:
            for process in (program, watch):
                process.kill()
                process.wait()
            program.stdout.close()
            agent.listener.close()
        began = {int(step): float(moment) for word, step, moment in said if word == "saving"}
        ended = {int(step): float(moment) for word, step, moment in said if word == "saved"}
        step = goes_on_from(kind, folder)
        told, kept = agent.last()
        shutil.rmtree(folder)
        if step is None:
            return None if told is None else f"restartd knows step {told}, and the program none"
        if told != step:
            return f"restartd knows step {told}, the program goes on from {step}: {complaints}"
        least, most = killed - ended.get(step, killed) - GRAIN_S, killed - began[step] + GRAIN_S
        if not least <= killed - kept <= most:
            return f"restartd says {killed - kept:.3f} s, of step {step}; it is {least:.3f} to {most:.3f} s"
        return None

    def check_kind(self, kind):
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            wrong = [text for text in pool.map(lambda number: self.kill(kind, number), range(KILLS)) if text]
        self.assertEqual(wrong, [], f"{KILLS - len(wrong)} of {KILLS} are right")

    def test_megatron(self):
        self.check_kind("megatron")

    def test_deepspeed(self):
        self.check_kind("deepspeed")

    def test_dcp(self):
        self.check_kind("dcp")

    def test_nemo(self):
        self.check_kind("nemo")

    def test_orbax(self):
        self.check_kind("orbax")

    def needs_leases(self):
        """These kinds have no marker: whether a file is whole is known at once on a file system of this host alone."""
        kind = subprocess.run(["stat", "-f", "-c", "%T", self.scratch], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        if kind not in ("ext2/ext3", "xfs", "btrfs", "f2fs", "zfs", "tmpfs", "overlayfs"):
            self.skipTest(f"{self.scratch} is on {kind}, where a file counts after ten quiet seconds")

    def test_lightning(self):
        self.needs_leases()
        self.check_kind("lightning")

    def test_glob(self):
        self.needs_leases()
        self.check_kind("glob")


if __name__ == "__main__":
    unittest.main()
