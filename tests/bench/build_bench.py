#!/usr/bin/env python3
"""How long one waits for a build, a test and the quickstart, beside what we want it to be.

Usage: build_bench.py [--build DIR] [--only ROW] [--list]
       build_bench.py --beside REV

    change             a .cpp of src/restart/core has changed: to the verdict of its unit tests (three files, their median)
    quickstart-built   ./quickstart in a build directory in which what it runs is built
    quickstart-cold    ./quickstart in a copy of the sources with empty caches
    run-warm           tests/run in a build directory in which all that it compiles is compiled
    run-cold           tests/run --cold

The targets hold for a quiet machine with two cores. Each row tells how busy the machine was with other things before it
began, and none is judged on one that was not quiet. All but the first need root. Exit status 1: a row's command failed.

--beside REV: what compiling costs, in seconds of the processor without ccache, here and at that revision, each in a copy
of its tree and configured as its own quickstart does: all programs, the unit tests' programs, what quickstart starts.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable, NamedTuple, Optional

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests" / "system"))

from railcluster import build as builder  # noqa: E402
from railcluster.fresh import Fresh  # noqa: E402
from railcluster.process import leave_on_sigterm  # noqa: E402

CHANGED = ("bounds", "health", "node_loss")  # files of core with a test file of the same name
LOOK = 3.0   # seconds of looking at the machine before a row
QUIET = 0.2  # cores that others may use at most


def say(text: str) -> None:
    print(f"    {text}", flush=True)


def busy_cores() -> float:
    """How many cores are in use while we do nothing."""
    def used() -> int:
        fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(fields) - fields[3] - fields[4]  # idle, iowait
    before, begin = used(), time.monotonic()
    time.sleep(LOOK)
    return (used() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - begin)


def timed(command: list, log: Path, cwd: Path, env: Optional[dict[str, str]] = None) -> float:
    """Seconds; builder.Failed with the end of its output when it fails."""
    begin = time.monotonic()
    builder.run_step(" ".join(str(word) for word in command[:3]), command, log, cwd, say, env)
    return time.monotonic() - begin


# --- rows: each prepares itself untimed and returns seconds ---

def change(build: Path, logs: Path) -> float:
    configure(build, [])
    (build / "GNUmakefile").unlink(missing_ok=True)  # one by one, as where somebody works
    programs = builder.listed(build, "unit_programs")
    builder.make(build, programs, say, "make unit tests")
    source = builder.listed(build, "srcdir")[0]
    seconds = []
    for name in CHANGED:
        # make believes it changed, ccache does not know it: as after an edit, and nobody's file is touched.
        words = ["make", f"-j{os.cpu_count()}", "-W", f"{source}/src/restart/core/{name}.cpp"]
        env = {"CCACHE_RECACHE": "1", "MAKEFLAGS": ""}
        asked = [program for program in programs if cases(build / program, name)]
        planned = subprocess.run([*words, "-n", *asked], cwd=build, env={**os.environ, **env}, capture_output=True, text=True,
                                 check=True).stdout
        if f"core/{name}." not in planned or not any(f" -o {program} " in planned for program in asked):
            raise builder.Failed(f"no unit test program has both {name}.cpp and {name}_test.cpp: {' '.join(programs)}")
        seconds.append(timed([*words, *asked], logs / f"change-{name}.log", build, env))
        for program in asked:
            seconds[-1] += timed([build / program, "-#", f"[#{name}_test]"], logs / f"verdict-{name}.log", build)
        say(f"{name}.cpp: {seconds[-1]:.1f} s")
    return statistics.median(seconds)


def cases(program: Path, name: str) -> list[str]:
    """The test cases of a test file that stand in a program."""
    told = subprocess.run([program, "-#", f"[#{name}_test]", "--list-test-names-only"], capture_output=True, text=True, check=False)
    return told.stdout.split("\n")[:-1]


def quickstart_built(build: Path, logs: Path) -> float:
    configure(build, [])
    builder.make(build, ["cluster"], say, "make cluster")
    return timed([SOURCE / "quickstart", "--build", build], logs / "quickstart-built.log", SOURCE)


def quickstart_cold(_build: Path, logs: Path) -> float:
    with Fresh() as fresh:
        return timed([fresh.source / "quickstart"], logs / "quickstart-cold.log", fresh.source, fresh.environment)


def run_warm(build: Path, logs: Path) -> float:
    command = [SOURCE / "tests" / "run", "--build", build]
    timed(command, logs / "run-before.log", SOURCE)  # which compiles what the gate runs, and nothing else
    return timed(command, logs / "run-warm.log", SOURCE)


def run_cold(_build: Path, logs: Path) -> float:
    return timed([SOURCE / "tests" / "run", "--cold"], logs / "run-cold.log", SOURCE)


def configure(build: Path, more: list[str]) -> None:
    builder.configure(build, ["--enable-werror"], say, ("", *more))


class Row(NamedTuple):
    what: str
    target: float  # seconds
    root: bool
    measure: Callable[[Path, Path], float]


ROWS = {
    "change": Row("a .cpp of core to its test's verdict", 15, False, change),
    "quickstart-built": Row("quickstart, built", 60, True, quickstart_built),
    "quickstart-cold": Row("quickstart, cold", 240, True, quickstart_cold),
    "run-warm": Row("tests/run, warm build", 720, True, run_warm),
    "run-cold": Row("tests/run, cold", 1200, True, run_cold),
}


# --- what compiling costs, beside another revision ---

COMPILED = {"all programs": (["all"], 0.35), "unit tests": (["unit_programs"], 0.4), "quickstart": (["cluster"], 0.35)}
CONFIGURE = """
import sys
from pathlib import Path
sys.path.insert(0, "tests/system")
from railcluster import build
build.configure(Path("build"), ["--enable-werror"], print)
"""


def processor_seconds(source: Path, logs: Path) -> dict[str, float]:
    """Of each row, each from nothing but what configure makes; unit tests after the programs, of which they have the objects."""
    env = {"CCACHE_DISABLE": "1", "MAKEFLAGS": ""}
    build = source / "build"
    timed([sys.executable, "-B", "-c", CONFIGURE], logs / f"configure-{source.name}.log", source)
    found = {}
    for row in ("quickstart", "all programs", "unit tests"):
        if row == "all programs":
            timed(["make", "clean"], logs / "clean.log", build, env)
        words = COMPILED[row][0]
        if words == ["unit_programs"]:
            words = builder.listed(build, "unit_programs")
        elif subprocess.run(["make", "-n", *words], cwd=build, capture_output=True, check=False).returncode:
            words = ["all"]  # before quickstart had a target of its own
        before = os.times()
        timed(["make", f"-j{os.cpu_count()}", *words], logs / f"make-{source.name}.log", build, env)
        found[row] = sum(os.times()[2:4]) - sum(before[2:4])
    return found


def beside(revision: str) -> int:
    with tempfile.TemporaryDirectory(prefix="railyard-bench-", dir="/var/tmp") as folder:
        found = []
        for name, commit in (("here", "HEAD"), ("there", revision)):
            source = Path(folder) / name
            subprocess.run(["git", "clone", "-q", "--no-checkout", SOURCE, source], check=True)
            subprocess.run(["git", "-C", source, "checkout", "-q", "--detach", commit], check=True)
            found.append(processor_seconds(source, Path(folder)))
        here, there = found
        print(f"\nuser and system seconds of the processor, without ccache\n{'':14} {'here':>7} {revision[:9]:>9} {'ratio':>6} {'target':>6}")
        for row, (_, target) in COMPILED.items():
            ratio = here[row] / there[row]
            print(f"{row:14} {here[row]:7.0f} {there[row]:9.0f} {ratio:6.2f} {target:6.2f}  {'met' if ratio <= target else 'missed'}")
    return 0


def verdict(seconds: float, target: float, others: float) -> str:
    if others > QUIET:
        return "not judged: the machine was busy"
    if os.cpu_count() != 2:
        return f"not judged: {os.cpu_count()} cores"
    return "met" if seconds <= target else "missed"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=SOURCE / "build", metavar="DIR")
    parser.add_argument("--only", choices=ROWS, action="append", metavar="ROW", help="only this row; may be repeated")
    parser.add_argument("--list", action="store_true", help="print the names of the rows")
    parser.add_argument("--beside", metavar="REV", help="what compiling costs here and there")
    args = parser.parse_args()
    if args.list:
        print("\n".join(ROWS))
        return 0
    leave_on_sigterm()  # what is being built ends with us
    if args.beside:
        try:
            return beside(subprocess.run(["git", "-C", SOURCE, "rev-parse", "--verify", f"{args.beside}^{{commit}}"],
                                         capture_output=True, text=True, check=True).stdout.strip())
        except (builder.Failed, OSError, subprocess.CalledProcessError) as error:
            print(error, file=sys.stderr)
            return 1
    build = args.build.resolve()
    lines, failed = [], False
    with tempfile.TemporaryDirectory(prefix="railyard-bench-") as logs:
        for name in args.only or ROWS:
            row = ROWS[name]
            print(f"=== {name}", flush=True)
            if row.root and os.geteuid() != 0:
                lines.append(f"{row.what:38} {'-':>8} {row.target:>6.0f} s  skipped: not root")
                continue
            others = busy_cores()
            try:
                seconds = row.measure(build, Path(logs))
            except (builder.Failed, OSError, subprocess.CalledProcessError) as error:
                print(error, flush=True)
                failed = True
                lines.append(f"{row.what:38} {'failed':>8} {row.target:>6.0f} s  {others:5.1f}")
                continue
            lines.append(f"{row.what:38} {seconds:6.1f} s {row.target:>6.0f} s  {others:5.1f}  "
                         f"{verdict(seconds, row.target, others)}")
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; targets are for two quiet cores\n"
          f"{'':38} {'took':>8} {'target':>8}  {'busy':>5}  (cores in use before it began)")
    print("\n".join(lines))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
