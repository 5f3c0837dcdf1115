#!/usr/bin/env python3
"""railckpt watch, of the build directory, over a directory that a program writes to and a socket that is nodewatchd's."""
import json
import os
import pathlib
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PATIENCE = 120  # seconds for what takes less than one
JOB = str(os.getpid())  # a number that no other test has: processes of the job are signalled


class Agent:
    """Answers as nodewatchd does, and keeps the commits that it was told; asks to save for `incident`, where there is one."""

    def __init__(self, place):
        self.commits, self.incident = queue.Queue(), None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(place))
        self.listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            for line in client.makefile():
                said = json.loads(line)
                if said["op"] == "commit":
                    self.commits.put((said, time.time()))
                save_by = time.time() + 300 if self.incident else None
                client.sendall(json.dumps({"ok": True, "interval_s": 60.0, "save_by": save_by, "incident": self.incident}).encode() + b"\n")


class Watch(unittest.TestCase):
    """What a user sees of it, and what restartd is told."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="railckpt-watch-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name).resolve()
        self.dir, self.socket = self.folder / "run7", self.folder / "agent"
        self.dir.mkdir()

    def start(self, *words, **environment):
        railckpt = subprocess.Popen(
            ["./railckpt", "watch", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": JOB, "SLURM_RESTART_COUNT": "1",
                 "RAIL_CKPT_SOCKET": str(self.socket), "RAIL_CKPT_DIR": str(self.dir), **environment})
        self.addCleanup(railckpt.wait)
        self.addCleanup(railckpt.kill)
        self.said = {}
        for stream in ("stdout", "stderr"):
            lines = self.said[stream] = queue.Queue()
            threading.Thread(target=lambda pipe=getattr(railckpt, stream), to=lines: [to.put(line) for line in pipe],
                             daemon=True).start()
        return railckpt

    def hear(self, text):
        """A line of standard error with this text; others may come before."""
        while text not in (line := self.said["stderr"].get(timeout=PATIENCE)):
            pass
        return line

    def end(self, railckpt):
        railckpt.send_signal(signal.SIGTERM)
        self.assertEqual(railckpt.wait(PATIENCE), 0)

    def save(self, step, shards=2):
        folder = self.dir / f"iter_{step:07}"
        folder.mkdir()
        for name in (*(f"__{rank}_0.distcp" for rank in range(shards)), ".metadata", "metadata.json"):
            (folder / name).write_text("tensors")
        (self.dir / "latest_checkpointed_iteration.txt").write_text(str(step))

    def test_each_whole_checkpoint_is_reported_as_it_is_done(self):
        agent = Agent(self.socket)
        railckpt = self.start("--kind", "megatron", "--json")
        for step in (100, 200):
            begun = time.time()
            self.save(step)
            commit, heard = agent.commits.get(timeout=PATIENCE)
            self.assertEqual((commit["step"], commit["path"], commit["bytes"]), (step, str(self.dir / f"iter_{step:07}"), 28))
            # restartd takes what was saved to be so much older than the report: it is of when the save was over.
            kept = heard - (commit.get("safe_s", 0) - commit["cost_s"])
            self.assertGreater(kept, begun - 0.1)
            self.assertLessEqual(commit["cost_s"], heard - begun + 0.1)
            told = json.loads(self.said["stdout"].get(timeout=PATIENCE))
            self.assertEqual((told["kind"], told["step"], told["files"]), ("megatron", step, 4))
        self.end(railckpt)
        self.assertTrue(agent.commits.empty())

    def test_what_is_whole_when_it_is_ended_is_reported_still(self):
        agent = Agent(self.socket)
        railckpt = self.start()
        self.save(100)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 100)
        self.save(200)
        self.end(railckpt)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 200)

    def test_an_agent_that_is_away_hears_it_later(self):
        railckpt = self.start()
        self.save(100)
        self.hear("not reported yet")
        agent = Agent(self.socket)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 100)
        self.end(railckpt)

    def test_a_directory_that_is_made_later_and_one_that_nobody_knows(self):
        agent = Agent(self.socket)
        railckpt = self.start(str(self.folder / "later"), RAIL_CKPT_DIR="")
        self.hear("no such checkpoint directory")
        self.dir = self.folder / "later"
        self.dir.mkdir()
        (self.dir / "state").write_text("state")
        self.hear("its checkpoints are not known to Railyard: name their kind with --kind")
        self.save(100)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 100)
        self.end(railckpt)

    def test_an_earlier_start_of_the_job_is_not_reported(self):
        agent = Agent(self.socket)
        self.save(100)
        for path in (*self.dir.rglob("*"), self.dir):
            os.utime(path, (1e9, 1e9))
        railckpt = self.start()
        self.save(200)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 200)
        self.end(railckpt)

    def test_blocked_is_what_it_costs(self):
        agent = Agent(self.socket)
        railckpt = self.start("--blocked", "1ms")
        self.save(100)
        self.assertLessEqual(agent.commits.get(timeout=PATIENCE)[0]["cost_s"], 0.001)
        self.end(railckpt)

    def test_it_ends_with_the_process_that_it_stands_beside(self):
        agent = Agent(self.socket)
        program = subprocess.Popen(["sleep", "1h"])
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        railckpt = self.start("--pid", str(program.pid))
        self.save(100)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 100)
        self.save(200)
        program.kill()
        self.assertEqual(railckpt.wait(PATIENCE), 0)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 200)

    def test_that_looks_at_many_shards_are_spread_is_said(self):
        agent = Agent(self.socket)
        railckpt = self.start("--kind", "megatron")
        self.save(100, shards=600)
        self.hear("no more than 500 are asked in a second")
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["bytes"], 602 * 7)
        self.end(railckpt)

    def trains(self, *words, after="", **environment):
        """A program of the job that saves step 300 when it gets SIGTERM, as Megatron-LM does, and ends then."""
        program = subprocess.Popen([sys.executable, "-c", f"""
