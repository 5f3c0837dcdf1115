"""A job's life reported as it happens: states, nodes drawn by unit, checkpoints, restartd's messages, work lost and saved."""

import json
import re
import signal
import time
from typing import Callable

from .jobs import AGAIN, CHECKPOINT, PROGRESS, START, Job, Seen
from .process import Timeout, wait_for

QUIET = 6.0  # seconds without a line after which progress is shown
COSTS = re.compile(r"^i-\d+: .*\n(COST .*(?:\n.+)*)", re.MULTILINE)  # railctl explain JOB's table, up to an empty line
ENDED = ("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


class Incarnation:
    """What one start of the job reported."""

    def __init__(self, step: int, source: str):
        self.first, self.source = step, source
        self.last = step           # last step reported
        self.checkpoint = step     # last step saved
        self.checkpoints = 0
        self.pace = 0.0            # seconds per step


class Story:
    def __init__(self, cluster, job: Job, say: Callable[[str], None]):
        self.cluster, self.job, self._tell = cluster, job, say
        self.placements: list[list[str]] = []
        self.incarnations: list[Incarnation] = []
        self.fault_at = 0.0
        self.costs = ""  # of leaving the job and of moving it, as reported
        self.seen = Seen("", [], 0, "", "")
        self._nodes = cluster.node_states()
        self._read = 0
        self._notes = 0
        self._last_line = time.monotonic()

    def say(self, text: str) -> None:
        self._last_line = time.monotonic()
        self._tell(text)

    # --- looking ---

    def poll(self) -> None:
        """Prints what is new."""
        self._read_output()
        seen = self.job.seen()
        states = self.cluster.node_states()
        for node, state in states.items():
            word = state.rstrip("*~#$@+")
            if word != self._nodes[node].rstrip("*~#$@+") and word not in ("idle", "allocated", "mixed", "completing"):
                self.say(f"{self.cluster.manager}: {node} is {state}")
        self._nodes = states
        if (seen.state, seen.nodes) != (self.seen.state, self.seen.nodes):
            self.say(f"{self.cluster.manager}: job {self.job.number} is {seen.state}" + (f" ({seen.reason})" if not seen.nodes else ""))
            if seen.state == "RUNNING":
                self.placements.append(seen.nodes)
                self.draw()
        self.seen = seen
        self._tell_events()
        if time.monotonic() - self._last_line > QUIET:
            self.say(f"heat2d: step {self.incarnations[-1].last}" if self.incarnations else f"job is {seen.state}")

    def _read_output(self) -> None:
        lines = self.job.output.read_text(errors="replace").split("\n")[:-1]
        for line in lines[self._read:]:
            if AGAIN.match(line):
                self.say(line)
            elif match := START.match(line):
                if self.incarnations:
                    self._account(int(match["step"]))
                self.incarnations.append(Incarnation(int(match["step"]), match["source"]))
                self.say(f"heat2d: starts at step {match['step']} (from {match['source'].rsplit('/', 1)[-1]})")
            elif not self.incarnations:
                continue
            elif match := PROGRESS.match(line):
                now = self.incarnations[-1]
                now.last = int(match["step"])
                now.pace = float(match["seconds"]) / max(1, now.last - now.first)
            elif match := CHECKPOINT.match(line):
                now = self.incarnations[-1]
                now.checkpoint, now.last = int(match["step"]), max(now.last, int(match["step"]))
                now.checkpoints += 1
                self.say(f"heat2d: checkpoint at step {match['step']}, {match['cost']} s")
            elif line.startswith("heat2d: done"):
                self.say(line)
        self._read = len(lines)

    def _tell_events(self) -> None:
        """What restartd added to its journal about this job since the last look."""
        answer = self.cluster.run("railctl", "explain", str(self.job.number), "--json")
        told = json.loads(answer.stdout) if answer.returncode == 0 else {"timeline": []}
        notes = told["timeline"]
        for note in notes[self._notes:]:
            self.say(f"restartd: {note['kind']}: {note['text']}")
        self._notes = max(self._notes, len(notes))

    def _until_weighed(self) -> None:
        """The cost of staying and moving is shown only between decision and move, which may be a third of a second."""
        def told() -> bool:
            text = self.cluster.run("railctl", "explain", str(self.job.number)).stdout
            table = COSTS.search(text)
            self.costs = table[1] if table else ""
            return bool(table) or "requeue job" in text
        wait_for(told, 60, "staying and moving to be weighed", [self.cluster.log("ctl", "restartd")], every=0.01)
        self.say("railctl explain shows what it weighs:")
        print(self.costs, flush=True)

    def _account(self, resumed: int) -> None:
        """Work lost and saved by a move, in reported steps and in seconds at this job's own pace."""
        before = self.incarnations[-1]
        lost, saved = max(0, before.last - resumed), resumed
        self.say(f"work lost {lost * before.pace:.1f} s ({lost} steps), saved {saved * before.pace:.1f} s ({saved} steps)")

    def draw(self) -> None:
        """Draws the units, with the job's nodes in brackets and hosts that accept no jobs crossed out."""
        job = self.placements[-1] if self.placements else []
        for index, unit in enumerate(self.cluster.units):
            cells = []
            for node in unit:
                state = self._nodes[node]
                bad = any(word in state for word in ("drain", "down", "fail"))
                cells.append(f"[{node}]" if node in job else f"x{node}x" if bad else f" {node} ")
            print(f"           unit {index + 1}  {' '.join(cells)}", flush=True)

    # --- waiting ---

    def _until(self, condition: Callable[[], bool], seconds: float, what: str, ending: bool = False) -> None:
        bad = ENDED if ending else (*ENDED, "COMPLETED")

        def reached() -> bool:
            self.poll()
            if self.seen.state in bad:
                raise Timeout(f"{what}: job {self.job.number} is {self.seen.state} ({self.seen.reason})")
            return condition()
        wait_for(reached, seconds, what, [self.job.output], every=0.2)

    def until_running(self, restarts: int, seconds: float) -> None:
        self._until(lambda: self.seen.state == "RUNNING" and self.seen.restarts == restarts, seconds,
                    f"job {self.job.number} to run with {restarts} restarts")
        if restarts:
            self.say(f"RUNNING again {time.monotonic() - self.fault_at:.1f} s after the fault")

    def until_launched(self, starts: int, seconds: float) -> None:
        """Waits until its program has started this many times; reads only its output, which adds no relevant delay."""
        wait_for(lambda: len(self.job.lines(START)) >= starts, seconds, f"job {self.job.number} to start its step again",
                 [self.job.output, self.cluster.log("ctl", "restartd")], every=0.02)
        self.say(f"first instruction {time.monotonic() - self.fault_at:.1f} s after the fault")
        self.poll()

    def until_checkpoints(self, count: int, seconds: float) -> None:
        """Waits until the latest launch has saved this many times."""
        starts = len(self.job.lines(START)) or 1
        self._until(lambda: len(self.incarnations) >= starts and self.incarnations[-1].checkpoints >= count,
                    seconds, f"job {self.job.number} to write {count} checkpoints")

    def until_completed(self, seconds: float) -> None:
        self._until(lambda: self.seen.state == "COMPLETED", seconds, f"job {self.job.number} to be COMPLETED",
                    ending=True)
        self._read_output()

    # --- faults ---

    def linger(self, seconds: float) -> None:
        """Lets the job continue, so that a fault occurs between two checkpoints."""
        end = time.monotonic() + seconds
        self._until(lambda: time.monotonic() >= end, seconds + 10, f"job {self.job.number} to work on")

    def _fault(self, text: str) -> None:
        self.say(f"*** {text} ***")
        self.fault_at = time.monotonic()

    def lose_agent(self) -> str:
        """Kills nodewatchd on one host, and restarts it once it has been missed, as systemd would."""
        node = self.job.ranks()[3]
        self._fault(f"nodewatchd killed: {node} itself is fine")
        self.cluster.daemons[node, "nodewatchd"].kill(signal.SIGKILL)
        self._until(lambda: "agent silent" in self.timeline(node), 60, f"{node} to be suspected")
        self.cluster.agents.start_node(node)
        self._until(lambda: "suspicion dropped" in self.timeline(node), 60, f"{node} to be suspected no more")
        self.show(node)
        return node

    def power_off(self) -> str:
        node = self.job.ranks()[2]
        self._fault(f"power off: {node}")
        self.cluster.power_off(node)
        return node

    def power_brake(self, other_than: str) -> str:
        node = [rank for rank in self.job.ranks() if rank != other_than][-1]
        self._fault(f"power brake: GPU 3 of {node}")
        self.cluster.power_brake(node, 3, True)
        self._until_weighed()
        return node

    # --- the reasoning, and the end ---

    def timeline(self, what: str) -> str:
        """What restartd's journal reports about a host or a job."""
        notes = json.loads(self.cluster.out("railctl", "explain", what, "--json"))["timeline"]
        return "\n".join(note["text"] for note in notes)

    def show(self, what: str) -> None:
        self.say(f"railctl explain {what}")
        print(self.cluster.out("railctl", "explain", what), flush=True)

    def verdict(self, checksum: str, missed: str, off: str, slow: str, inside: bool) -> dict[str, bool]:
        """Each promise and whether it was kept. `inside`: the loss of a host is survived inside the allocation."""
        placements, lives = self.placements, self.incarnations
        told = self.timeline(str(self.job.number))
        acted = json.loads(self.cluster.out("railctl", "history", "--json"))["actions"]

        def in_one_unit(nodes: list[str]) -> bool:
            return any(set(nodes) <= set(unit) for unit in self.cluster.units)

        def saved_before(step: int) -> bool:
            """Under LSF its ranks may save once more after LSF's signal, when restartd has already heard of a checkpoint."""
            heard = [int(found) for found in re.findall(r"saved step (\d+) ", told)]
            return step in heard if inside else bool(heard) and step >= max(heard)

        where = "runs again inside its allocation" if inside else "is RUNNING on"
        return {
            f"{missed}'s missed heartbeats led to nothing": not any(missed in action["text"] for action in acted
                                                                    if action["kind"].endswith("_host")),
            f"{off}'s loss was survived {'inside the allocation' if inside else 'on other hosts'}": len(lives) > 1 and where in told,
            f"before {slow} was left the job saved, and began there": len(lives) > 2 and saved_before(lives[2].first),
            # Under LSF a query waits for the next list, a second: longer than the comparison takes.
            **({"what staying and moving costs was shown": "waiting" in self.costs and "moving" in self.costs} if inside else {}),
            f"three launches and {'one requeue' if inside else 'two requeues'}, without a human":
                self.seen.restarts == (1 if inside else 2) and len(lives) == 3,
            "each placement within one unit": all(in_one_unit(nodes) for nodes in placements),
            f"{off} and {slow} were avoided": {off, slow}.isdisjoint(placements[-1]),
            "the checksum is that of the undisturbed run": self.job.checksum() == checksum,
        }
