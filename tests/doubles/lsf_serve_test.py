#!/usr/bin/env python3
"""The double of the LSF engine as a server: its commands as programs, jobs that really run, hosts that are lost under them,
callers without permission. Ten of its seconds take one real second; nothing here measures time.
"""
import contextlib
import json
import os
import pathlib
import pwd
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(HERE / "lsf"), str(HERE.parent / "system")]
import configuration   # pylint: disable=wrong-import-position
import replay        # pylint: disable=wrong-import-position
from railcluster import process as waiting  # pylint: disable=wrong-import-position

DEADLINE = 120   # seconds; everything takes about ten
ROOT = os.geteuid() == 0


class Yard:
    """A served folder, one for each test."""

    def __init__(self, folder, **keys):
        self.folder = pathlib.Path(folder)
        self.folder.chmod(0o755)
        (self.folder / "lsf.json").write_text(json.dumps({"time_scale": 10.0, "first_request_is_administrators": False, **keys}))
        self.server = subprocess.Popen([sys.executable, "-B", HERE / "lsf/lsf_double", "serve", folder], stdout=subprocess.PIPE,
                                       text=True)
        if self.server.stdout.readline() != "ready\n":
            raise AssertionError("the server did not start")

    def type(self, *words, user="alice", stdin="", env=None, **more):
        environment = {"PATH": f"{self.folder}/bin:/usr/bin:/bin", "HOME": str(self.folder), "LSF_DOUBLE_USER": user, **(env or {})}
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, input=stdin, timeout=DEADLINE, check=False,
                              env=environment, cwd=self.folder, **more)

    def ok(self, *words, **more):
        done = self.type(*words, **more)
        if done.returncode != 0:
            raise AssertionError(f"{words}: exit status {done.returncode}: {done.stderr}")
        return done.stdout

    def double(self, verb, *words):
        return subprocess.run([sys.executable, "-B", HERE / "lsf/lsf_double", verb, self.folder, *words], check=True, capture_output=True,
                              text=True, timeout=DEADLINE).stdout

    def submit(self, *words, **more):
        return re.search(r"Job <(\d+)>", self.ok("bsub", *words, **more))[1]

    def state(self, job):
        words = self.ok("bjobs", "-w", "-a", job, env={"LSB_SHORT_HOSTLIST": "1"}).split("\n")[1].split()
        return f"{words[2]} {words[5]}"

    def wait(self, job, wanted):
        return wait_for(lambda: self.state(job).startswith(wanted), f"job {job} to be {wanted}", lambda: self.state(job))

    def start(self, *words, where="n4+2 n2+1", queue="gang", **more):
        job = self.submit("-r", "-q", queue, "-n", "16", "-R", "span[ptile=8]", *words, **more)
        self.ok("bmod", "-m", where, job, user="lsfadmin")
        self.ok("bswitch", "gangrun", job, user="lsfadmin")
        self.wait(job, "RUN")
        return job

    def close(self):
        self.server.terminate()
        self.server.wait(DEADLINE)
        self.server.stdout.close()


def wait_for(condition, what, seen=lambda: ""):
    try:
        return waiting.wait_for(condition, DEADLINE, what, every=0.02)
    except waiting.Timeout as error:
        raise AssertionError(f"{error}; {seen()}") from error


def same(mine, wanted):
    if mine != wanted:
        raise AssertionError(f"{mine!r}, not {wanted!r}")


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def pid_in(path):
    return int(wait_for(lambda: path.exists() and path.read_text().endswith("\n") and path.read_text(), f"{path}"))


