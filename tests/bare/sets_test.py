#!/usr/bin/env python3
"""tests/tests.map as it is read, what a change touches, what is learnt and what is kept of a run that was stopped."""

import argparse
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from archive import check, tests
import sets

MAP = """# a word before
budget system 10
covers gate configure.ac
covers system:restart.* src/restart etc/*.conf
covers unit:unit/topo src/topo

gate system:restart.power_off 35 a lost host
all system:restart.cable_cut 30
gate unit:unit/topo 4
all check:lint/text 3
"""


def known(folder: str, text: str = MAP) -> sets.Map:
    path = Path(folder) / "map"
    path.write_text(text)
    return sets.Map(path)


def choice(of: sets.Map, **words) -> sets.Choice:
    return sets.Choice(of, argparse.Namespace(**{"all": False, "changed": None, "only": "", **words}), words.pop("holding", ()))


def test_sets(folder) -> None:
    """The gate is part of all; what has no line is in all alone."""
    of = known(folder)
    check(of.entries["system:restart.power_off"] == ("system:restart.power_off", "gate", 35.0, "a lost host"), of.entries)
    gate, every = choice(of), choice(of, all=True)
    check([test for test in of.entries if gate.wants(test)] == ["system:restart.power_off", "unit:unit/topo"], "gate")
    check(all(every.wants(test) for test in (*of.entries, "system:restart.new")) and not gate.wants("system:restart.new"), "all")
    check(gate.any("system") and not gate.any("check") and every.any("check"), "stages")
    check((gate.whole(), every.whole(), choice(of, only="restart").whole()) == ("gate", "all", None), "whole")


def test_only(folder) -> None:
    """What a pattern names, of whichever set; what names none is a case of the unit programs."""
    of = known(folder)
    named, case = choice(of, only="cable_cut"), choice(of, only="a duration")
    check([test for test in of.entries if named.wants(test)] == ["system:restart.cable_cut"] and not named.case, "named")
    check([test for test in of.entries if case.wants(test)] == ["unit:unit/topo"] and case.case == "a duration", "a case")


def test_a_line_that_cannot_be_read(folder) -> None:
    for line in ("gat unit:unit/topo 4", "gate unit:unit/sched four", "gate unit:unit/sched", "all unit:unit/topo 4", "budget system"):
        try:
            known(folder, f"{MAP}{line}\n")
        except sets.Refused as error:
            check(str(error).startswith(f"{folder}/map:11: ") and line in str(error), error)
        else:
            check(False, f"taken: {line}")


def test_what_a_change_touches(folder) -> None:
    """Its tests; the gate where no test covers it, or everything depends on it."""
    of = known(folder)
    restart, gate = {"system:restart.power_off", "system:restart.cable_cut"}, {"system:restart.power_off", "unit:unit/topo"}
    for files, touched in ((["src/restart/core/step.cpp"], restart), (["etc/health.conf"], restart), (["src/topo/fabric.hpp"], {"unit:unit/topo"}),
                           (["lint/text"], {"check:lint/text"}), (["tests/system/test_restart.py"], restart), (["src/topology.hpp"], gate),
                           (["configure.ac"], gate), ([], set()), (["lint/text", "configure.ac"], gate | {"check:lint/text"})):
        check(of.touched(files) == touched, files, of.touched(files))


def test_what_is_learnt(folder) -> None:
    """A time that differs by a quarter is written; the rest of the file stays as it is."""
    of = known(folder)
    known(folder, f"{MAP}all unit:unit/new 5\n")  # written by somebody else
    of.learn({"system:restart.power_off": 61.4, "system:restart.cable_cut": 31, "unit:unit/topo": 5.5, "check:nowhere": 9})
    check(of.path.read_text() == MAP.replace("power_off 35 a", "power_off 61 a") + "all unit:unit/new 5\n", of.path.read_text())


def git(folder: str, *words: str) -> str:
    command = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_what_has_passed(folder) -> None:
    """It holds until a file changes that the test covers; with changes beside the commit nothing is kept."""
    usual, sets.SOURCE = sets.SOURCE, Path(folder) / "tree"
    try:
        tree = str(sets.SOURCE)
        for name in ("src/topo/a", "src/restart/a", "build/x"):
            (sets.SOURCE / name).parent.mkdir(parents=True)
            (sets.SOURCE / name).write_text("1\n")
        (sets.SOURCE / ".gitignore").write_text("build\n")
        check(sets.commit() == "" and sets.changed_since("HEAD") is None, "no checkout")
        git(tree, "init", "-q")
        check(sets.commit() == "", "changes beside no commit")
        git(tree, "add", "-A")
        git(tree, "commit", "-qm", "one")
        at = sets.commit()
        check(at == git(tree, "rev-parse", "HEAD"), at)
        of, build = known(folder), sets.SOURCE / "build"
        for test in ("unit:unit/topo", "system:restart.cable_cut"):
            sets.Record(build).add(test, at, 3.4)
        sets.Record(build).add("check:lint/text", "0" * 40, 3)  # of a commit that is no more
        check(sets.Record(build).holding(of) == {"unit:unit/topo", "system:restart.cable_cut"}, "nothing has changed")
        (sets.SOURCE / "src/topo/b").touch()
        check(sets.commit() == "" and sets.changed_since(at) == ["src/topo/b"], sets.changed_since(at))
        check(sets.Record(build).holding(of) == {"system:restart.cable_cut"}, "an untracked file of topo")
        (sets.SOURCE / "src/topo/b").unlink()
        (sets.SOURCE / "src/restart/a").write_text("2\n")
        git(tree, "commit", "-qam", "two")
        check(sets.Record(build).holding(of) == {"unit:unit/topo"}, "another commit")
        sets.note_gate(build, "gate", sets.commit(), 61.7)
        words = (build / "gate-passed").read_text().split()
        check(words[:3] == [sets.commit(), "gate", "62"] and len(words) == 4, words)
    finally:
        sets.SOURCE = usual


sys.exit(tests(globals()))
