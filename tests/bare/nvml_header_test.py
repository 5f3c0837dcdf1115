#!/usr/bin/env python3
"""build-aux/nvml-header against archives made up here, with a real package and apt: what it keeps, and what it says where
an archive lacks the package."""

import os
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from archive import Archive, check, tests

SCRIPT = Path(__file__).resolve().parents[2] / "build-aux" / "nvml-header"
HEADER = "#define NVML_API_VERSION 12\n"


class World:
    def __init__(self, folder: str):
        self.root = Path(folder)
        self.cache = self.root / "cache"

    def archive(self, version: str, there: bool = True, file: str = "usr/include/nvml.h") -> None:
        """An archive with that version of the package, whose pool has it or not."""
        tree = self.root / f"tree-{version}"
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(f"Package: libnvidia-ml-dev\nVersion: {version}\nArchitecture: all\n"
                                             "Maintainer: nobody <nobody@localhost>\nDescription: made up\n")
        (tree / file).parent.mkdir(parents=True)
        (tree / file).write_text(HEADER)
        deb = self.root / "made.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", "-b", tree, deb], check=True, stdout=subprocess.DEVNULL)
        data = deb.read_bytes()
        archive = Archive(self.root / f"archive-{version}", "trixie")
        archive.list_package("libnvidia-ml-dev", version, data, "", {f"libnvidia-ml-dev_{version}_all.deb": data} if there else {})
        archive.write(subprocess.check_output(["dpkg", "--print-architecture"], text=True).strip())
        (self.root / "apt.sources").write_text(archive.stanza("deb"))

    def run(self, *arguments: str):
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "LC_ALL": "C.UTF-8",
                       "RAILYARD_APT_SOURCES": str(self.root / "apt.sources")}
        done = subprocess.run([SCRIPT, *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def kept(self):
        return sorted(path.name for path in (self.cache / "railyard").glob("*") if path.name != "nvml.lock")

    def fails(self, *told: str) -> None:
        status, said, error = self.run("trixie")
        check(status == 1 and not said, said, error)
        check(all(part in error.splitlines()[-1] for part in ("nvml-header: ", *told)), error)
        check(self.kept() == [], self.kept())


def test_it_is_fetched_once(folder):
    world = World(folder)
    world.archive("12.4-1")
    status, said, error = world.run("--cached", "trixie")
    check(status == 1 and not said and error.endswith("run build-aux/nvml-header trixie"), error)
    want = world.cache / "railyard/nvml-12.4-1/usr/include"
    check(world.run("trixie") == (0, str(want), ""), world.run("trixie"))
    check((want / "nvml.h").read_text() == HEADER)
    check(world.kept() == ["nvml-12.4-1", "trixie.nvml"], world.kept())
    (world.root / "apt.sources").unlink()
    for arguments in (["trixie"], ["--cached", "trixie"]):
        check(world.run(*arguments) == (0, str(want), ""), arguments)


def test_an_archive_that_lacks_the_file(folder):
    world = World(folder)
    world.archive("12.4-1", there=False)
    world.fails("libnvidia-ml-dev cannot be had")


def test_no_archive(folder):
    world = World(folder)
    (world.root / "apt.sources").write_text(f"Types: deb\nURIs: file:{folder}/nowhere\nSuites: trixie\nComponents: non-free\n")
    world.fails("trixie", "libnvidia-ml-dev cannot be had")


def test_a_package_without_the_header(folder):
    world = World(folder)
    world.archive("12.4-1", file="usr/share/nvml.h")
    world.fails("12.4-1 has no usr/include/nvml.h")


def test_words_that_are_none(folder):
    check(World(folder).run()[0] == 2)


if __name__ == "__main__":
    sys.exit(tests(globals()))
