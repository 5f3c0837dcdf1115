#!/usr/bin/env python3
"""System tests on several clusters at once: every test is run once and told whole, whatever becomes of a worker.

The workers here are doubles: a test's name says what it does, and each begin and end goes to a file.
"""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "system"))
from archive import check, tests
from railcluster import workers
from railcluster.process import Pid, wait_for
from railcluster.speed import slowness
from railcluster.workers import Plan, Test

DOUBLE = """
import json, os, sys, time
def note(what):
    with open("notes", "a") as notes:
        notes.write(f"{what} {os.getpid()}\\n")
note("up -")
try:
    for line in sys.stdin:
        name = line.strip()
        note(f"begin {name}")
        print(f"RUN   {name}", flush=True)
        time.sleep(0.05)
        if "die" in name:
            os.kill(os.getpid(), 9)
        if "hang" in name:
            time.sleep(600)
        bad = "bad" in name
        print(f"said by {name}", flush=True)
        note(f"end {name}")
        print("\\x1e" + json.dumps(["fail" if bad else "pass", name, 0.1, "as it must" if bad else ""]), flush=True)
finally:
    time.sleep(0.3)
    note("down -")
"""
# As the runner does: SIGTERM is an exception, so that what it started goes with it.
POOL = f"""
import sys
sys.path.insert(0, {str(HERE.parent / "system")!r})
from railcluster import process, workers
process.leave_on_sigterm()
workers.SECONDS = SECONDS_OF_ONE
found = [workers.Test(*words) for words in TESTS]
workers.run(found, 3, [sys.executable, "-c", "import sys; sys.path.insert(0, {str(HERE.parent / "system")!r}); "
                       "from railcluster import process; process.leave_on_sigterm(); exec(open('double.py').read())"],
            lambda outcome, name, _seconds, why: print("RESULT", outcome, name, why, flush=True), TIMES)
"""


def pool(folder: str, found: list[Test], seconds: float = 60, times: int = 1) -> subprocess.Popen:
    (Path(folder) / "double.py").write_text(DOUBLE)
    script = POOL.replace("TESTS", repr([tuple(test) for test in found])).replace("SECONDS_OF_ONE", str(seconds))
    script = script.replace("TIMES", str(times))
    return subprocess.Popen([sys.executable, "-B", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)


def notes(folder: str) -> list[tuple[str, str, int]]:
    path = Path(folder) / "notes"
    lines = path.read_text().splitlines() if path.exists() else []
    return [(what, name, int(pid)) for what, name, pid in (line.split() for line in lines)]


def named(*names: str, alone=()) -> list[Test]:
    return [Test(name, "usual", 1, name in alone) for name in names]


def results(lines: list[str]) -> list[str]:
    return sorted(line for line in lines if line.startswith("RESULT"))


def run(folder: str, found: list[Test], seconds: float = 60, times: int = 1) -> list[str]:
    process = pool(folder, found, seconds, times)
    out, _ = process.communicate(timeout=60 * slowness())
    check(process.returncode == 0, process.returncode, out)
    return out.splitlines()


def test_each_once_and_whole(folder) -> None:
    """What a test prints stands together, however many run at a time."""
    names = [f"{file}.{number}" for file in "abcd" for number in range(4)]
    lines = run(folder, named(*names))
    found = []
    for at in range(0, len(lines), 3):
        name = lines[at].split()[-1]
        check(lines[at:at + 3] == [f"RUN   {name}", f"said by {name}", f"RESULT pass {name} "], *lines[at:at + 3])
        found.append(name)
    check(sorted(found) == names, found)
    check(len({pid for what, _, pid in notes(folder) if what == "up"}) == 3, "workers")


def test_a_worker_dies(folder) -> None:
    """Its test has failed, the others are run all the same, by another if need be."""
    names = ["a.1", "a.die", "a.2", "b.die", "b.1", "c.die", "c.bad"]
    lines = results(run(folder, named(*names)))
    why = "the worker that ran it ended with status -9"
    check(lines == sorted([f"RESULT fail {name} {why}" for name in names if "die" in name] + [
        "RESULT fail c.bad as it must", *(f"RESULT pass {name} " for name in ("a.1", "a.2", "b.1"))]), *lines)


def test_one_hangs(folder) -> None:
    """It is ended and has failed, its processes are told, and the others are run."""
    lines = run(folder, named("a.1", "a.hang", "a.2", "b.1"), 3)
    check(any(line.startswith(f"a.hang has not ended within {3 * slowness():g} s") for line in lines), *lines)
    check(any("-c import sys" in line and "[S " in line for line in lines), *lines)
    check(results(lines) == ["RESULT fail a.hang the worker that ran it ended with status -9",
                             *(f"RESULT pass {name} " for name in ("a.1", "a.2", "b.1"))], *lines)


def test_alone(folder) -> None:
    """A test that nothing may disturb begins when all others have ended and their clusters are down."""
    run(folder, named("a.1", "a.2", "b.1", "c.1", "c.2", alone=("a.2", "c.1")))
    order = notes(folder)
    first = next(at for at, (what, name, _) in enumerate(order) if what == "begin" and name in ("a.2", "c.1"))
    own = order[first][2]
    check(all(pid == own for _, _, pid in order[first:]), *order)
    check([what for what, _, pid in order[:first] if pid != own].count("down") == 3, *order)


def test_a_failure_stays_one(folder) -> None:
    """What failed is a failure at once, and is not run a second time."""
    lines = run(folder, named("a.1", "a.bad", "b.1", "c.bad", alone=("c.bad",)))
    check(results(lines) == ["RESULT fail a.bad as it must", "RESULT fail c.bad as it must",
                             *(f"RESULT pass {name} " for name in ("a.1", "b.1"))], *lines)
    check(sorted(name for what, name, _ in notes(folder) if what == "begin") == ["a.1", "a.bad", "b.1", "c.bad"], *notes(folder))


def test_many_times(folder) -> None:
    """Each as often as asked for, whether it fails or not."""
    lines = run(folder, named("a.1", "a.bad", "b.1", "c.1", alone=("c.1",)), times=3)
    check(results(lines) == sorted(3 * ["RESULT pass a.1 ", "RESULT fail a.bad as it must", "RESULT pass b.1 ",
                                        "RESULT pass c.1 "]), *lines)


def test_what_a_failure_tells(_) -> None:
    """Within its first 30 lines: what was seen, where, the command for it alone, and how the daemons' logs end."""
    loader = importlib.machinery.SourceFileLoader("system_run", str(HERE.parent / "system" / "run"))
    runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("system_run", loader))
    loader.exec_module(runner)

    class Cluster:
        last_words = staticmethod(lambda: "--- the end of ctl.slurmctld.log:\nerror: n003 is gone")

    shared = runner.Shared(None)
    shared.cluster = Cluster()
    out = io.StringIO()
    try:
        raise AssertionError("state: got 'DOWN', wanted 'IDLE'\n" + "more\n" * 50)
    except AssertionError as error:
        with contextlib.redirect_stdout(out):
            runner.explain(error, "life.lost", shared)
    lines = out.getvalue().splitlines()
    for part in ("got 'DOWN', wanted 'IDLE'", "side_by_side_test.py:", "tests/run --only system:life.lost", "n003 is gone"):
        check(any(part in line for line in lines[:30]), part, *lines)
    check(lines.count("more") == 50, *lines)


