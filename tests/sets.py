"""tests/tests.map: the set of each test, its duration and the parts of the tree that it covers; and which tests have passed.

A test is STAGE:NAME. Stages: unit (a Catch2 program), sanitizers (the same under ASan and UBSan), check (a script of make check),
system, firstday, release. The head of the map explains its lines.
"""

import fnmatch
import subprocess
import time
from pathlib import Path
from typing import Iterable, NamedTuple, Optional

SOURCE = Path(__file__).resolve().parent.parent
MAP = Path(__file__).resolve().parent / "tests.map"
SETS = ("gate", "all")  # each includes the one before it
USUAL = 5.0  # seconds, for a test that is not in the map yet


class Refused(Exception):
    """An unreadable line of the map, or a revision unknown to git."""


class Entry(NamedTuple):
    name: str
    set: str
    seconds: float
    reason: str


def within(file: str, parts: Iterable[str]) -> bool:
    """Whether a file is one of the parts or below one; a part may be a pattern."""
    return any(file == part or file.startswith(part.rstrip("/") + "/") or fnmatch.fnmatchcase(file, part) for part in parts)


class Map:
    def __init__(self, path: Path = MAP):
        self.path = path
        self.entries: dict[str, Entry] = {}
        self.covers: list[tuple[str, list[str]]] = []
        self.budgets: dict[str, float] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                self._read(line.split(None, 3))
            except (ValueError, IndexError) as error:
                raise Refused(f"{path}:{number}: {error}: {line}") from None

    def _read(self, words: list[str]) -> None:
        if not words or words[0].startswith("#"):
            return
        if words[0] == "budget":
            self.budgets[words[1]] = float(words[2])
        elif words[0] == "covers":
            self.covers.append((words[1], " ".join(words[2:]).split()))
        elif words[0] in SETS:
            if words[1] in self.entries:
                raise ValueError("this test has a line already")
            self.entries[words[1]] = Entry(words[1], words[0], float(words[2]), "".join(words[3:]))
        else:
            raise ValueError(f"neither budget, covers, {' nor '.join(SETS)}")

    def holds(self, chosen: str, test: str) -> bool:
        """Whether a test is in a set; one without a line is in the last set."""
        entry = self.entries.get(test)
        return SETS.index(entry.set if entry else SETS[-1]) <= SETS.index(chosen)

    def named(self, pattern: str) -> list[str]:
        return fnmatch.filter(self.entries, pattern)

    def seconds(self, test: str) -> float:
        entry = self.entries.get(test)
        return entry.seconds if entry else USUAL

    def parts(self, test: str) -> list[str]:
        """What a test covers: its own file and the parts in the lines that name it."""
        own = test.split(":", 1)[1]
        files = [f"tests/system/test_{own.split('.')[0]}.py"] if test.startswith("system:") else [own]
        return files + [part for pattern, parts in self.covers if fnmatch.fnmatchcase(test, pattern) for part in parts]

    def touched(self, files: Iterable[str]) -> set[str]:
        """The tests that a change of these files may affect. A file that no test covers, or that "gate" covers, affects the whole
        gate."""
        parts = {test: self.parts(test) for test in self.entries}
        everybodys = [part for name, several in self.covers if name == "gate" for part in several]
        found: set[str] = set()
        for file in files:
            mine = {test for test in self.entries if within(file, parts[test])}
            if not mine or within(file, everybodys):
                mine |= {test for test in self.entries if self.holds("gate", test)}
            found |= mine
        return found

    def learn(self, seconds: dict[str, float]) -> None:
        """Writes the durations of tests that differ from the map by at least a quarter and two seconds.

        The file is read again, as it may have changed since the tests began.
        """
        lines = self.path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            words = line.split(None, 3)
            if len(words) < 3 or words[0] not in SETS or words[1] not in seconds:
                continue
            took, said = seconds[words[1]], float(words[2])
            if abs(took - said) >= max(2.0, said / 4):
                lines[number] = " ".join([words[0], words[1], f"{took:.0f}", *words[3:]])
        self.path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


# --- what has passed at which commit ---

def _git(*words: str) -> Optional[str]:
    """What git prints; None if it fails: a release is not a checkout."""
    try:
        done = subprocess.run(["git", "-C", str(SOURCE), *words], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def commit() -> str:
    """The commit of the tree; empty if it has uncommitted changes, or is not a checkout."""
    if _git("status", "--porcelain") != "":
        return ""
    return (_git("rev-parse", "HEAD") or "").strip()


def changed_since(revision: str) -> Optional[list[str]]:
    """The files that differ from a revision, including untracked ones; None if git fails."""
    differing = _git("diff", "--name-only", revision, "--")
    untracked = _git("ls-files", "--others", "--exclude-standard")
    return None if differing is None or untracked is None else sorted({*differing.splitlines(), *untracked.splitlines()})


class Record:
    """At which commit each test last passed: lines NAME COMMIT SECONDS DATE in BUILD/tests-passed."""

    def __init__(self, build: Path):
        self.path = build / "tests-passed"
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        self.passed = {words[0]: words[1:] for words in map(str.split, text.splitlines()) if len(words) == 4}

    def add(self, test: str, at: str, seconds: float) -> None:
        """Appended at once, so that an interrupted run keeps its results."""
        self.passed[test] = [at, f"{seconds:.0f}", today()]
        with open(self.path, "a", encoding="utf-8") as file:
            print(test, *self.passed[test], file=file)

    def holding(self, known: Map) -> set[str]:
        """The tests whose covered files have not changed since they passed."""
        commits = {words[0] for words in self.passed.values()}
        changed = {at: changed_since(at) for at in commits}
        touched = {at: known.touched(changed[at] or ()) for at in commits}
        return {test for test, (at, *_) in self.passed.items() if changed[at] is not None and test not in touched[at]}


def today() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S")


def note_gate(build: Path, chosen: str, at: str, seconds: float) -> None:
    """Records that a whole set has passed at a commit: a line COMMIT SET SECONDS DATE in BUILD/gate-passed."""
    with open(build / "gate-passed", "a", encoding="utf-8") as file:
        print(at, chosen, f"{seconds:.0f}", today(), file=file)


# --- what a run takes ---

class Choice:
    """The tests of a run: those of a set, those matching a pattern, or those that a change may affect."""

    def __init__(self, known, args, holding=()):
        self.known, self.only, self.set = known, args.only, "all" if args.all else "gate"
        self.names = None  # all of the set
        self.left_out = set(holding)
        if args.only:
            self.names = {test for test in known.entries if args.only in test}
        elif args.changed is not None:
            files = changed_since(args.changed)
            if files is None:
                raise Refused(f"--changed: git does not know what has changed since {args.changed}")
            self.names = known.touched(files)
        # If no test has such a name, it may be a case in the unit programs.
        self.case = args.only if args.only and not self.names else ""

    def wants(self, test):
        if test in self.left_out:
            return False
        if self.case:
            return test.startswith("unit:")
        return self.known.holds(self.set, test) if self.names is None else test in self.names

    def any(self, stage):
        """Whether a stage has anything to do; a test that is not in the map belongs to --all."""
        return any(self.wants(test) for test in self.known.entries if test.startswith(f"{stage}:"))

    def whole(self):
        """The set that this covers completely, if any."""
        return None if self.names is not None or self.case else self.set