import pathlib, signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
folder = pathlib.Path(sys.argv[1])
print("ready", flush=True)
while not asked and not (folder / "exit").exists():
    time.sleep(0.01)
to = folder / "iter_0000300"
to.mkdir()
for name in ("__0_0.distcp", ".metadata", "metadata.json"):
    (to / name).write_text("tensors")
(folder / "latest_checkpointed_iteration.txt").write_text("300")
{after}
""", str(self.dir)], stdout=subprocess.PIPE, text=True, env={"PATH": os.environ["PATH"], "SLURM_JOB_ID": JOB, **environment})
        self.addCleanup(program.stdout.close)
        self.addCleanup(program.wait)
        self.addCleanup(program.kill)
        self.assertEqual(program.stdout.readline(), "ready\n")
        return program

    def test_a_program_is_asked_to_save_as_its_framework_takes_it(self):
        agent = Agent(self.socket)
        program = self.trains(RANK="0")
        railckpt = self.start()  # the kind is seen by what is there
        self.save(200)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 200)
        self.assertIsNone(program.poll())
        agent.incident = "i-7"
        self.assertIn(f"(i-7): SIGTERM sent to process {program.pid}", self.hear("Railyard asks to save by"))
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 300)
        self.assertEqual(program.wait(PATIENCE), 0)
        self.end(railckpt)

    def test_a_program_that_is_not_ready_is_asked_when_it_is(self):
        agent = Agent(self.socket)
        agent.incident = "i-7"
        railckpt = self.start("--kind", "megatron")
        self.hear("no process of the job on this host that SIGTERM may be sent catches it")
        program = self.trains(RANK="0")
        self.hear(f"SIGTERM sent to process {program.pid}")
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 300)
        self.end(railckpt)

    def test_a_file_asks_and_is_gone_when_it_has_saved(self):
        agent = Agent(self.socket)
        (self.dir / "exit").write_text("railckpt: save\n")  # a start whose host was lost
        railckpt = self.start("--kind", "megatron", RAIL_CKPT_SIGNAL=f"file:{self.dir}/exit")
        self.save(200)
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 200)
        program = self.trains(after="while (folder / 'exit').exists(): time.sleep(0.01)")
        self.assertIsNone(program.poll())
        agent.incident = "i-7"
        self.hear(f"{self.dir}/exit made")
        self.assertEqual(agent.commits.get(timeout=PATIENCE)[0]["step"], 300)
        self.assertEqual(program.wait(PATIENCE), 0)
        self.end(railckpt)
        self.assertFalse((self.dir / "exit").exists())

    def test_a_request_that_is_withdrawn_leaves_no_file(self):
        agent = Agent(self.socket)
        agent.incident = "i-7"
        railckpt = self.start("--kind", "megatron", "--signal", f"file:{self.dir}/exit")
        self.hear("exit made")
        agent.incident = None
        deadline = time.monotonic() + PATIENCE
        while (self.dir / "exit").exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)
        self.end(railckpt)

    def test_who_hears_nothing_is_told_so(self):
        agent = Agent(self.socket)
        agent.incident = "i-7"
        railckpt = self.start("--kind", "deepspeed")
        self.hear("no way to ask it is known (--ckpt-signal)")
        self.end(railckpt)

    def test_wrong_words_are_refused(self):
        for words, why in ((["--kind", "torch"], "--kind=torch: must be auto"), (["--dir", "a", "b"], "give one"),
                           (["--signal", "KILL@ranks"], "--signal=KILL@ranks: must be none, file:PATH, or a signal"),
                           (["--blocked", "-1"], "--blocked"), (["--pid", "x"], "--pid=x: the number of a process is wanted")):
            done = subprocess.run(["./railckpt", "watch", *words], capture_output=True, text=True, check=False,
                                  env={"PATH": os.environ["PATH"], "RAIL_CKPT_DIR": str(self.dir)}, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            self.assertIn(why, done.stderr)


if __name__ == "__main__":
    unittest.main()
