"""System tests in parallel: workers that each run one test at a time on their own cluster, and the assignment of tests.

A worker is the runner itself (tests/system/run --worker): it reads the names of tests from its standard input and prints a test's
output, then one line MARK and the result as JSON. If a worker dies, its current test fails, and it is replaced.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from typing import Callable, NamedTuple, Optional

from . import deadline
from .process import Pid, die_with_parent, kill_tree
from .speed import slowness

MARK = "\x1e"
MEMORY_MB = 600  # more than twice what a cluster of 16 hosts takes
MOST = 6
SECONDS = 900  # longer than any test, several times the slowest: one that hangs fails, and the others run


class Test(NamedTuple):
    name: str      # file.function
    cluster: str   # tests with the same value share a cluster
    seconds: float
    alone: bool    # nothing else runs in parallel

    @property
    def file(self) -> str:
        return self.name.split(".", 1)[0]


def usual_jobs() -> int:
    """Tests wait most of the time: three per core, limited by the free memory."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        free = next(int(line.split()[1]) // 1024 for line in lines if line.startswith("MemAvailable:"))
    return max(1, min(MOST, 3 * (os.cpu_count() or 1), free // MEMORY_MB))


class Plan:
    """Which worker gets which test: long files first, each with one worker while there is another file to start."""

    def __init__(self, tests: list[Test]):
        self.left: dict[str, list[Test]] = {}
        for test in tests:
            self.left.setdefault(test.file, []).append(test)

    def weight(self, file: str) -> float:
        return sum(test.seconds for test in self.left[file])

    def take(self, last: Optional[Test], busy: set[str]) -> Optional[Test]:
        """The next test for a worker whose last one was `last`; files in `busy` have a worker already."""
        files = [file for file, tests in self.left.items() if tests]
        if not files:
            return None
        if last and last.file in files:
            file = last.file
        else:
            # A file without a worker, then half of another's; preferably one for the worker's cluster.
            fresh = [file for file in files if file not in busy] or files
            alike = [file for file in fresh if last and self.left[file][0].cluster == last.cluster]
            file = max(alike or fresh, key=self.weight)
        return self.left[file].pop(0)


class Worker:
    """One process, and its current test."""

    def __init__(self, number: int, command: list[str], events: queue.Queue):
        self.number, self.events = number, events
        self.test: Optional[Test] = None
        self.overdue = 0.0
        self.last: Optional[Test] = None
        # A separate session: the pool forwards Ctrl-C, once.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace", start_new_session=True, preexec_fn=die_with_parent)
        self.pid = Pid.of(self.process.pid)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        text = []
        for line in self.process.stdout:
            if line.startswith(MARK):
                self.events.put((self, "".join(text), json.loads(line[1:])))
                text = []
            else:
                text.append(line)
        self.events.put((self, "".join(text), None))

    def begin(self, test: Test) -> None:
        self.test = self.last = test
        self.overdue = time.monotonic() + SECONDS * slowness()
        try:
            self.process.stdin.write(test.name + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its end is an event, and fails the test

    def finish(self) -> None:
        """No more tests: it removes its cluster and ends."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


def run(tests: list[Test], jobs: int, command: list[str], report: Callable[[str, str, float, str], None],
        times: int = 1) -> None:
    """Runs the tests; report(outcome, name, seconds, why) follows the output of each, which is printed in one piece.

    Each runs `times` times; those that need the machine alone run last. Whatever ends this, the workers are terminated and waited
    for, and their clusters are removed.
    """
    events: queue.Queue = queue.Queue()
    workers: list[Worker] = []
    try:
        for chosen, at_once in (([test for test in tests if not test.alone], jobs), ([test for test in tests if test.alone], 1)):
            workers.extend(Worker(number, command, events) for number in range(1, min(at_once, len(chosen) * times) + 1))
            _run_all(Plan(chosen * times), workers, command, events, report)
    finally:
        _stop(workers)


def _run_all(plan: Plan, workers: list[Worker], command: list[str], events: queue.Queue,
             report: Callable[[str, str, float, str], None]) -> None:
    """Returns when each worker has ended, with no tests left for it."""
    def next_for(worker: Worker) -> None:
        test = plan.take(worker.last, {other.test.file for other in workers if other.test})
        worker.test = None
        if test:
            worker.begin(test)
        else:
            worker.finish()
    for worker in workers:
        next_for(worker)
    while workers:
        for overdue in [worker for worker in workers if worker.test and time.monotonic() > worker.overdue and worker.pid.alive()]:
            print(deadline.end(overdue.pid, overdue.test.name, SECONDS * slowness()), flush=True)  # its end is an event
        try:
            worker, text, result = events.get(timeout=1)
        except queue.Empty:
            continue
        print(text, end="", flush=True)
        if result:
            report(*result)
            next_for(worker)
            continue
        workers.remove(worker)
        status = worker.process.wait()
        if worker.test:
            # Its leftovers would continue to run unless they are ended here; tied hosts end automatically.
            why = f"the worker that ran it ended with status {status}"
            print(f"FAIL  {worker.test.name}: {why}", flush=True)
            report("fail", worker.test.name, 0.0, why)
            workers.append(Worker(worker.number, command, events))
            next_for(workers[-1])
        elif status:
            report("fail", f"worker{worker.number}", 0.0, f"it ended with status {status} after its tests")


def _stop(workers: list[Worker]) -> None:
    for worker in workers:
        worker.pid.kill(signal.SIGTERM)
    deadline = time.monotonic() + 60
    for worker in workers:
        try:
            worker.process.wait(max(0.1, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            print(f"      worker {worker.number} does not end: killed", file=sys.stderr)
            kill_tree(worker.pid)
            worker.process.wait()
