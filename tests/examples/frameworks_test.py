#!/usr/bin/env python3
"""The examples for DeepSpeed, Megatron-LM, Lightning and NeMo, and railcallbacks for others, over doubles of these
(doubles.py) and the real librailckpt: killed, started again and checked for where they go on. Examples that need no double run on a cluster, in
tests/system/test_examples.py. Run in the build directory.
"""
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1]
EXAMPLES = SOURCE / "examples"
BUILD = pathlib.Path.cwd()
OFTEN = "0.000001"  # after every step


def runtime(library):
    needed = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    return " ".join(re.findall(r"=> (\S*/lib[a-z]*san\.so\S*)", needed))


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="examples-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.folder = self.scratch / "ck"
        self.folder.mkdir()
        self.before = {key: value for key, value in os.environ.items() if not key.startswith(("RAIL_", "SLURM_", "LD_"))}
        self.before.update(LD_LIBRARY_PATH=str(BUILD / ".libs"), LD_PRELOAD=runtime(BUILD / ".libs/librailckpt.so.0"),
                           ASAN_OPTIONS="detect_leaks=0", RAIL_CKPT_DIR=str(self.folder), SLURM_JOB_ID="12", RANK="0",
                           RAIL_CKPT_INTERVAL=OFTEN, LOCAL_RANK="0", WORLD_SIZE="1", SLURM_NNODES="4", SLURM_NTASKS_PER_NODE="8",
                           PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=f"{SOURCE / 'src/restart/ckpt'}:{HERE}:{self.scratch}")

    def start(self, script, *arguments, cwd=None, status=0, **environment):
        """Its output; a script of an example, over the doubles."""
        program = "import doubles, runpy, sys; doubles.install(); del sys.argv[0]; runpy.run_path(sys.argv[0], run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", program, script, *arguments], env={**self.before, **environment},
                              cwd=cwd or EXAMPLES / str(script).split("/", maxsplit=1)[0], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout)
        return done.stdout

    def published(self):
        """The names of committed checkpoints, and of all files in the newest."""
        names = sorted(path.name for path in self.folder.glob("ckpt-*"))
        newest = self.folder / names[-1] if names else self.folder / "none"
        return names, sorted(path.relative_to(newest).as_posix() for path in newest.rglob("*") if path.is_file())


class DeepSpeed(Case):
    def train(self, *arguments, **more):
        return self.start(EXAMPLES / "deepspeed/train.py", *arguments, cwd=EXAMPLES / "deepspeed", **more)

    def test_killed_and_resumed(self):
        said = self.train("6", status=9, FAULT_AT="4")
        self.assertIn("start step 0 of 6", said)
        names, files = self.published()
        self.assertEqual(names[-1], "ckpt-E0000-S000000000004")
        self.assertEqual(files, ["MANIFEST.json", "latest", "state/mp_rank_00_model_states.pt"])
        said = self.train("6", SLURM_RESTART_COUNT="1")
        self.assertIn("start step 4 of 6", said)
        self.assertIn("train: done", said)
        newest = self.folder / self.published()[0][-1]
        self.assertEqual(newest.name, "ckpt-E0001-S000000000006")
        self.assertEqual(json.loads((newest / "state/mp_rank_00_model_states.pt").read_text()), [6, {"steps": 6}])

    def test_full_disk_and_fence(self):
        said = self.train("4", FULL_AT="2")
        self.assertIn("checkpoint of step 2 failed, the job goes on: [Errno 28] No space left", said)
        self.assertEqual(self.published()[0], ["ckpt-E0000-S000000000001", "ckpt-E0000-S000000000004"],
                         "it is tried again after 5 s, and at the end")
        self.train("5", SLURM_RESTART_COUNT="1")
        said = self.train("9", status=1)
        self.assertIn("FencedError: ", said)

    def test_a_decoupled_engine_writes_beside_the_training(self):
        self.train("6", status=9, FAULT_AT="4", DECOUPLED="1")
        self.assertEqual(self.published()[0][-1], "ckpt-E0000-S000000000003", "what was still being written is not published")
        said = self.train("6", SLURM_RESTART_COUNT="1", DECOUPLED="1")
        self.assertIn("start step 3 of 6", said)
        names, files = self.published()
        self.assertEqual(names[-1], "ckpt-E0001-S000000000006")
        self.assertEqual(files, ["MANIFEST.json", "latest", "state/mp_rank_00_model_states.pt"])


