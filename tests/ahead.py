"""Runs the longest of the sanitizers' programs as soon as it is built, in time that the other stages leave idle, so that nothing
waits later for the one processor that it uses."""

import contextlib
import os
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "system")]

from railcluster import deadline  # noqa: E402
from railcluster.process import Pid  # noqa: E402

IDLE = ["chrt", "--idle", "0"]  # before a command: use only idle processor time
# The same for a command in its own session: where Linux groups by sessions (autogroup in sched(7)) each has an equal share,
# regardless of its processes' priorities.
IDLE_SESSION = ["sh", "-c", '{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec "$0" "$@"', *IDLE]

PROGRAM = "tests/unit/unit_worlds"  # it uses only its own clock, so it may wait for processors

# Runs the command after it and, if that succeeds, the program in the same process; the file shows that it has started.
AND_THEN = 'file=$1 program=$2 report=$3; shift 3; "$@" && touch "$file" && exec "$program" -r xml -o "$report"'


class Ahead:
    def __init__(self, build, report):
        self.program, self.report, self.file = build / PROGRAM, report, build / "logs" / "ahead.begun"
        self.step = None
        for file in (self.report, self.file):  # from an earlier run
            file.unlink(missing_ok=True)

    def wrapper(self):
        """Command prefix for building it."""
        return ["sh", "-c", AND_THEN, "sh", self.file, self.program, self.report]

    def take(self, step):
        """Whether it has started in this step; it then continues at the usual priority."""
        if not step or not self.file.exists():
            return False
        self.step = step
        with contextlib.suppress(OSError):  # it has ended
            os.sched_setscheduler(step.process.pid, os.SCHED_OTHER, os.sched_param(0))
            Path(f"/proc/{step.process.pid}/autogroup").write_text("0", encoding="ascii")
        return True

    def end(self, seconds):
        """Its exit status, if it ends within the seconds."""
        until = time.monotonic() + seconds
        while self.step.process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        if self.step.process.poll() is None:
            print(deadline.end(Pid.of(self.step.process.pid), PROGRAM, seconds))
        return self.step.process.wait()
