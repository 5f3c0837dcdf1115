"""Jobs on a cluster: submitting heat2d, following it, and reading its output."""

import re
from pathlib import Path
from typing import NamedTuple, Optional

from .process import wait_for

START = re.compile(r"^heat2d: start step (?P<step>\d+) \(from (?P<source>.*)\) ranks (?P<ranks>\d+)$")
PROGRESS = re.compile(r"^heat2d: (?P<seconds>[\d.]+) s step (?P<step>\d+) of (?P<steps>\d+)")
CHECKPOINT = re.compile(r"^heat2d: checkpoint step (?P<step>\d+) cost (?P<cost>[\d.]+) s")
AGAIN = re.compile(r"^railrun: launch (?P<launch>\d+) on (?P<nodes>\S+) \((?P<why>.*)\)$")
DONE = re.compile(r"^heat2d: done steps (?P<step>\d+) checksum (?P<checksum>\S+) elapsed (?P<seconds>[\d.]+)$")


class Seen(NamedTuple):
    """A job's state in Slurm at one moment."""

    state: str
    nodes: list[str]
    restarts: int
    reason: str
    comment: str


class Job:
    def __init__(self, cluster, number: int, output: Path):
        self.cluster, self.number, self.output = cluster, number, output

    def seen(self) -> Seen:
        words = self.cluster.out("scontrol", "show", "job", str(self.number))
        values = dict(re.findall(r"(?:^|\s)(\w+)=(\S*)", words))
        comment = re.search(r"AdminComment=(.*)", words)
        names = values.get("NodeList", "(null)")
        nodes = [] if names in ("(null)", "") else self.cluster.out("scontrol", "show", "hostnames", names).split()
        return Seen(values["JobState"], nodes, int(values["Restarts"]), values.get("Reason", ""),
                    comment[1].strip() if comment else "")

    def wait_state(self, state: str, seconds: float, restarts: Optional[int] = None) -> Seen:
        """Waits for a state; if `restarts` is given, in the incarnation with that many."""
        last: Optional[Seen] = None

        def reached() -> Optional[Seen]:
            nonlocal last
            last = self.seen()
            if last.state != state and last.state in ("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL", "COMPLETED"):
                raise RuntimeError(f"it is {last.state}")
            return last if last.state == state and restarts in (None, last.restarts) else None
        what = f"job {self.number} to be {state}" + (f" after {restarts} restarts" if restarts is not None else "")
        try:
            return wait_for(reached, seconds, what, self.logs(), every=0.1)
        except Exception as error:
            raise type(error)(f"{error}\nlast seen: {last}") from None

    def ranks(self) -> list[str]:
        """The hosts that run its ranks now, in Slurm's order, without railrun's spares: those of its step, which starts after the
        batch script."""
        def steps() -> list[str]:
            lines = self.cluster.out("squeue", "--steps", "--noheader", "--jobs", str(self.number), "--format=%i %N").splitlines()
            return [line.split()[1] for line in lines if re.match(r"\d+\.\d+ ", line)]  # a step of --warm is small
        lists = wait_for(steps, 60, f"job {self.number} to have a step", self.logs(), every=0.1)
        return max((self.cluster.out("scontrol", "show", "hostnames", names).split() for names in lists), key=len)

    def logs(self) -> list[Path]:
        logs = [self.output, self.cluster.log("ctl", "slurmctld")]
        return [*logs, self.cluster.log("ctl", "restartd")] if self.cluster.agents else logs

    # --- what it printed ---

    def lines(self, pattern: re.Pattern) -> list[re.Match]:
        try:
            text = self.output.read_text(errors="replace")
        except FileNotFoundError:
            return []
        return [match for line in text.splitlines() if (match := pattern.match(line))]

    def checksum(self) -> str:
        done = self.lines(DONE)
        if len(done) != 1:
            raise RuntimeError(f"job {self.number} says {len(done)} times that it is done: {self.output}")
        return done[0]["checksum"]

    def wait_step(self, step: int, seconds: float) -> None:
        """Waits until its solver has reported this step or a later one."""
        wait_for(lambda: any(int(match["step"]) >= step for match in self.lines(PROGRESS)), seconds,
                 f"job {self.number} to reach step {step}", self.logs())

    def wait_checkpoint(self, seconds: float, count: int = 1) -> None:
        wait_for(lambda: len(self.lines(CHECKPOINT)) >= count, seconds,
                 f"job {self.number} to write checkpoint {count}", self.logs())


def heat2d(cluster, nodes: int, steps: int, *, n: int = 512, pace_us: int = 0, ckpt: Optional[Path] = None,
           options: tuple[str, ...] = (), launcher: str = "srun --mpi=pmix --ntasks-per-node=1",
           words: tuple[str, ...] = (), script: str = "") -> Job:
    """Submits the solver, one rank per node; with a checkpoint folder it may be restarted. `script`: commands after the step."""
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    output = folder / f"heat2d-{len(list(folder.glob('heat2d-*.out')))}.out"
    output.touch()
    program = cluster.options.build / "tests" / "apps" / "heat2d"
    step = f"{launcher} {program} --n {n} --steps {steps} --pace-us {pace_us} {' '.join(words)}\n"
    lines = f"#!/bin/sh\n{step}{script}\n" if script else f"#!/bin/sh\nexec {step}"
    flags = [f"--ckpt-dir={ckpt}", "--restart=auto"] if ckpt else []
    answer = cluster.out("sbatch", "--parsable", f"-N{nodes}", "--exclusive", "--job-name=heat2d", "--open-mode=append",
                         f"--output={output}", *flags, *options, stdin=lines)
    return Job(cluster, int(answer.split(";")[0]), output)
