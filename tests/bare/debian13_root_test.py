#!/usr/bin/env python3
"""build-aux/debian13-root where an archive lacks a file that it lists; the archives are made up here, apt is real.

A root takes a minute and a network: the double of mmdebstrap below asks apt for the package from the sources it is
given, and makes the folder. What cannot be had at all is tried with mmdebstrap itself.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from archive import Archive, check, tests

SCRIPT = Path(__file__).resolve().parents[2] / "build-aux" / "debian13-root"
DEBS = {version: f"slurmctld_{version}_all.deb" for version in ("1", "2")}
DOUBLE = """\
for word; do root=$sources; sources=$word; done
mkdir -p "$root/lists/partial" "$root/cache/archives/partial"
set -e
cp "$sources" "$root/here.sources"
for step in update "install --download-only -y slurmctld"; do
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=/dev/null -o Dir::Etc::SourceList="$root/here.sources" \\
        -o Dir::State::Lists="$root/lists" -o Dir::State::status=/dev/null -o Dir::Cache="$root/cache" \\
        -o APT::Sandbox::User= $step || exit 25
done
cp "$sources" "$root/made-with"
"""


class World:
    def __init__(self, folder: str, double: bool = True):
        self.root = Path(folder)
        self.cache = self.root / "cache"
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for name, text in (("dpkg-query", "echo 24.11.5-4"), ("mmdebstrap", DOUBLE)):
            if double or name != "mmdebstrap":
                (self.bin / name).write_text(f"#!/bin/sh\n{text}\n")
                (self.bin / name).chmod(0o755)

    def archives(self, **suites) -> None:
        """A place for each suite, in this order: suite=(version that it lists, whether its pool has the file)."""
        stanzas = []
        for suite, (version, there) in suites.items():
            archive = Archive(self.root / suite, suite.replace("_", "-"))
            data = f"slurmctld {version}".encode()
            archive.list_package("slurmctld", version, data, "Essential: yes\n", {DEBS[version]: data} if there else {})
            archive.write(subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip())
            stanzas.append(archive.stanza("deb"))
        (self.root / "apt.sources").write_text("\n".join(stanzas))

    def run(self):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "PATH": f"{self.bin}:{os.environ['PATH']}",
                       "RAILYARD_APT_SOURCES": str(self.root / "apt.sources"), "LC_ALL": "C.UTF-8"}
        done = subprocess.run([SCRIPT], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout.strip(), done.stderr

    def made_from(self, *suites: str) -> None:
        """It is made, from these suites in this order, and the cache holds nothing else."""
        status, out, error = self.run()
        made = self.cache / "railyard" / "trixie-slurm-24.11.5-4"
        check((status, out) == (0, str(made)), status, out, error)
        lines = (made / "made-with").read_text().splitlines()
        found = [line.removeprefix("Suites: ") for line in lines if line.startswith("Suites: ")]
        check(found == list(suites), found)
        check(sorted(path.name for path in made.parent.iterdir()) == [made.name, "trixie.lock"], list(made.parent.iterdir()))


def test_all_is_there(folder) -> None:
    """The suites as the machine's own apt has them."""
    world = World(folder)
    world.archives(trixie_security=("2", True), trixie=("1", True))
    world.made_from("trixie-security", "trixie")


def test_another_suite_has_the_same_version(folder) -> None:
    """The first suite lacks the file: apt itself asks the second."""
    world = World(folder)
    world.archives(trixie_security=("1", False), trixie=("1", True))
    world.made_from("trixie-security", "trixie")


def test_missing_for_a_while(folder) -> None:
    """A mirror that is being changed: the second try finds the file."""
    world = World(folder)
    world.archives(trixie_security=("2", True), trixie=("1", True))
    deb = world.root / "trixie_security" / "pool" / "main" / "s" / "slurmctld" / DEBS["2"]
    deb.rename(f"{deb}.later")
    (world.bin / "mmdebstrap").write_text(f"#!/bin/sh\n(\n{DOUBLE})\nstatus=$?\nmv -f {deb}.later {deb} 2>/dev/null\nexit $status\n")
    world.made_from("trixie-security", "trixie")


def test_an_update_lacks_its_file(folder) -> None:
    """Only the newer version is missing: without its suite the older one is taken."""
    world = World(folder)
    world.archives(trixie_security=("2", False), trixie=("1", True))
    world.made_from("trixie")


def test_a_suite_without_lists(folder) -> None:
    """A suite that cannot be reached at all."""
    world = World(folder)
    world.archives(trixie_security=("2", True), trixie=("1", True))
    shutil.rmtree(world.root / "trixie_security")
    world.made_from("trixie")


def test_no_archive_has_it(folder) -> None:
    """mmdebstrap itself: the file, its package and what each place said; nothing counts as a root."""
    world = World(folder, double=False)
    world.archives(trixie_security=("2", False), trixie=("1", False))
    status, out, error = world.run()
    check((status, out) == (1, ""), status, out, error)
    for part in (f"no archive has {DEBS['1']} of package slurmctld, with other suites or without",
                 "try again later or with another mirror",
                 f"E: Failed to fetch file:{world.root}/trixie/pool/main/s/slurmctld/{DEBS['1']}  File not found",
                 f"E: Failed to fetch file:{world.root}/trixie_security/pool/main/s/slurmctld/{DEBS['2']}  File not found"):
        check(part in error, f"{part!r} is not in:", error)
    check([path.name for path in (world.cache / "railyard").iterdir()] == ["trixie.lock"], list(world.cache.rglob("*")))


def test_what_is_no_missing_file_is_not_tried_again(folder) -> None:
    """mmdebstrap's own words, at once."""
    world = World(folder)
    world.archives(trixie=("1", True))
    (world.bin / "mmdebstrap").write_text(f"#!/bin/sh\necho tried >>{folder}/tries\necho 'E: no room on the disk'\nexit 1\n")
    status, out, error = world.run()
    check((status, out) == (1, "") and "E: no room on the disk\n" in error, status, out, error)
    check((world.root / "tries").read_text() == "tried\n", "tries")


if os.geteuid() != 0 or not shutil.which("mmdebstrap"):
    print("only root can make a Debian root, with mmdebstrap")
    sys.exit(77)
sys.exit(tests(globals()))