def a_gang_is_placed_requeued_and_placed_again(yard):
    job = yard.submit("-r", "-q", "gang", "-n", "16", "-R", "span[ptile=8]", "-o", "out.%J", "echo on $LSB_MCPU_HOSTS; exec sleep 1000")
    yard.double("now")
    same(yard.state(job), "PEND -")
    yard.ok("bmod", "-m", "n4+2 n2+1", job, user="lsfadmin")
    refused = yard.type("bswitch", "gangrun", job)
    same((refused.returncode, refused.stderr), (255, "gangrun: User cannot use the queue\n"))
    yard.ok("bswitch", "gangrun", job, user="lsfadmin")
    yard.wait(job, "RUN 8*n4:8*n2")
    wait_for(lambda: yard.ok("bpeek", job) == "<< output from stdout >>\non n4 8 n2 8\n", "its first line")
    yard.ok("bswitch", "gang", job, user="lsfadmin")
    yard.ok("brequeue", "-H", job, user="lsfadmin")
    yard.wait(job, "PSUSP")
    out = (yard.folder / f"out.{job}").read_text()
    same("re-queued with the same jobid.." in out and out.endswith("\n\non n4 8 n2 8\n"), True)
    yard.ok("bmod", "-m", "n3+1 n1+2", job, user="lsfadmin")
    yard.ok("bswitch", "gangrun", job, user="lsfadmin")
    yard.ok("bresume", job, user="lsfadmin")
    yard.wait(job, "RUN 8*n1:8*n3")
    yard.ok("bkill", job)
    yard.wait(job, "EXIT")
    same(yard.type("bkill", job).stderr, f"Job <{job}>: Job has already finished\n")


def a_job_sees_what_was_recorded(yard):
    items = replay.read(replay.FOLDER / "multihost_start.txt")
    wanted = sorted({line.split("=")[0] for line in next(item for item in items if item.title == "output").lines if "=" in line})
    job = yard.start("-o", "out", "-e", "err", "env -0 >env.txt; exec sleep 1000")
    text = wait_for(lambda: (yard.folder / "env.txt").exists() and (yard.folder / "env.txt").read_text(), "its environment")
    found = dict(line.split("=", 1) for line in text.split("\0") if "=" in line)
    names = sorted(name for name in found if name.startswith(("LSB_", "LSF_", "LS_")) and name != "LSF_DOUBLE_USER")
    same(names, wanted)
    same((found["LSB_JOBID"], found["LSB_MCPU_HOSTS"], found["LSB_HOSTS"]), (job, "n4 8 n2 8 ", " ".join(["n4"] * 8 + ["n2"] * 8)))


def commands_go_through_the_prefix_of_their_host(yard):
    job = yard.start('echo "job on $PLACE in $(pwd)"; lsrun -m n2 -- /bin/sh -c \'echo "task on $PLACE in $(pwd)"\'; exec sleep 1000')
    wait_for(lambda: yard.ok("bpeek", job).endswith(f"\njob on n4 in {yard.folder}\ntask on n2 in {yard.folder}\n"), "two lines", lambda: yard.ok("bpeek", job))


def a_job_that_ignores_int_and_term_is_killed(yard):
    pid = yard.folder / "pid"
    job = yard.start('trap "" INT TERM; echo $$ >pid; while :; do sleep 0.05; done')
    process = pid_in(pid)
    yard.ok("brequeue", "-H", job)
    yard.wait(job, "PSUSP")
    wait_for(lambda: not alive(process), "its process to be gone")
    history = yard.ok("bhist", "-l", job)
    same("Exited by signal 9." in history or history, True)


def a_pre_exec_is_tried_until_it_works(yard):
    job = yard.submit("-q", "normal", "-o", "out.%J", "-E", f"echo in $PWD >>{yard.folder}/pre; test -e {yard.folder}/go", "echo ran in $PWD")
    path = yard.folder / "pre"
    wait_for(lambda: path.exists() and path.read_text().count("in /tmp\n") > 1, "the second try")
    (yard.folder / "go").write_text("")
    yard.wait(job, "DONE")
    same((yard.folder / f"out.{job}").read_text().endswith(f"\nran in {yard.folder}\n"), True)
    same("pre-exec command exited with non-zero" in yard.ok("bhist", "-l", job).replace("\n" + " " * 21, " "), True)
    job = yard.submit("-q", "normal", "-E", "exit 99", "true")
    yard.wait(job, "EXIT")


