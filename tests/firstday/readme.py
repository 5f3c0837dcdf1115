"""The commands of README's section "On your own cluster", in their order, with where each is to be run.

A command stands in a line indented by four. Those before the first numbered paragraph that names a place for each of its
lines are for the build machine; each other line ends with `# WHERE`.
"""

import re
from pathlib import Path
from typing import NamedTuple

SECTION = "On your own cluster"
HEAD, EACH_OTHER, EACH_LOGIN, EVERY, COMPUTE = PLACES = ("head", "head, for each other HOST", "head, for each login HOST",
                                                         "every host", "compute nodes")


class Command(NamedTuple):
    number: int  # counted from 1
    part: int    # the number in front of its paragraph; 0 before the first
    text: str
    place: str   # one of PLACES


class Wrong(Exception):
    """README does not say what this test can follow."""


class Section:
    """`building` are the build machine's commands, `parts` what each part is about, `commands` those of the hosts."""

    def __init__(self, readme: Path):
        self.readme = readme
        self.building: list[str] = []
        self.parts = {0: "packages"}
        self.commands: list[Command] = []
        part, on_hosts = 0, False
        for line in self._lines():
            if match := re.match(r"(\d+)\. ([^.,:]*)", line):
                part = int(match[1])
                self.parts[part] = match[2].lower()
            on_hosts = on_hosts or "behind # is where to run it" in line
            if line.startswith("    ") and on_hosts:
                self._add(part, line.strip())
            elif line.startswith("    "):
                self.building.append(re.sub(r" +# .*", "", line.strip()))
        if not self.building or sorted({command.part for command in self.commands}) != sorted(self.parts):
            raise Wrong(f"{readme}, \"{SECTION}\": there are no commands for one of: the build machine, {', '.join(self.parts.values())}")

    def _lines(self) -> list[str]:
        lines = self.readme.read_text().splitlines()
        if SECTION not in lines:
            raise Wrong(f"{self.readme} has no section \"{SECTION}\"")
        begin = lines.index(SECTION) + 2
        end = next(at for at in range(begin, len(lines)) if re.fullmatch(r"-+", lines[at]))
        return lines[begin:end - 1]

    def _add(self, part: int, line: str) -> None:
        text, _, place = line.rpartition(" # ")
        if place not in PLACES:
            raise Wrong(f"{self.readme} does not say where to run this ({'; '.join(PLACES)}): {line}")
        self.commands.append(Command(len(self.commands) + 1, part, text.strip(), place))