def test_the_plan(_folder) -> None:
    """Long files first, each with one worker; a file is shared when nothing else is left; clusters are kept where they fit."""
    plan = Plan([Test("short.1", "x", 1, False), Test("long.1", "x", 50, False), Test("long.2", "x", 50, False),
                 Test("middle.1", "y", 30, False), Test("alike.1", "x", 2, False)])
    first = plan.take(None, set())
    check(first.name == "long.1", first)
    second = plan.take(None, {"long"})
    check(second.name == "middle.1", second)
    check(plan.take(first, {"middle"}).name == "long.2", "its file first")
    check(plan.take(first, {"middle"}).name == "alike.1", "the longest that shares its cluster")
    check(plan.take(second, set()).name == "short.1", "what is left")
    check(plan.take(second, set()) is None, "nothing is left")
    plan = Plan(named("one.1", "one.2"))
    plan.take(None, set())
    check(plan.take(None, {"one"}).name == "one.2", "a file shared")


def test_stopped(folder) -> None:
    """Ctrl-C and SIGTERM end all workers by their own way out; a runner that is killed takes them along, too."""
    for name, number in (("int", signal.SIGINT), ("term", signal.SIGTERM), ("kill", signal.SIGKILL)):
        own = Path(folder) / name
        own.mkdir()
        process = pool(str(own), named("a.hang", "b.hang", "c.hang", "c.never"))
        wait_for(lambda: sum(what == "begin" for what, _, _ in notes(str(own))) >= 3, 60, "three workers at once",
                 [own / "notes"], every=0.02, needs=Pid.of(process.pid))
        os.kill(process.pid, number)
        out, _ = process.communicate(timeout=60 * slowness())
        check(process.returncode != 0 and "RESULT" not in out, process.returncode, out)
        wait_for(lambda: sum(what == "down" for what, _, _ in notes(str(own))) >= 3, 60,
                 f"{name}: workers that went their own way out", [own / "notes"], every=0.02)
        check(not any(name == "c.never" for _, name, _ in notes(str(own))), "a test was begun after the end")


def test_jobs(_folder) -> None:
    """As many as cores and memory allow, at least one."""
    check(1 <= workers.usual_jobs() <= min(workers.MOST, 3 * os.cpu_count()), workers.usual_jobs())


sys.exit(tests(globals()))