def files_of_the_engine_are_read_strictly(yard):
    """Each fault is reported with its file and line."""
    sound = {
        "lsf.shared": "Begin Cluster\nClusterName\nyard\nEnd Cluster\nBegin Resource\nRESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION\n"
                      "leaf String () () (a leaf)\nplanned Numeric 5 Y (always 0)\nEnd Resource\n",
        "lsf.cluster.yard": "Begin Parameters\nEXINTERVAL = 5\nEnd Parameters\nBegin Host\nHOSTNAME model\nctl !\nn1 !\nn2 !\nEnd Host\n"
                            "Begin ResourceMap\nRESOURCENAME LOCATION\nleaf (a@[n1] b@[n2])\nplanned [default]\nEnd ResourceMap\n",
        "lsf.conf": "LSB_SUB_COMMANDNAME=Y\n",
        "lsb.params": "Begin Parameters\nCOMPUTE_UNIT_TYPES = unit!\nMBD_SLEEP_TIME = 2\nEnd Parameters\n",
        "lsb.hosts": "Begin Host\nHOST_NAME MXJ\ndefault 4\nEnd Host\nBegin HostGroup\nGROUP_NAME GROUP_MEMBER\ng (n1 n2)\nEnd HostGroup\n"
                     "Begin ComputeUnit\nNAME MEMBER TYPE\nu (g) unit\nEnd ComputeUnit\n",
        "lsb.queues": "Begin Queue\nQUEUE_NAME = gang\nRES_REQ = select[planned>0]\nUSERS = alice\nRERUNNABLE = yes\nEnd Queue\n"}
    keys = configuration.read(_written(yard, sound))
    same((keys["hosts"][1], keys["groups"], keys["commandname"]),
         ({"name": "n1", "resources": {"leaf": "a"}, "slots": 4}, {"g": ["n1", "n2"]}, True))
    same((keys["queues"][0]["res_req"], keys["queues"][0]["users"], keys["queues"][0]["rerunnable"]), ("select[planned>0]", ["alice"], True))
    for name, before, after, said in (
            ("lsf.shared", "leaf String", "leaf Text", "lsf.shared:7: its type"), ("lsf.shared", "End Resource", "End", "lsf.shared:9: End Resource"),
            ("lsf.cluster.yard", "b@[n2]", "b@[n9]", "lsf.cluster.yard:12: n9: no such host"),
            ("lsf.cluster.yard", "b@[n2]", "b@[n1]", "lsf.cluster.yard:12: n1 has two values"),
            ("lsf.cluster.yard", "EXINTERVAL = 5", "EXINTERVAL = often", "lsf.cluster.yard:2: often is no number"),
            ("lsf.cluster.yard", "leaf (", "spine (", "lsf.cluster.yard:12: lsf.shared has no such resource"),
            ("lsf.conf", "LSB_SUB", "SUB", "lsf.conf:1: no such parameter"),
            ("lsb.params", "MBD_SLEEP_TIME = 2", "COMPUTE_UNIT_TYPES = pod", "lsb.params:3: stands there twice"),
            ("lsb.params", "unit!", "pod!", "lsb.hosts:11: COMPUTE_UNIT_TYPES"), ("lsb.hosts", "(n1 n2)", "(n1 n7)", "lsb.hosts:7: n7: no such host"),
            ("lsb.queues", "RERUNNABLE", "RERUN", "lsb.queues:5: no such parameter"), ("lsb.queues", "QUEUE_NAME = gang\n", "", "lsb.queues:2: the section")):
        try:
            configuration.read(_written(yard, {**sound, name: sound[name].replace(before, after)}))
            raise AssertionError(f"{name} with {after!r} was taken")
        except configuration.Bad as bad:
            same(str(bad)[:len(said)], said)


def _written(yard, files):
    folder = yard.folder / "conf"
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder)


def a_job_starter_gets_what_the_recording_says(yard):
    """Repeats each line: what the starter got, and what only the shell after it saw."""
    starter = yard.folder / "starter"
    starter.write_text('#!/bin/sh\necho "args:$#"\nexec /bin/sh -c "$*"\n')
    starter.chmod(0o755)
    marker, job, compared = "The output (if any) follows:", None, 0
    for item in replay.read(replay.FOLDER / "job_starter_more.txt"):
        if item.argv and item.argv[:3] == ["bsub", "-q", "starter"]:
            job = yard.submit("-q", "starter", "-o", "out.%J", *item.argv[5:], stdin=item.stdin, env={"HOME": str(yard.folder)})
        elif item.title == "output":
            wanted = [line.replace("/home/alice", str(yard.folder)) for line in item.lines[item.lines.index(marker):]]
            yard.wait(job, "DONE")
            report = wait_for(lambda: (yard.folder / f"out.{job}").exists() and (yard.folder / f"out.{job}").read_text().split("\n"), "its output")
            # Times, CPU times and the environment of the test do not matter here.
            same([line for line in report[report.index(marker):] if line], [line for line in wanted if line])
            compared += 1
    same(compared, 5)


