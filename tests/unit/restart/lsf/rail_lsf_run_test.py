#!/usr/bin/env python3
"""rail-lsf-run and rail-lsf-rsh in a made-up environment of LSF, beside a real nodewatchd.

Runs in the build directory."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "system"))
from railcluster.process import wait_for  # noqa: E402

BUILD = os.getcwd()
GEN_SYSFS = pathlib.Path(__file__).resolve().parents[3] / "doubles" / "gen_sysfs.py"
SECONDS = 120  # for what takes moments


def encoded(line):
    return "--line=" + urllib.parse.quote(line, safe="_./:=,+@-").replace("~", "%7E")


class LsfRun(unittest.TestCase):
    def setUp(self):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="railyard-lsf-run-"))
        self.addCleanup(shutil.rmtree, self.home)
        self.conf = self.home / "railyard.conf"
        self.conf.write_text(f'[agent]\njob_socket = "{self.home}/job.sock"\nsysfs = "{self.home}/sys"\nkmsg = ""\nnvml = ""\n'
                             f'[restartd]\nurl = "http://127.0.0.1:9"\n[placement]\nfabric = "{self.home}/fabric.json"\n')
        self.number = str(os.getpid())
        self.lsf = {"LSB_JOBID": self.number, "LSB_JOBINDEX": "0", "LSB_MCPU_HOSTS": "n4 2 n2 2 n6 1 ",
                    "LSB_JOBFILENAME": str(self.home / "1795310203.7")}

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("RAIL_", "LSB_", "LSF_", "OMPI_", "SLURM_"))}
        return {**kept, "RAILYARD_CONF": str(self.conf), "TMPDIR": str(self.home), **self.lsf, **more}

    def run_line(self, line, *flags, **more):
        return subprocess.run([f"{BUILD}/rail-lsf-run", *flags, encoded(line)], capture_output=True, text=True, timeout=SECONDS,
                              env=self.environment(**more), check=False)

    def test_the_line_is_run_as_lsf_would_have(self):
        done = self.run_line("""printf '%s|' "a b" 'c"d' "$HOME"; echo $LSB_JOBID | cat; exit 7""", HOME="/h")
        self.assertEqual((done.returncode, done.stdout), (7, f'a b|c"d|/h|{self.number}\n'))
        self.assertEqual(self.run_line("kill -SEGV $$").returncode, 128 + signal.SIGSEGV)

    def test_the_job_finds_flags_hosts_and_its_count(self):
        line = "env | grep -E '^(RAIL_|OMPI_)' | sort; cat $RAIL_HOSTFILE"
        for count in range(3):
            done = self.run_line(line, "--rail-spares=1", "--ckpt-dir=/scratch/r%207", "--restart=auto")
            self.assertEqual(done.returncode, 0, done.stderr)
            for wanted in ("RAIL_SPARES=1", "RAIL_CKPT_DIR=/scratch/r 7", "RAIL_RESTART=auto", f"RAIL_RESTART_COUNT={count}",
                           f"RAIL_JOB_ID={self.number}", f"RAIL_CKPT_SOCKET={self.home}/job.sock", "RAIL_NODELIST=n[4,2]",
                           "RAIL_SPARE_NODELIST=n6", "OMPI_MCA_rmaps_base_mapping_policy=seq", "OMPI_MCA_plm_rsh_no_tree_spawn=1"):
                self.assertIn(wanted + "\n", done.stdout)
            self.assertTrue(done.stdout.endswith("\nn4\nn4\nn2\nn2\n"), done.stdout)
            hosts = next(line for line in done.stdout.splitlines() if line.startswith("RAIL_HOSTFILE=")).partition("=")[2]
            self.assertFalse(pathlib.Path(hosts).exists(), "the host file outlived its job")

    def test_a_preflight_gives_the_place_of_a_host_that_fails_to_a_spare(self):
        """railcheck is made up, and LSF's way to other hosts: what would run there runs here, and says so."""
        (self.home / "lsrun").write_text(f'#!/bin/sh\n[ "$1 $3" = "-m --" ] || exit 9\nexport ON=$2\nshift 3\nexec "$@"\n')
        (self.home / "railcheck").write_text(
            '#!/bin/sh\necho "$ON: $*" >>"$TMPDIR/words"\n'
            '[ $ON = n2 ] && echo \'{"host":"n2","check":"disk.read","component":"/x","verdict":"bad","says":"a bit is another"}\'\n'
            'echo \'{"host":"\'$ON\'","check":"preflight","component":"host","verdict":"measured","value":1,"unit":"s"}\'\n')
        for name in ("lsrun", "railcheck"):
            (self.home / name).chmod(0o755)
        done = self.run_line("echo $RAIL_NODELIST $RAIL_SPARE_NODELIST; sed 1d $RAIL_HOSTFILE | uniq", "--rail-spares=1", "--rail-preflight=quick,net",
                             PATH=f"{self.home}:{os.environ['PATH']}", RAIL_RAILCHECK=str(self.home / "railcheck"))
        self.assertEqual((done.returncode, done.stdout), (0, "n[4,6] n2\nn4\nn6\n"), done.stderr)
        self.assertIn("preflight of 3 hosts took", done.stderr)
        self.assertIn("n2 /x: disk.read: a bit is another\n", done.stderr)
        words = sorted((self.home / "words").read_text().splitlines())
        self.assertEqual(words[1], "n4: preflight --level=1 --deadline=7s --net --hosts=n[2,4,6] --rank=1")
        # Nothing can be tried: it is said, and the line runs.
        done = self.run_line("echo $RAIL_NODELIST", "--rail-spares=1", "--rail-preflight=quick", PATH=f"{self.home}:{os.environ['PATH']}",
                             RAIL_RAILCHECK="/nonexistent/railcheck")
        self.assertEqual((done.returncode, done.stdout), (0, "n[4,2]\n"))
        self.assertIn("/nonexistent/railcheck could not be run on n[2,4,6]: rail-lsf-rsh ended with status", done.stderr)

    def test_ranks_follow_the_fabric(self):
        subprocess.run([f"{BUILD}/railtopo", "synth", "--out", self.home / "fabric.json", "units=2 hosts=2 rails=2 prefix=n"],
                       check=True, capture_output=True)
        names = [host["name"] for host in json.loads((self.home / "fabric.json").read_text())["hosts"]]
        first, second, third, fourth = names  # two and two
        done = self.run_line("echo $RAIL_NODELIST; cat $RAIL_HOSTFILE", LSB_MCPU_HOSTS=f"{third} 1 {first} 1 {fourth} 1 {second} 1")
        # The host of the script first, its unit before the other.
        self.assertEqual(done.stdout.splitlines()[2:], [third, fourth, first, second], done.stderr)

    def test_a_host_file_of_lsf_counts_where_there_is_no_list(self):
        (self.home / "hosts").write_text("n9\nn9\nn8\n")
        done = self.run_line("echo $RAIL_NODELIST", LSB_MCPU_HOSTS="", LSB_DJOB_HOSTFILE=str(self.home / "hosts"))
        self.assertEqual(done.stdout, "n[9,8]\n")
        # Without either the job runs all the same.
        done = self.run_line("echo ${RAIL_NODELIST-none}", LSB_MCPU_HOSTS="")
        self.assertEqual(done.stdout, "none\n")
        self.assertIn("no order of hosts", done.stderr)

    def test_what_is_no_line_is_refused(self):
        for words in ([], ["./train.sh"], ["--line=a b"], ["--line=%"], ["--restart=perhaps", "--line=true"], ["--line=true", "x"]):
            done = subprocess.run([f"{BUILD}/rail-lsf-run", *words], capture_output=True, text=True, timeout=SECONDS,
                                  env=self.environment(), check=False)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("see rail-lsf-run(1)", done.stderr)
        done = self.run_line("true", LSB_JOBID="")
        self.assertEqual(done.returncode, 2)
        self.assertIn("LSB_JOBID is not set", done.stderr)

    def test_a_signal_reaches_the_line_once(self):
        line = f"trap 'echo INT >>{self.home}/got' INT; trap 'echo TERM >>{self.home}/got; exit 3' TERM; : >{self.home}/ready; " \
               "while :; do sleep 0.05; done"
        # Tests in the background have SIGINT ignored, and a shell cannot trap what was ignored when it began.
        job = subprocess.Popen([f"{BUILD}/rail-lsf-run", encoded(line)], env=self.environment(), start_new_session=True,
                               stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.until_there(self.home / "ready")
        # By a process that did not start it, as LSF's daemons did.
        subprocess.run(["kill", "-INT", str(job.pid)], check=True)
        self.until_there(self.home / "got")
        subprocess.run(["kill", "-TERM", str(job.pid)], check=True)
        self.assertEqual(job.wait(SECONDS), 3)
        self.assertEqual((self.home / "got").read_text(), "INT\nTERM\n")

    @staticmethod
    def until_there(path):
        wait_for(path.exists, SECONDS, str(path), every=0.02)

    def test_nodewatchd_learns_of_the_job_and_of_its_uid_from_the_kernel(self):
        subprocess.run([sys.executable, GEN_SYSFS, self.home / "sys", "--hcas", "1", "--host", "n4"], check=True)
        agent = subprocess.Popen([f"{BUILD}/nodewatchd", "--config", self.conf, "--host", "n4"], stderr=subprocess.DEVNULL)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.kill)
        self.until_there(self.home / "job.sock")
        # railckpt, as a job's program would: the number, the count and the socket are the job's.
        (self.home / "ckpt").mkdir()
        done = self.run_line(f"{BUILD}/railckpt due; echo $?", f"--ckpt-dir={self.home}/ckpt", LSB_MCPU_HOSTS="n4 2 ")
        self.assertEqual(done.stderr, "")
        self.assertIn(done.stdout.splitlines()[-1], ("0", "1"))
        epoch = (self.home / "ckpt" / "epoch").read_text().splitlines()
        self.assertEqual(epoch[1].split()[0], self.number)

    def test_the_checkpoints_of_an_unchanged_program_are_reported(self):
        heard = threading.Event()
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        listener.bind(str(self.home / "job.sock"))
        listener.listen()

        def serve(client):
            with client, client.makefile("rw") as lines:
                for text in lines:
                    if (said := json.loads(text))["op"] == "commit" and said["step"] == 7:
                        heard.set()
                    lines.write('{"ok":true,"interval_s":null,"save_by":null,"incident":null}\n')
                    lines.flush()

        def accept():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(client,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        (self.home / "ckpt").mkdir()
        line = ("cd $RAIL_CKPT_DIR; mkdir step-7; echo tensors >step-7/__0_0.distcp; echo pickle >step-7/.metadata; "
                f"until [ -e {self.home}/heard ]; do sleep 0.05; done")
        job = subprocess.Popen([f"{BUILD}/rail-lsf-run", f"--ckpt-dir={self.home}/ckpt", "--ckpt-kind=dcp", encoded(line)],
                               env=self.environment(LSB_MCPU_HOSTS="n4 2 "), stderr=subprocess.DEVNULL)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.assertTrue(heard.wait(SECONDS))
        (self.home / "heard").touch()
        self.assertEqual(job.wait(SECONDS), 0)

    def test_what_outlives_lsfs_signal_is_asked_to_save(self):
        subprocess.run([sys.executable, GEN_SYSFS, self.home / "sys", "--hcas", "1", "--host", "n4"], check=True)
        agent = subprocess.Popen([f"{BUILD}/nodewatchd", "--config", self.conf, "--host", "n4"], stderr=subprocess.DEVNULL)
        self.addCleanup(agent.wait)
        self.addCleanup(agent.kill)
        self.until_there(self.home / "job.sock")
        (self.home / "ckpt").mkdir()
        line = f"trap : INT; {BUILD}/railckpt due && exit 9; : >{self.home}/ready; until {BUILD}/railckpt due; do sleep 0.05; done; echo saves"
        job = subprocess.Popen([f"{BUILD}/rail-lsf-run", f"--ckpt-dir={self.home}/ckpt", encoded(line)], start_new_session=True,
                               env=self.environment(LSB_MCPU_HOSTS="n4 2 ", RAIL_CKPT_INTERVAL="1h"), stdout=subprocess.PIPE, text=True)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        self.until_there(self.home / "ready")
        os.killpg(job.pid, signal.SIGINT)  # as LSF's daemons do, which started the job
        said = job.communicate(timeout=SECONDS)[0].splitlines()
        self.assertIn("due: Railyard asks to save by", said[-2])
        self.assertEqual(said[-1], "saves")

    def test_the_agent_is_told_while_the_line_runs_and_no_longer(self):
        said, over = [], threading.Event()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(self.home / "job.sock"))
            listener.listen()
            listener.settimeout(SECONDS)

            def serve():
                client, _ = listener.accept()
                with client, client.makefile("rw") as lines:
                    for text in lines:
                        said.append(json.loads(text))
                        lines.write('{"ok":true,"interval_s":null,"save_by":null,"incident":null}\n')
                        lines.flush()
                over.set()

            server = threading.Thread(target=serve)
            server.start()
            done = self.run_line("exit 0")
            self.assertEqual(done.returncode, 0)
            self.assertTrue(over.wait(SECONDS))
            server.join()
        self.assertEqual(said[0]["op"], "hello")
        self.assertEqual(str(said[0]["job"]), self.number)
        self.assertEqual(said[0]["epoch"], 0)

    def rsh(self, program, *words):
        """rail-lsf-rsh over a double of LSF's program that runs the words where it stands, as that host would."""
        folder = self.home / "bin"
        folder.mkdir(exist_ok=True)
        (folder / program).write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"$SEEN"\nwhile [ "${1##*/}" != rail-lsf-run ]; do shift; done\n'
                                      'exec "$@"\n')
        (folder / program).chmod(0o755)
        return subprocess.run([f"{BUILD}/rail-lsf-rsh", *words], capture_output=True, text=True, timeout=SECONDS, check=False,
                              env=self.environment(LSF_BINDIR=str(folder), PATH="/usr/bin:/bin", SEEN=str(self.home / "seen")))

    def test_rsh_runs_a_line_of_a_shell_on_another_host(self):
        for program, before in (("lsrun", ["-m", "n2", "--"]), ("blaunch", ["n2"])):
            done = self.rsh(program, "n2", "A=1;", "echo", "\"$A 'b'\"", "&&", "exit 5")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (5, "1 'b'\n", ""))
            seen = (self.home / "seen").read_text().splitlines()
            self.assertEqual(seen[:len(before)], before)
            self.assertEqual(seen[len(before) + 1], "--on-host")
            self.assertRegex(seen[-1], r"^--line=[A-Za-z0-9_./:=,+@%-]*$")

    def test_rsh_says_what_is_wrong(self):
        for words in ([], ["n2"], ["-x", "n2", "true"]):
            self.assertEqual(self.rsh("lsrun", *words).returncode, 2)
        done = subprocess.run([f"{BUILD}/rail-lsf-rsh", "n2", "true"], capture_output=True, text=True, check=False,
                              env=self.environment(PATH="/nonexistent"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("neither blaunch nor lsrun", done.stderr)


unittest.main()
