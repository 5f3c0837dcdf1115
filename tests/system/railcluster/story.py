"""A job's life told as it happens: states, nodes drawn by unit, checkpoints, what restartd says, work lost and saved."""

import json
import time
from typing import Callable

from .jobs import CHECKPOINT, PROGRESS, START, Job, Seen
from .process import Timeout, wait_for

QUIET = 6.0  # seconds without a line after which progress is told
ENDED = ("FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


class Incarnation:
    """What one start of the job told."""

    def __init__(self, step: int, source: str):
        self.first, self.source = step, source
        self.last = step           # last step told
        self.checkpoint = step     # last step saved
        self.checkpoints = 0
        self.pace = 0.0            # seconds a step


class Story:
    def __init__(self, cluster, job: Job, say: Callable[[str], None]):
        self.cluster, self.job, self._tell = cluster, job, say
        self.placements: list[list[str]] = []
        self.incarnations: list[Incarnation] = []
        self.fault_at = 0.0
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
        """Tells what is new."""
        self._read_output()
        seen = self.job.seen()
        states = self.cluster.node_states()
        for node, state in states.items():
            word = state.rstrip("*~#$@+")
            if word != self._nodes[node].rstrip("*~#$@+") and word not in ("idle", "allocated", "mixed", "completing"):
                self.say(f"Slurm: {node} is {state}")
        self._nodes = states
        if (seen.state, seen.nodes) != (self.seen.state, self.seen.nodes):
            self.say(f"Slurm: job {self.job.number} is {seen.state}" + (f" ({seen.reason})" if not seen.nodes else ""))
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
            if match := START.match(line):
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
        """What restartd wrote in its journal about this job since the last look."""
        answer = self.cluster.run("railctl", "explain", str(self.job.number), "--json")
        notes = json.loads(answer.stdout)["timeline"] if answer.returncode == 0 else []
        for note in notes[self._notes:]:
            self.say(f"restartd: {note['kind']}: {note['text']}")
        self._notes = max(self._notes, len(notes))

    def _account(self, resumed: int) -> None:
        """Work lost and saved by a move, in steps told and in seconds of this job's own pace."""
        before = self.incarnations[-1]
        lost, saved = max(0, before.last - resumed), resumed
        self.say(f"work lost {lost * before.pace:.1f} s ({lost} steps), saved {saved * before.pace:.1f} s ({saved} steps)")

    def draw(self) -> None:
        """The units, with the job's nodes in brackets and hosts that take no jobs crossed out."""
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

    def until_checkpoints(self, count: int, seconds: float) -> None:
        self._until(lambda: len(self.incarnations) > self.seen.restarts and self.incarnations[-1].checkpoints >= count,
                    seconds, f"job {self.job.number} to write {count} checkpoints")

    def until_completed(self, seconds: float) -> None:
        self._until(lambda: self.seen.state == "COMPLETED", seconds, f"job {self.job.number} to be COMPLETED",
                    ending=True)
        self._read_output()

    # --- faults ---

    def linger(self, seconds: float) -> None:
        """Lets the job work on, so that a fault finds it between two checkpoints."""
        end = time.monotonic() + seconds
        self._until(lambda: time.monotonic() >= end, seconds + 10, f"job {self.job.number} to work on")

    def power_off(self) -> str:
        node = self.placements[-1][2]
        self.say(f"*** power off: {node} ***")
        self.fault_at = time.monotonic()
        self.cluster.power_off(node)
        return node

    def power_brake(self) -> str:
        node = self.placements[-1][4]
        self.say(f"*** power brake: GPU 3 of {node} ***")
        self.fault_at = time.monotonic()
        self.cluster.power_brake(node, 3, True)
        return node

    # --- the end ---

    def verdict(self, checksum: str, off: str, slow: str) -> dict[str, bool]:
        """Each promise and whether it held."""
        placements, lives = self.placements, self.incarnations

        def in_one_unit(nodes: list[str]) -> bool:
            return any(set(nodes) <= set(unit) for unit in self.cluster.units)

        return {
            "two restarts, without a human": self.seen.restarts == 2 and len(placements) == 3,
            "each placement within one unit": all(in_one_unit(nodes) for nodes in placements),
            f"{off} was avoided after it lost power": all(off not in nodes for nodes in placements[1:]),
            f"{slow} was avoided after its power brake": all(slow not in nodes for nodes in placements[2:]),
            "each restart from a checkpoint": len(lives) == 3 and all(life.first > 0 for life in lives[1:]),
            "the checksum is that of the undisturbed run": self.job.checksum() == checksum,
        }