a_job_starter_gets_what_the_recording_says.keys = {"queues": [{"name": "starter", "job_starter": "./starter"}]}


def a_post_exec_sees_how_the_job_ended(yard):
    job = yard.submit("-q", "after", "exit 2")
    yard.wait(job, "EXIT")
    path = yard.folder / "post"
    text = wait_for(lambda: path.exists() and path.read_text().endswith("\n") and path.read_text(), "what it saw")
    same(text, f"{job} 512 END {yard.folder} in /tmp\n")
    wait_for(lambda: "Post job process failed;" in yard.ok("bhist", "-l", job), "its failure to be told")


a_post_exec_sees_how_the_job_ended.keys = {"queues": [
    {"name": "after", "post_exec": 'echo "$LSB_JOBID $LSB_JOBEXIT_STAT $LS_EXEC_T $HOME in $PWD" >$LS_SUBCWD/post; exit 1'}]}


def a_job_behind_a_prefix_may_catch_int_and_save(yard):
    job = yard.start("""sh -c 'trap "sleep 1; echo saved >saved; exit 0" INT; echo $$ >pid; while :; do sleep 0.05; done'""")
    process = pid_in(yard.folder / "pid")
    yard.ok("brequeue", "-H", job)
    yard.wait(job, "PSUSP")      # the prefix died of the INT at once
    same(((yard.folder / "saved").read_text(), alive(process)), ("saved\n", False))


def exit_values_requeue_and_exclude(yard):
    gang = ("-q", "again", "-n", "16", "-R", "span[ptile=8]", "-m", "n4+2 n2+1", "-o", "out.%J")
    job = yard.submit(*gang, "[ -e twice ] && { echo second; exit 0; }; touch twice; echo first; exit 75")
    yard.wait(job, "DONE 8*n4:8*n2")
    text = (yard.folder / f"out.{job}").read_text()
    same(text.endswith("\n\nsecond\n") and "first\n" not in text.partition("follows:")[2], True)
    job = yard.submit(*gang, "exit 76")
    wait_for(lambda: "(exit code 76)" in yard.ok("bhist", "-l", job), "its first run")
    other = yard.submit(*gang, "exit 0")
    yard.wait(other, "DONE")
    same(yard.state(job), "PEND -")   # n4 is excluded, and its list has no third host


def bsub_waits_with_k_and_i(yard):
    for number, argv in (("19", ["bsub", "-K", "-q", "rail", "true"]), ("20", ["bsub", "-I", "-q", "normal", "echo", "hello"])):
        item = next(one for one in replay.read(replay.FOLDER / "bsub.txt") if one.number == number)
        same(item.argv, argv)
        done = yard.type(*argv)
        out = re.sub(r"Job <\d+>", "Job <N>", done.stdout)
        same((done.returncode, out, done.stderr), (item.exit, re.sub(r"Job <\d+>", "Job <N>", item.out), item.err))
    same(yard.type("bsub", "-K", "exit 7").returncode, 7)


def lsrun_runs_and_ends_with_its_caller(yard):
    done = yard.type("lsrun", "-m", "n3", "--", "/bin/sh", "-c", "cat; pwd; exit 3", stdin="a line\n")
    same((done.returncode, done.stdout), (3, f"a line\n{yard.folder}\n"))
    same(yard.type("lsrun", "-m", "n3", "sh", "-c", "true").returncode, 255)
    same(yard.type("lsrun", "-m", "nosuch", "--", "true").returncode, 255)
    environment = {"PATH": f"{yard.folder}/bin:/usr/bin:/bin"}
    caller = subprocess.Popen(["lsrun", "-m", "n3", "--", "/bin/sh", "-c", "echo $$ >task; exec sleep 1000"], env=environment,
                              executable=f"{yard.folder}/bin/lsrun", cwd=yard.folder)
    task = pid_in(yard.folder / "task")
    caller.kill()
    caller.wait(DEADLINE)
    wait_for(lambda: not alive(task), "the task to end with its caller")