class Megatron(Case):
    def setUp(self):
        super().setUp()
        (self.scratch / "pretrain_gpt.py").write_text("import doubles\nif __name__ == '__main__':\n    doubles.pretrain()\n")

    def pretrain(self, *arguments, **more):
        return self.start(EXAMPLES / "megatron/railckpt_megatron.py", "pretrain_gpt.py", *arguments, cwd=self.scratch, **more)

    def last(self):
        """As job.sh finds it."""
        done = subprocess.run([BUILD / "railckpt", "latest", "--verify", "--dir", self.folder], stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.strip()

    def test_killed_and_resumed(self):
        self.assertIn("arguments ['--seed', '1']", self.pretrain("--seed", "1", status=9, FAULT_AT="4"))
        names, files = self.published()
        self.assertEqual(names[-1], "ckpt-E0000-S000000000004")
        self.assertEqual(files, ["MANIFEST.json", "iter_0000004/common.pt", "latest_checkpointed_iteration.txt"])
        said = self.pretrain("--load", self.last(), SLURM_RESTART_COUNT="1")
        self.assertIn("start iteration 4", said)
        self.assertIn("done, iteration 6", said)
        self.assertEqual(self.published()[0][-1], "ckpt-E0001-S000000000006")

    def test_signal_saves_before_it_leaves(self):
        said = self.pretrain(RAIL_CKPT_INTERVAL="1h", SIGNAL_AT="3")
        self.assertIn("pretrain: leaves", said)
        self.assertEqual(self.published()[0], ["ckpt-E0000-S000000000003"])

    def test_full_disk_and_fence(self):
        said = self.pretrain(FULL_AT="2")
        self.assertIn("checkpoint of step 2 failed, the job goes on: [Errno 28]", said)
        self.assertIn("done, iteration 6", said)
        self.pretrain(SLURM_RESTART_COUNT="1")
        self.assertIn("FencedError: ", self.pretrain(status=1))

    def test_async_save_writes_beside_the_training(self):
        self.pretrain("--async-save", status=9, FAULT_AT="4")
        self.assertEqual(self.published()[0][-1], "ckpt-E0000-S000000000003", "what was still being written is not published")
        said = self.pretrain("--async-save", "--load", self.last(), SLURM_RESTART_COUNT="1")
        self.assertIn("start iteration 3", said)
        names, files = self.published()
        self.assertEqual(names[-1], "ckpt-E0001-S000000000006")
        self.assertEqual(files, ["MANIFEST.json", "iter_0000006/common.pt", "latest_checkpointed_iteration.txt"])

    def test_signal_saves_asynchronously_before_it_leaves(self):
        said = self.pretrain("--async-save", RAIL_CKPT_INTERVAL="1h", SIGNAL_AT="3")
        self.assertIn("pretrain: leaves", said)
        self.assertEqual(self.published()[0], ["ckpt-E0000-S000000000003"])


class Nemo(Case):
    def pretrain(self, **more):
        return self.start(EXAMPLES / "nemo/pretrain.py", cwd=EXAMPLES / "nemo", RESULTS=str(self.scratch / "results"),
                          **more)

    def check_killed_and_resumed(self, last, **more):
        self.pretrain(status=9, FAULT_AT="4", **more)
        names, files = self.published()
        self.assertEqual(names[-1], f"ckpt-E0000-S00000000000{last}")
        self.assertEqual(files, ["MANIFEST.json", "state/weights/common.pt"])
        said = self.pretrain(SLURM_RESTART_COUNT="1", RAIL_RESUME=str(self.folder / names[-1]), **more)
        self.assertIn(f"fit: start step {last}", said)
        self.assertIn("fit: done, step 6", said)
        self.assertEqual(self.published()[0][-1], "ckpt-E0001-S000000000006")

    def test_killed_and_resumed(self):
        self.check_killed_and_resumed(3)  # the fourth was still being written

    def test_killed_and_resumed_without_asynchronous_saving(self):
        self.check_killed_and_resumed(4, SYNC="1")

    def test_full_disk_and_fence(self):
        said = self.pretrain(FULL_AT="2", SYNC="1")
        self.assertIn("checkpoint of step 2 failed, the job goes on: [Errno 28]", said)
        self.assertIn("fit: done, step 6", said)
        last = self.published()[0][-1]
        self.pretrain(SLURM_RESTART_COUNT="1", RAIL_RESUME=str(self.folder / last))
        self.assertIn("FencedError: ", self.pretrain(status=1))


class Callbacks(Case):
    """railcallbacks for frameworks without an example, or whose example runs on a cluster."""

    def program(self, text):
        path = self.scratch / "program.py"
        path.write_text("import json, logging, os, pathlib, railcallbacks, railckpt\nlogging.basicConfig()\n" + text)
        return path

    def test_distributed_checkpoints_are_written_beside_the_training(self):
        gate = self.scratch / "gate"
        program = self.program(f"""
done = []
with railckpt.open_group(0, railcallbacks.gather_torch()) as ck:
    for step in ck.steps(0, 6, railcallbacks.dcp(lambda: len(done)), failures=railcallbacks.dcp_failures()):
        done.append(step)
        if step == 3:
            assert not list(pathlib.Path({str(self.folder)!r}).glob("ckpt-*")), "published before it was whole"
            open({str(gate)!r}, "w").close()
""")
        self.start(program, cwd=self.scratch, GATE=str(gate))
        names, files = self.published()
        self.assertEqual(names[-1], "ckpt-E0000-S000000000006")
        self.assertEqual(files, [".metadata", "MANIFEST.json", "__0_0.distcp"])

    def test_a_distributed_checkpoint_that_fails_does_not_end_the_job(self):
        program = self.program("""
done = []
with railckpt.open_group(0, railcallbacks.gather_torch()) as ck:
    for step in ck.steps(0, 3, railcallbacks.dcp(lambda: len(done)), failures=railcallbacks.dcp_failures()):
        done.append(step)
""")
        said = self.start(program, cwd=self.scratch, FULL_AT="1")
        self.assertIn("checkpoint of step 1 failed, the job goes on: No space left on device", said)
        self.assertEqual(self.published()[0], ["ckpt-E0000-S000000000003"])

    def test_hugging_faces_trainer(self):
        program = self.program("import doubles\ndoubles.train(railcallbacks.trainer(), os.environ['OUT'], 6, railcallbacks.resume_from())\n")
        out = str(self.scratch / "out")
        self.start(program, cwd=self.scratch, status=9, FAULT_AT="3", OUT=out)
        names, files = self.published()
        self.assertEqual((names[-1], files), ("ckpt-E0000-S000000000003", ["MANIFEST.json", "state/trainer_state.json"]))
        said = self.start(program, cwd=self.scratch, SLURM_RESTART_COUNT="1", RAIL_RESUME=str(self.folder / names[-1]), OUT=out + "2",
                          RAIL_CKPT_INTERVAL="1h")
        self.assertIn("trainer: start step 3", said)
        self.assertEqual(self.published()[0][-1], "ckpt-E0001-S000000000004", "what the Trainer saves itself is published, too")

    def test_orbax(self):
        program = self.program("""
done = []
with railckpt.open() as ck:
    for step in ck.steps(0, 4, railcallbacks.orbax(lambda: len(done))):
        done.append(step)
""")
        self.start(program, cwd=self.scratch)
        names, files = self.published()
        self.assertEqual((names[-1], files), ("ckpt-E0000-S000000000004", ["MANIFEST.json", "state/.metadata", "state/__0_0.distcp"]))

    def test_each_has_thirty_lines_at_most(self):
        tree = ast.parse((SOURCE / "src/restart/ckpt/railcallbacks.py").read_text())
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.assertLessEqual(node.end_lineno - node.lineno + 1, 30, node.name)


class Files(unittest.TestCase):
    """What is the same for all examples."""

    def test_python_is_readable_by_3_8_and_names_its_version(self):
        for path in sorted(EXAMPLES.glob("*/*.py")):
            with self.subTest(path):
                text = path.read_text()
                documented = ast.get_docstring(ast.parse(text, feature_version=(3, 8)))
                if path.name != "train.py" or path.parent.name != "python":
                    self.assertRegex(documented, r"(Written against|NeMo 2)")

    def test_job_scripts_are_shell_and_ask_for_what_railyard_needs(self):
        scripts = sorted(EXAMPLES.glob("*/job.sh"))
        self.assertEqual([path.parent.name for path in scripts], ["deepspeed", "megatron", "mpi", "nemo", "python", "torch"])
        for path in scripts:
            with self.subTest(path):
                subprocess.run(["sh", "-n", path], check=True)
                text = path.read_text()
                self.assertIn("--restart=auto", text)
                self.assertIn("sbatch --ckpt-dir=", text)
                self.assertIn("#SBATCH --open-mode=append", text)

    def test_they_are_all_installed(self):
        listed = (EXAMPLES / "local.mk").read_text()
        for path in EXAMPLES.glob("**/*"):
            if path.is_file() and path.name != "local.mk" and "__pycache__" not in path.parts:
                self.assertIn(f"%D%/{path.relative_to(EXAMPLES).as_posix()}", listed)


if __name__ == "__main__":
    unittest.main()
