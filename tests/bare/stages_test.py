#!/usr/bin/env python3
"""tests/run's true counts: each test case of each unit test program is one test, and a program without a report a failure."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from archive import check, tests
import ahead
import sets
import stages
from railcluster import build as builder

CASE = '<TestCase name="{}"><OverallResult success="{}"/></TestCase>'


def program(build: Path, name: str, text: str) -> None:
    path = build / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def report(*cases: tuple[str, str], status: int = 0) -> str:
    xml = "<Catch><Group>" + "".join(CASE.format(*case) for case in cases) + "</Group></Catch>"
    return f"shift 3; echo '{xml}' >\"$1\"; exit {status}"


MAP = """gate unit:unit/base 1
gate unit:unit/one 1
gate sanitizers:unit/topo 1
all unit:unit/topo 1
all sanitizers:unit/base 1
all check:tests/fuzz/run 1
gate check:lint/one 1
"""


def made(folder: str, programs: dict[str, str], **words) -> stages.Stages:
    """The stages over a build of made-up programs, which are all in the gate unless the test's map says otherwise."""
    build = Path(folder)
    (build / "Makefile").write_text(f"unit_programs = {' '.join(f'unit/{name}' for name in programs)}\nTESTS = $(unit_programs) lint/one\n"
                                    "fuzz_programs = fuzz/one\ncheck_PROGRAMS = $(unit_programs) fuzz/one other\n")
    for name, text in programs.items():
        program(build, f"unit/{name}", text)
    words = {"all": False, "changed": None, "only": "", "map": "".join(f"gate unit:unit/{name} 1\n" for name in programs), **words}
    (build / "map").write_text(words.pop("map"))
    return stages.Stages(build, sets.Choice(sets.Map(build / "map"), argparse.Namespace(**words)), stages.Results())


def run(folder: str, **programs: str) -> stages.Results:
    of = made(folder, programs)
    check(of.scripts() == ["lint/one"], of.scripts())
    of.unit()
    return of.results


def test_longest_program_begins_once_it_is_built(folder: str) -> None:
    """It is left alone where the build failed, or did not come so far."""
    build = Path(folder)
    text = report(("first", "true"), ("second", "false"), status=1)
    program(build, ahead.PROGRAM, text)
    of = made(folder, {"one": report(("a", "true"))}, map=f"gate sanitizers:{ahead.PROGRAM} 1\n")
    for command, begins in (("false", False), ("true", True)):
        of.ahead = ahead.Ahead(build, build / "ahead.xml")
        of.asan_build = builder.Step("make", [*stages.IDLE_SESSION, *of.ahead.wrapper(), command], build / "logs" / "make.log", build)
        of.asan_build.process.wait()
        check(of.ahead.take(of.asan_build) == begins, command)
    of.end_ahead()
    check((of.results.passed, of.results.failed) == (1, ["sanitizers: second"]), (of.results.passed, of.results.failed))


def test_skips_by_reason(_) -> None:
    """A line for each reason, and each test counts."""
    results = stages.Results()
    for name, why in (("system: a.one", "no Slurm 26.05"), ("system: b.one", "not root"), ("system: a.two", "no Slurm 26.05")):
        results.add("skip", name, why)
    check(results.skips() == ["2 tests, the first system: a.one: no Slurm 26.05", "system: b.one: not root"], results.skips())
    check(results.summary() == "0 passed, 0 failed, 3 skipped", results.summary())


def test_one_program(folder) -> None:
    results = run(folder, unit_tests=report(("a", "true"), ("b", "true"), ("c", "false"), status=1))
    check((results.passed, results.failed) == (2, ["unit: c"]), results.passed, results.failed)


def test_several_programs(folder) -> None:
    results = run(folder, base=report(("a", "true")), topo=report(("b", "true"), ("c", "true")))
    check((results.passed, results.failed) == (3, []), results.passed, results.failed)
    logs = sorted(path.name for path in (Path(folder) / "logs").glob("*.xml"))
    check(logs == ["unit-base.xml", "unit-topo.xml"], logs)


def test_each_is_compiled_once_for_the_gate(folder) -> None:
    """With sanitizers or without, as the map has it; both ways for all, and what a pattern names."""
    programs = {name: report((f"{name} case", "true")) for name in ("base", "topo")}
    for words, plain, sanitized, built in (({}, ["unit/base"], ["unit/topo"], "unit/base other"),
                                           ({"all": True}, ["unit/base", "unit/topo"], ["unit/base", "unit/topo"], "unit/base unit/topo fuzz/one other"),
                                           ({"only": "unit:unit/topo"}, ["unit/topo"], [], "unit/topo other"),
                                           ({"only": "a duration"}, ["unit/base", "unit/topo"], [], "unit/base unit/topo other")):
        of = made(folder, programs, map=MAP, **words)
        check(of.programs("unit", of.build) == plain, words, of.programs("unit", of.build))
        check(of.programs("sanitizers", of.build) == sanitized, words, of.programs("sanitizers", of.build))
        check(of.check_programs() == f"check_PROGRAMS={built}", of.check_programs())
        of.unit()
        of.unit("sanitizers", of.build)
        check((of.results.passed, of.results.failed) == (len(plain + sanitized), []), of.results.passed, of.results.failed)
        check(set(of.results.seconds) == {*(f"unit:{name}" for name in plain), *(f"sanitizers:{name}" for name in sanitized)},
              of.results.seconds)


def test_a_program_that_does_not_end_well(folder) -> None:
    """It dies without a report, with half a report, or fails though its cases did not."""
    for text, why in (("kill -9 $$", "no full report"), ("shift 3; echo '<Catch><Group>' >\"$1\"", "no full report"),
                      (report(("a", "true"), status=3), "exit status 3 though no test case failed")):
        results = run(folder, base=report(("b", "true")), topo=text)
        check(len(results.failed) == 1 and results.failed[0].startswith("unit: topo: ") and why in results.failed[0],
              results.failed)
        check(results.summary().endswith(" passed, 1 failed"), results.summary())


def test_a_program_that_hangs(folder) -> None:
    """It is ended with what it started, and the log says what that was; the next one runs."""
    usual, stages.SECONDS["unit"] = stages.SECONDS["unit"], 1
    try:
        results = run(folder, base="sleep 987 & wait", topo=report(("a", "true")))
    finally:
        stages.SECONDS["unit"] = usual
    check((results.passed, len(results.failed)) == (1, 1), results.passed, results.failed)
    check("sleep 987" in (Path(folder) / "logs/unit-base.log").read_text(), "what hung is not told")


def test_a_script_that_hangs(folder) -> None:
    """As make check runs it."""
    deadline = Path(__file__).resolve().parents[1] / "deadline"
    done = subprocess.run([deadline, "1", "sh", "-c", "sleep 986; true"], capture_output=True, text=True, timeout=60, check=False)
    check(done.returncode == 124 and f"has not ended within {stages.speed.slowness():g} s" in done.stdout and "sleep 986" in done.stdout, done)
    for words, status in ((["true"], 0), (["false"], 1), (["sh", "-c", "exit 77"], 77), (["sh", "-c", "kill -9 $$"], 137)):
        check(subprocess.run([deadline, "60", *words], check=False).returncode == status, words)
    times = Path(folder) / "seconds"
    subprocess.run([deadline, "60", "true"], check=True, env={**os.environ, "RAILYARD_SECONDS": str(times)})
    check(times.read_text().split()[0] == "true" and float(times.read_text().split()[1]) >= 0, times.read_text())


sys.exit(tests(globals()))