def an_esub_refuses_and_rewrites(yard):
    esub = yard.folder / "sbin/esub"
    esub.write_text("#!/bin/sh\ngrep -q 'COMMAND_LINE=\"bad' \"$LSB_SUB_PARM_FILE\" && { echo no >&2; exit 97; }\n"
                    "echo 'LSB_SUB_COMMAND_LINE=\"echo rewritten $MARK >said\"' >\"$LSB_SUB_MODIFY_FILE\"\n"
                    "echo MARK=set >\"$LSB_SUB_MODIFY_ENVFILE\"\n")
    esub.chmod(0o755)
    refused = yard.type("bsub", "bad", "job")
    same((refused.returncode, refused.stderr), (255, "no\nRequest aborted by esub. Job not submitted.\n"))
    job = yard.submit("-q", "normal", "sleep", "1000")
    yard.wait(job, "DONE")
    same((yard.folder / "said").read_text(), "rewritten set\n")


def a_script_of_standard_input_runs_whole(yard):
    job = yard.submit(stdin="#!/bin/sh\n#BSUB -q normal\n#BSUB -o out.%J\nif true\nthen\n  echo first; echo second\nfi\n")
    yard.wait(job, "DONE")
    same((yard.folder / f"out.{job}").read_text().endswith("\nfirst\nsecond\n"), True)
    same(yard.ok("bjobs", "-l", job, job).count("\nJob <"), 1)
    same("Command <#!/bin/sh;#BSUB -q normal;#BSUB -o out.%J;if true;then;  echo first; echo second;fi>" in yard.ok("bjobs", "-l", job), True)


def power_is_lost_under_a_job(yard):
    job = yard.start("lsrun -m n2 -- /bin/sh -c 'echo $$ >task; exec sleep 1000' & echo $$ >pid; exec sleep 1000")
    process, task = pid_in(yard.folder / "pid"), pid_in(yard.folder / "task")
    yard.ok("bswitch", "gang", job, user="lsfadmin")
    yard.double("host", "n4", "off")
    wait_for(lambda: not alive(process), "the processes on n4 to be gone")
    same(yard.state(job), "RUN 8*n4:8*n2")
    yard.wait(job, "UNKWN")
    yard.wait(job, "PEND")
    same(alive(task), True)     # the trap: what it started elsewhere keeps running
    os.kill(task, signal.SIGKILL)
    yard.ok("badmin", "hclose", "-C", "railyard: lost", "n4", user="lsfadmin")
    same(yard.ok("bhosts", "-w", "n4").split("\n")[1].split()[1], "unavail")
    yard.double("host", "n4", "on")
    wait_for(lambda: yard.ok("bhosts", "-w", "n4").split("\n")[1].split()[1] == "closed_Adm", "n4 to be back, and closed")
    same(yard.state(job), "PEND -")


def a_cable_is_cut_and_two_copies_run(yard):
    job = yard.start("echo $$ >pid.$LSB_QUEUE.${LSB_MCPU_HOSTS%% *}; exec sleep 1000")
    old = pid_in(yard.folder / "pid.gangrun.n4")
    yard.ok("bswitch", "gang", job, user="lsfadmin")
    yard.double("host", "n4", "cut")
    yard.wait(job, "PEND")
    yard.ok("bmod", "-m", "n3+2 n1+1", job, user="lsfadmin")
    yard.ok("bswitch", "gangrun", job, user="lsfadmin")
    yard.wait(job, "RUN 8*n3:8*n1")
    new = pid_in(yard.folder / "pid.gangrun.n3")
    same((alive(old), alive(new)), (True, True))
    yard.double("host", "n4", "on")
    wait_for(lambda: yard.ok("bhosts", "-w", "n4").split("\n")[1].split()[1] == "ok", "n4 to be back")
    same(alive(old), True)
    yard.ok("badmin", "hrestart", "-f", "n4", user="lsfadmin")
    wait_for(lambda: not alive(old), "the old copy to be killed")
    same((alive(new), yard.state(job)), (True, "RUN 8*n3:8*n1"))


