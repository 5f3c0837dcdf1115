#!/usr/bin/env python3
"""esub.rail as bsub runs it, on parameter files as an engine with LSF's commands wrote them.

Runs in the build directory."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.getcwd()

# What bsub -q gang -n 16 -R "span[ptile=8]" ./train.sh --name "a b" '$HOME' hands over.
GANG = '''LSB_SUB_QUEUE="gang"
LSB_SUB_RES_REQ="span[ptile=8]"
LSB_SUB_COMMANDNAME="./train.sh"
LSB_SUB_COMMAND_LINE="./train.sh --name "a b" '$HOME'"
LSB_SUB_NUM_PROCESSORS=16
LSB_SUB_MAX_NUM_PROCESSORS=16
LSB_SUB_ADDITIONAL="rail"
'''
# Of bsub with most of its options, and of bmod.
MANY = '''LSB_SUB_JOB_NAME="j\\"q"
LSB_SUB_QUEUE="rail"
LSB_SUB_IN_FILE="/dev/null"
LSB_SUB_OUT_FILE="/home/alice/out with space"
LSB_SUB_ERR_FILE="/home/alice/err"
LSB_SUB_NOTIFY_END=Y
LSB_SUB_NOTIFY_BEGIN=Y
LSB_SUB_RERUNNABLE=Y
LSB_SUB_DEPEND_COND="ended(1)"
LSB_SUB_PRE_EXEC="/bin/true pre"
LSB_SUB_LOGIN_SHELL="/bin/bash"
LSB_SUB_MAIL_USER="alice@x"
LSB_SUB_PROJECT_NAME="proj"
LSB_SUB_COMMANDNAME="sh"
LSB_SUB_COMMAND_LINE="sh -c 'echo "hi" 'there' \\ back'"
LSB_SUB_HOSTS="n1 n2 "
LSB_SUB_RLIMIT_CPU=300
LSB_SUB_RLIMIT_RSS=1000
LSB_SUB_RLIMIT_RUN=5400
LSB_SUB_NUM_PROCESSORS=2
LSB_SUB_MAX_NUM_PROCESSORS=4
LSB_SUB_BEGIN_TIME=1795391940
LSB_SUB_ADDITIONAL="rail"
'''
SCRIPT = '''LSB_SUB_QUEUE="gang"
LSB_SUB_RES_REQ="span[ptile=8]"
LSB_SUB_COMMANDNAME="echo"
LSB_SUB_COMMAND_LINE="#!/bin/bash;#BSUB -n 8;#BSUB -q rail;echo one;sleep 1  "
LSB_SUB_NUM_PROCESSORS=8
LSB_SUB_MAX_NUM_PROCESSORS=8
'''
BMOD = '''LSB_SUB_RES_REQ="span[ptile=4]"
LSB_SUB_MODIFY=Y
LSB_SUB_COMMANDNAME="27"
LSB_SUB_COMMAND_LINE="27"
LSB_SUB_NUM_PROCESSORS=8
LSB_SUB_MAX_NUM_PROCESSORS=8
LSB_SUB_HOSTS="n4+2 n2+1 "
'''


class Esub(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="railyard-esub-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.conf = self.home / "railyard.conf"
        self.conf.write_text(f'[placement]\nfabric = "{self.home}/fabric.json"\n')
        self.parm, self.modify = self.home / "parm", self.home / "modify"

    def fabric(self, spec):
        subprocess.run([f"{BUILD}/railtopo", "synth", "--out", self.home / "fabric.json", spec], check=True, capture_output=True)

    def esub(self, text, *words, **variables):
        if text is not None:
            self.parm.write_text(text)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("RAIL_", "LSB_"))}
        environment |= {"RAILYARD_CONF": str(self.conf), "LSB_SUB_PARM_FILE": str(self.parm), "LSB_SUB_MODIFY_FILE": str(self.modify),
                        "LSB_SUB_ABORT_VALUE": "97", **variables}
        return subprocess.run([f"{BUILD}/esub.rail", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                              env=environment, check=False)

    def rewritten(self, *arguments, **variables):
        done = self.esub(*arguments, **variables)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        return self.modify.read_text()

    def refused(self, *arguments, **variables):
        before = self.modify.read_bytes() if self.modify.exists() else None
        done = self.esub(*arguments, **variables)
        self.assertEqual((done.returncode, done.stdout), (97, ""))
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith("esub.rail: "), done.stderr)
        self.assertEqual(self.modify.read_bytes() if self.modify.exists() else None, before)
        return done.stderr

    def untouched(self, *arguments, **variables):
        done = self.esub(*arguments, **variables)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertFalse(self.modify.exists())

    def test_flags_of_the_environment_go_into_the_command(self):
        text = self.rewritten(GANG, "-r", RAIL_SPAN="unit", RAIL_CKPT_DIR="/scratch/r7", RAIL_RESTART="auto")
        line = text.splitlines()[-1]
        self.assertTrue(line.startswith('LSB_SUB_COMMAND_LINE="/'), text)
        self.assertTrue(line.endswith('/rail-lsf-run --rail-span=unit --restart=auto --ckpt-dir=/scratch/r7 '
                                      '--line=./train.sh%20--name%20%22a%20b%22%20%27%24HOME%27"'), text)
        self.assertEqual(text.splitlines()[:-1], ["LSB_SUB_RERUNNABLE=Y", 'LSB_SUB_JOB_NAME="train.sh"'])
        # As a plain esub and by -a it runs twice.
        self.assertEqual(self.rewritten(GANG, "-r", RAIL_SPAN="unit", RAIL_CKPT_DIR="/scratch/r7", RAIL_RESTART="auto"), text)

    def test_arguments_count_before_the_environment(self):
        self.assertIn("--rail-span=unit --restart=auto --ckpt-dir=/scratch/r7 ",
                      self.rewritten(GANG, "span=unit", "ckpt=/scratch/r7", "restart=auto", RAIL_SPAN="pod"))

    def test_a_script_on_standard_input_is_taken_from_bsubs_file(self):
        """bsub has read it to the end, and hands over its lines joined; it is the esub's parent."""
        script = self.home / "job.sh"
        script.write_text("#!/bin/bash\n#BSUB -n 8\n#BSUB -q rail\necho one\nsleep 1\n")
        self.parm.write_text(SCRIPT)
        bsub = f'while read -r line; do :; done; {BUILD}/esub.rail -r </dev/null; exit $?'
        environment = {**os.environ, "RAILYARD_CONF": str(self.conf), "LSB_SUB_PARM_FILE": str(self.parm),
                       "LSB_SUB_MODIFY_FILE": str(self.modify)}
        with script.open() as text:
            done = subprocess.run(["/bin/bash", "-c", bsub], stdin=text, env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text = self.modify.read_text()
        self.assertIn("--line=%23%21/bin/bash%0A%23BSUB%20-n%208%0A%23BSUB%20-q%20rail%0Aecho%20one%0Asleep%201%0A\"", text)
        self.assertIn('LSB_SUB_JOB_NAME="job.sh"', text)

    def test_what_other_esubs_have_changed_stays(self):
        self.modify.write_text('LSB_SUB_PROJECT_NAME="p"\nLSB_SUB_COMMAND_LINE="nice ./train.sh"\n')
        text = self.rewritten(GANG)
        self.assertEqual(text.splitlines()[0], 'LSB_SUB_PROJECT_NAME="p"')
        self.assertEqual(text.count("LSB_SUB_COMMAND_LINE"), 1)
        self.assertIn("--line=nice%20./train.sh", text)

    def test_jobs_that_are_none_of_ours_pass(self):
        self.untouched(MANY)
        self.untouched(SCRIPT.replace("gang", "normal"))
        self.untouched(BMOD, RAIL_SPAN="bogus")
        self.untouched("")
        self.conf.write_text("not = [toml")
        done = self.esub(MANY)
        self.assertEqual(done.returncode, 0)
        self.assertIn("the job is submitted as it is", done.stderr)

    def test_the_configuration_names_the_parking_queues(self):
        self.conf.write_text('[lsf]\nparking_queues = ["park", "gang"]\n')
        self.assertIn('LSB_SUB_QUEUE="park"', self.rewritten(GANG.replace('LSB_SUB_QUEUE="gang"\n', ""), RAIL_SPAN="unit"))
        self.modify.unlink()
        self.conf.write_text('[lsf]\nparking_queues = ["park"]\n')
        self.assertIn("-q gang: Railyard does not place the jobs of this queue: say -q park", self.refused(GANG, RAIL_SPAN="unit"))
        self.untouched(GANG)

    def test_refusals(self):
        self.assertIn("--rail-span=bogus: must be domain, unit, pod or fabric", self.refused(GANG, RAIL_SPAN="bogus"))
        self.assertIn("no such word; there are span=", self.refused(GANG, "spam=unit"))
        self.assertIn("a script on bsub's standard input", self.refused(SCRIPT, RAIL_SPAN="unit"))
        self.assertIn("lsf.conf needs LSB_SUB_COMMANDNAME=Y", self.refused('LSB_SUB_QUEUE="gang"\n'))
        self.assertIn("-m \"n1 n2\": Railyard chooses the hosts", self.refused(MANY.replace('"rail"', '"gang"', 1)))
        self.modify.write_text('LSB_SUB_PROJECT_NAME="p"\n')
        self.assertIn("must be auto or never", self.refused(GANG, RAIL_RESTART="x"))

    def test_the_fabric_says_what_never_fits(self):
        self.fabric("pods=1 units=2 hosts=3 rails=2")
        self.assertIn("4 nodes never fit, the largest unit of this fabric has 3",
                      self.refused(GANG.replace("=16", "=32"), RAIL_SPAN="unit"))
        self.rewritten(GANG, RAIL_SPAN="unit")

    def test_a_fabric_that_cannot_be_read_keeps_nobody_from_submitting(self):
        (self.home / "fabric.json").write_text("{")
        done = self.esub(GANG, RAIL_SPAN="unit")
        self.assertEqual(done.returncode, 0)
        self.assertIn("the size of the job is not checked", done.stderr)
        self.assertIn("--rail-span=unit", self.modify.read_text())

    def test_whatever_goes_wrong_is_a_refusal(self):
        self.refused(None)  # there is no parameter file
        self.refused("garbage\n")
        self.conf.write_text("not = [toml")
        self.refused(GANG, RAIL_SPAN="unit")
        self.conf.write_text("")
        self.refused(GANG, LSB_SUB_MODIFY_FILE=str(self.home / "no" / "such"))
        self.refused("LSB_SUB_COMMAND_LINE=\"" + "x" * (2 << 20) + "\"\n")
        self.parm.unlink()
        os.mkfifo(self.parm)  # opening it must not wait for a writer
        self.refused(None)
        self.parm.unlink()
        self.parm.symlink_to("/etc/passwd")
        self.refused(None)
        without = {name: value for name, value in os.environ.items() if not name.startswith("LSB_")}
        self.assertEqual(subprocess.run([f"{BUILD}/esub.rail"], env=without, capture_output=True, check=False).returncode, 97)

    def test_a_file_of_another_user_is_none_of_lsfs(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to give a file away")
        self.modify.write_text('LSB_SUB_COMMAND_LINE="evil"\n')
        os.chown(self.modify, 65534, 65534)
        self.assertIn("is no file of the user who submits", self.refused(GANG))

    def test_help(self):
        for option in ("--help", "--version"):
            done = subprocess.run([f"{BUILD}/esub.rail", option], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0)
            self.assertIn("esub.rail", done.stdout)


unittest.main()
