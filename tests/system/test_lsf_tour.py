"""README's section "The same under LSF": its commands, read out of README, in the shell that ./quickstart --lsf --keep leaves."""

import re
import subprocess
from pathlib import Path

from railcluster import shell
from railcluster.cluster import Options
from railcluster.lsf import bsub
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "railckpt", "railtopo", "railrun", "esub.rail", "rail-lsf-run",
         "tests/apps/heat2d", ".libs/librailckpt.so.0"]
README = Path(__file__).resolve().parents[2] / "README"
SECTION = "The same under LSF"


def options(build):
    return Options(build=build, lsf=True)


def commands():
    """A line each, with what goes on after a backslash; those about the quickstart itself are this test's own."""
    text = README.read_text().split(f"\n{SECTION}\n")[1].split("\n\n\n")[0]
    lines = re.findall(r"^ {4}(\S(?:.*\\\n)*.*)$", text, re.MULTILINE)
    return [line for line in lines if not line.startswith("./quickstart")]


class Shell:
    """One shell for all of them, as a person has it: what is exported, and the folder, stay."""

    def __init__(self, cluster):
        self.said = ""
        self.process = subprocess.Popen(["sh"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.type(f". {shell.write(cluster)}")

    def type(self, command):
        """Its output, errors among it, and its exit status."""
        self.process.stdin.write(f"{command}\necho \"=== $?\"\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if match := re.fullmatch(r"=== (\d+)\n", line):
                return "".join(lines), int(match[1])
            lines.append(line)
        raise AssertionError(f"the shell ended: {''.join(lines)}")

    def close(self):
        self.process.stdin.close()
        self.process.wait(60)


def waits_for(shell_, job, state):
    wait_for(lambda: state in shell_.type(f"bjobs -w -a {job}")[0], 120, f"job {job} to be {state}")


def test_the_tour_runs_as_readme_has_it(cluster):
    cluster.agents.wait_heard()
    for _ in range(2):  # the quickstart's own jobs have the first two numbers
        job = bsub(cluster, 1, "true", queue="gang")
        wait_for(lambda: job.bjobs()[0] == "DONE", 60, "a job to end", job.logs())  # pylint: disable=cell-var-from-loop
    typed = commands()
    check(len(typed) >= 15, f"{SECTION}: {len(typed)} commands")
    person = Shell(cluster)
    expected = Expected(cluster, person)
    try:
        for command in typed:
            said, status = person.type(command)
            print(f"    $ {command}\n{said}", end="")
            expected.after(command, said, status)
        said, status = person.type("python3 -c 'import railckpt; railckpt._lib()'")
        equal(status, 0, f"import railckpt: {said}")
    finally:
        person.close()
    equal(expected.seen, set(Expected.WANTED), "what the tour shows")


class Expected:
    """What must be true after the tour's commands, by what each has in it; each of these must come."""

    WANTED = {"bhosts -w;": "n016", "railctl doctor": "", "railtopo show": "su2", "-n 96": "Request aborted by esub", "explain 3": "job 3",
              "explain 5": "job 5", "bkill 3 4 5": "Job <5> is being terminated", "railrun mpirun": "Job <6> is submitted",
              "railckpt latest": "/ck/ckpt-", "power-off": "", "explain n002": "inside its allocation", "drain n016": "swap cable 4",
              "resume n016": ""}

    def __init__(self, cluster, person):
        self.cluster, self.person, self.seen = cluster, person, set()

    def after(self, command, said, status):
        refused = "-n 96" in command
        equal(status, 255 if refused else 0, f"exit status of {command}: {said}")
        for what, words in self.WANTED.items():
            if what in command:
                self.seen.add(what)
                holds(said, words, command)
        if "-n 32" in command:
            waits_for(self.person, 3, "RUN")
        if "explain 5" in command:
            holds(said, "fits at", command)
        if "railrun mpirun" in command:
            waits_for(self.person, 6, "RUN")
            check("n002" in self.person.type("bjobs -w 6")[0], "n002, which the tour switches off, has a part of the job")
            wait_for(lambda: self.person.type("railckpt latest --dir $PWD/ck")[1] == 0, 60, "a checkpoint")
        if "power-off" in command:
            wait_for(lambda: "runs again inside its allocation" in self.person.type("railctl explain n002")[0], 60, "the launch on the spare")