def commands_wait_for_mbatchd_and_jobs_do_not(yard):
    job = yard.start("echo $$ >pid; exec sleep 1000")
    process = pid_in(yard.folder / "pid")
    yard.double("mbatchd", "off")
    same(yard.ok("lsid").split("\n")[0], "volclava project 2.2, Nov 22 2026")
    caller = subprocess.Popen([f"{yard.folder}/bin/bjobs", "-w", job], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    same(caller.stderr.readline(), "batch system daemon not responding ... still trying\n")
    same((caller.poll(), alive(process)), (None, True))
    yard.double("mbatchd", "on")
    out, _ = caller.communicate(timeout=DEADLINE)
    same(out.split("\n")[1].split()[2], "RUN")


def bad_requests_harm_nobody(yard):
    for data in (b"\n", b"{}\n", b"[1]\n", b'{"command": "bjobs"}\n', b'{"command": "nosuch", "argv": [], "env": {}}\n', b"\xff\xfe\n",
                 b'{"command": "submit", "spec": {"queue": "normal", "command": "x", "begin": "soon"}, "cwd": "/", "environment": {}}\n',
                 b'{"command": "submit", "spec": {"queue": "normal", "command": "x"}, "cwd": "/", "environment": {"A": 1}}\n',
                 b'{"command": "modify", "id": "1", "spec": {"begin": []}, "cwd": "/", "environment": {}}\n',
                 b'{"command": "submit", "spec": {"slots": "x"}, "cwd": 1, "environment": 2}\n', b"[" * 100000 + b"\n", b"half", b"x" * 100000 + b"\n",
                 b'{"command": "lsrun", "host": "", "argv": ["true"], "environment": {}, "cwd": "/"}\n'):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(DEADLINE)
            sock.connect(str(yard.folder / "socket"))
            sock.sendall(data)
            sock.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionError):
                while sock.recv(65536):
                    pass
    job = yard.submit("-q", "normal", "-i", "nosuch", "-o", "out.%J", "cat")
    yard.wait(job, "EXIT")
    same("nosuch" in (yard.folder / f"out.{job}").read_text(), True)
    (yard.folder / "in").write_text("of the file\n")
    job = yard.submit("-q", "normal", "-i", "in", "-o", "out.%J", "cat")
    yard.wait(job, "DONE")
    same((yard.folder / f"out.{job}").read_text().endswith("\nof the file\n"), True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:   # sends requests and never reads
        sock.connect(str(yard.folder / "socket"))
        sock.sendall(b'{"command": "bhosts", "argv": ["-l"] , "env": {}}\n')
        yard.ok("lsid")
    for words in (["bjobs", "-"], ["bkill"], ["bmod"], ["bswitch"], ["badmin", "nosuch"], ["badmin", "hclose", "-C"], ["bjobs", "-o"],
                  ["bsub", "-n"], ["bsub", "-R", "span[", "x"], ["bsub", "-J", "a[9-1]", "x"], ["bsub", "-w", "done(", "x"], ["brun"], ["bpeek"]):
        if yard.type(*words).returncode == 0:
            raise AssertionError(f"{words} was accepted")
    same(yard.server.poll(), None)
    yard.ok("lsid")


def a_virtual_clock_moves_when_it_is_told(yard):
    job = yard.submit("-q", "normal", "sleep", "60")
    time.sleep(0.2)     # it must have no effect
    same(yard.state(job), "PEND -")
    began = float(yard.double("now"))
    same(float(yard.double("advance", "3s")), began + 3)
    same(yard.state(job), "RUN n8")
    yard.double("advance", "1m")
    same(yard.state(job), "DONE n8")
    yard.double("index", "n7", "health", "30")
    yard.double("advance", "20")
    same(yard.ok("bhosts", "-w", "n7").split("\n")[1].split()[1], "closed_Busy")
    with tempfile.TemporaryDirectory(prefix="lsf_serve.") as folder:
        subprocess.run([sys.executable, "-B", HERE / "lsf/lsf_double", "init", folder], check=True, timeout=DEADLINE)
        keys = json.loads((pathlib.Path(folder) / "lsf.json").read_text())
        (pathlib.Path(folder) / "lsf.json").write_text(json.dumps({**keys, "no_such_key": 1}))
        done = subprocess.run([sys.executable, "-B", HERE / "lsf/lsf_double", "serve", folder], check=False, timeout=DEADLINE,
                              capture_output=True, text=True)
        same((done.returncode, "no_such_key" in done.stderr), (1, True))


def bqueues_shows_shares(yard):
    same("SHARE_INFO_FOR" in yard.ok("bqueues", "-r", "normal"), False)
    job = yard.submit("-q", "shared", "-n", "8", "-R", "span[ptile=8]", "sleep", "1000", user="alice")
    yard.wait(job, "RUN")
    yard.submit("-q", "shared", "-n", "64", "sleep", "1000", user="bob")
    rows = [line.split() for line in yard.ok("bqueues", "-r", "shared").split("SHARE_INFO_FOR: shared/\n")[1].splitlines()]
    same(rows[0], ["USER/GROUP", "SHARES", "PRIORITY", "STARTED", "CPU_TIME", "RUN_TIME"])
    alice, bob = rows[1], rows[2]
    same((alice[0], alice[1], alice[3], bob[0], bob[1], bob[2], bob[3]), ("alice", "4", "8", "bob", "1", "0.333", "0"))
    same(0 < float(alice[2]) <= 0.148, True)   # 4 / (9 * 3), reduced by its run time


def users_are_who_they_are(yard):
    """As root only: a job runs as its user, and a user cannot claim to be another."""
    nobody = pwd.getpwnam("nobody")
    yard.folder.chmod(0o777)
    job = yard.submit("-q", "normal", "-o", "whose.%J", "id -u; umask", user="nobody")
    yard.wait(job, "DONE")
    path = yard.folder / f"whose.{job}"
    same((path.stat().st_uid, f"\n{nobody.pw_uid}\n" in path.read_text()), (nobody.pw_uid, True))
    for words in (["badmin", "hclose", "n3"], ["bkill", yard.submit("-q", "normal", "sleep", "1000")]):
        done = yard.type("setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups", *words, user="lsfadmin")
        same((done.returncode, "User permission denied" in done.stderr), (255, True))


commands_go_through_the_prefix_of_their_host.keys = {"hosts": [{"name": "n[1-8]", "prefix": ["env", "-C", "/", "PLACE=%h"]}]}
FORKS = "import signal, subprocess, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); sys.exit(subprocess.call(sys.argv[1:]))"
a_job_behind_a_prefix_may_catch_int_and_save.keys = {   # as with nsenter, which stays in front of a job in a PID namespace
    "timing": {"JOB_TERMINATE_INTERVAL": 10 * DEADLINE}, "hosts": [{"name": "n[1-8]", "prefix": [sys.executable, "-IS", "-c", FORKS]}]}
a_virtual_clock_moves_when_it_is_told.keys = {"clock": "virtual", "run": False}
exit_values_requeue_and_exclude.keys = {"queues": [{"name": "again", "requeue_exit_values": ["99", "75", "EXCLUDE( 76 )"]}]}

bqueues_shows_shares.keys = {"queues": [{"name": "normal"}, {"name": "shared", "fairshare": {"alice": 4, "default": 1}}]}

TESTS = [a_gang_is_placed_requeued_and_placed_again, a_job_sees_what_was_recorded,
         commands_go_through_the_prefix_of_their_host, a_job_that_ignores_int_and_term_is_killed,
         a_pre_exec_is_tried_until_it_works, a_job_starter_gets_what_the_recording_says, a_post_exec_sees_how_the_job_ended,
         a_job_behind_a_prefix_may_catch_int_and_save, exit_values_requeue_and_exclude,
         files_of_the_engine_are_read_strictly, bsub_waits_with_k_and_i, lsrun_runs_and_ends_with_its_caller, an_esub_refuses_and_rewrites,
         a_script_of_standard_input_runs_whole, power_is_lost_under_a_job, a_cable_is_cut_and_two_copies_run,
         commands_wait_for_mbatchd_and_jobs_do_not, bad_requests_harm_nobody, a_virtual_clock_moves_when_it_is_told,
         bqueues_shows_shares]


def main():
    failed, only = 0, sys.argv[1:]
    tests = TESTS + [users_are_who_they_are] if ROOT else TESTS
    if not ROOT:
        print("users_are_who_they_are: skipped, it takes root")
    for test in tests:
        if only and test.__name__ not in only:
            continue
        with tempfile.TemporaryDirectory(prefix="lsf_serve.") as folder:
            yard = Yard(folder, **getattr(test, "keys", {}))
            try:
                test(yard)
                print(f"ok    {test.__name__}", flush=True)
            except (AssertionError, subprocess.SubprocessError, OSError) as fault:
                failed += 1
                print(f"FAIL  {test.__name__}: {fault}", flush=True)
            finally:
                yard.close()
    sys.exit(1 if failed else 0)


main()
