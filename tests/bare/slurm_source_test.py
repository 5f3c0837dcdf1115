#!/usr/bin/env python3
"""build-aux/slurm-source against archives made up here: one place or another lacks a file, or has a wrong one.

Slurm's sources are a `configure` that makes a file; dpkg-query says which version is installed. The cache is the test's own.
"""

import itertools
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from archive import Archive, check, tarball, tests
from railcluster.process import Pid, wait_for
from railcluster.speed import slowness

SCRIPT = Path(__file__).resolve().parents[2] / "build-aux" / "slurm-source"
VERSION = "22.05.8-4+deb12u3"
ORIG, DEBIAN = "slurm-wlm_22.05.8.orig.tar.gz", f"slurm-wlm_{VERSION}.debian.tar.gz"
HEADER = "#define SLURM_VERSION_STRING \"22.05.8\"\n"
CONFIGURE = f"#!/bin/sh\nprintf '{HEADER.strip()}\\n' >config.h\n"
PATCH = "--- a/slurm.h\n+++ b/slurm.h\n@@ -1 +1 @@\n-plain\n+patched\n"
FILES = {ORIG: tarball({"slurm-22.05.8/configure": CONFIGURE, "slurm-22.05.8/slurm.h": "plain\n"}),
         DEBIAN: tarball({"debian/patches/series": "# a comment\nheaders\n", "debian/patches/headers": PATCH})}
LACKS_ORIG = {DEBIAN: FILES[DEBIAN]}
WRONG = {ORIG: FILES[ORIG][:-1] + b"!", DEBIAN: b"something else"}


class World:
    """A folder with archives, a cache and commands that say what a test wants."""

    def __init__(self, folder: str):
        self.root = Path(folder)
        self.cache = self.root / "cache"
        self.apt_sources = self.root / "apt.sources"
        self.bin = self.root / "bin"
        self.bin.mkdir()
        self.command("dpkg-query", f"echo '{VERSION}'")

    def command(self, name: str, text: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def archives(self, *places: dict, version: str = VERSION, files=None) -> list[Archive]:
        """One for each set of files that are there, in this order; a place without one has only an address."""
        made = []
        for number, there in enumerate(places):
            folder = self.root / f"archive{number}"
            shutil.rmtree(folder, ignore_errors=True)
            archive = Archive(folder, "bookworm")
            if there is not None:
                archive.list_source("another", "1", {"another_1.tar": b""}, {})
                archive.list_source("slurm-wlm", version, files or FILES, there)
                archive.write()
            made.append(archive)
        self.apt_sources.write_text("\n".join(archive.stanza("deb-src") for archive in made))
        return made

    def start(self, *words: str) -> subprocess.Popen:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache), "RAILYARD_APT_SOURCES": str(self.apt_sources),
                       "PATH": f"{self.bin}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        return subprocess.Popen([SCRIPT, *words], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, start_new_session=True)

    def run(self, *words: str):
        process = self.start(*words)
        out, error = process.communicate(timeout=60 * slowness())
        return process.returncode, out.strip(), error

    def forget(self) -> None:
        shutil.rmtree(self.cache, ignore_errors=True)

    def left(self) -> list[str]:
        """What stands in the cache beside the locks."""
        return sorted(path.name for path in (self.cache / "railyard").glob("*") if not path.name.endswith(".lock"))


def made(world: World, version: str, status: int, out: str, error: str) -> None:
    check(status == 0, "exit status", status, error)
    check(out == str(world.cache / "railyard" / f"slurm-{version}"), out)
    check((Path(out) / "build" / "config.h").read_text() == HEADER, "it is not configured")
    check((Path(out) / "slurm.h").read_text() == "patched\n", "Debian's patches are not in it")
    check(error == "", error)


def test_each_file_from_the_place_that_has_it(folder) -> None:
    """Security's list is first and its pool lacks the tarball; the main archive has it; a third has wrong ones."""
    world = World(folder)
    for order in itertools.permutations((LACKS_ORIG, FILES, WRONG)):
        world.archives(*order)
        made(world, VERSION, *world.run())
        check(world.left() == [f"slurm-{VERSION}"], world.left())
        world.forget()


def test_a_file_in_each(folder) -> None:
    """No place has all."""
    world = World(folder)
    world.archives({}, {ORIG: FILES[ORIG]}, LACKS_ORIG)
    made(world, VERSION, *world.run())


def test_another_version_has_the_same_tarball(folder) -> None:
    """Only the installed version's own files are in the main archive, the tarball stands beside a newer version."""
    world = World(folder)
    first, second = world.archives(LACKS_ORIG, {})
    newer = {ORIG: FILES[ORIG], "slurm-wlm_22.05.8-9.debian.tar.gz": b"of the newer"}
    second.list_source("slurm-wlm", "22.05.8-9", newer, newer)
    second.write()
    made(world, VERSION, *world.run())


def test_a_place_cannot_be_reached(folder) -> None:
    """A mirror that is away takes nothing from the others."""
    world = World(folder)
    for order in ((None, FILES), (FILES, None)):
        world.archives(*order)
        made(world, VERSION, *world.run())
        world.forget()


def test_nowhere(folder) -> None:
    """What no archive has is named, with what each place said; nothing is left that counts as a source."""
    world = World(folder)
    archives = world.archives(LACKS_ORIG, WRONG)
    status, out, error = world.run()
    check((status, out) == (1, ""), status, out)
    for part in (f"slurm-wlm {VERSION}: no archive has {ORIG}", "try again later or with another mirror",
                 f"file:{archives[0].folder}/pool/main/s/slurm-wlm/{ORIG}  File not found",
                 f"file:{archives[1].folder}/pool/main/s/slurm-wlm/{ORIG}  Hash Sum mismatch"):
        check(part in error, f"{part!r} is not in:", error)
    check(world.left() == [], world.left())
    world.archives(FILES)
    made(world, VERSION, *world.run())


def test_the_installed_version_is_in_no_list(folder) -> None:
    """A machine that was not brought up to date: which versions there are, and both ways out."""
    world = World(folder)
    world.archives(FILES, FILES, version="22.05.8-4+deb12u9")
    status, out, error = world.run()
    check((status, out) == (1, ""), status, out)
    check(error == f"slurm-source: slurm-wlm {VERSION} is in no list of sources, only: 22.05.8-4+deb12u9; bring Slurm up to date "
          f"(apt-get upgrade), or give configure a source of {VERSION} (--with-slurm-src)\n", error)


def test_no_list_at_all(folder) -> None:
    """Neither does a silent mirror pass for one without Slurm."""
    world = World(folder)
    world.archives(None, None)
    status, out, error = world.run("trixie")
    check((status, out) == (1, "") and "no list of Debian trixie's sources has slurm-wlm" in error, status, out, error)
    check(f"file:{world.root}/archive0" in error, "apt's own words are missing:", error)


def test_the_newest_of_another_release(folder) -> None:
    """A release that is not installed here: its newest version, and that one again later, whatever is newer by then."""
    world = World(folder)
    first, second = world.archives(FILES, FILES)
    newer, name = "22.05.8-10", "slurm-wlm_22.05.8-10.debian.tar.gz"
    second.list_source("slurm-wlm", newer, {ORIG: FILES[ORIG], name: FILES[DEBIAN]}, {name: FILES[DEBIAN]})
    second.write()
    made(world, newer, *world.run("trixie"))
    second.list_source("slurm-wlm", "22.05.9-1", FILES, FILES)
    second.write()
    made(world, newer, *world.run("trixie"))


def test_killed(folder) -> None:
    """A run that was killed leaves nothing that counts as complete, and the next one clears away what it left."""
    world = World(folder)
    slow = CONFIGURE + "echo half >half\nexec sleep 60\n"
    files = {**FILES, ORIG: tarball({"slurm-22.05.8/configure": slow, "slurm-22.05.8/slurm.h": "plain\n"})}
    for number, leftovers in ((signal.SIGKILL, 1), (signal.SIGTERM, 0)):
        world.archives(files, files=files)
        process = world.start()
        wait_for(lambda: list(world.cache.glob("railyard/fetch.*/source/build/half")), 30, "configure to run", every=0.02,
                 needs=Pid.of(process.pid))
        os.killpg(process.pid, number)
        out, error = process.communicate(timeout=30 * slowness())
        check(process.returncode != 0 and out == "", process.returncode, out, error)
        check(len(world.left()) == leftovers, world.left())
        world.archives(FILES)
        made(world, VERSION, *world.run())
        check(world.left() == [f"slurm-{VERSION}"], world.left())
        world.forget()


if not shutil.which("apt-get") or not Path("/usr/lib/apt/apt-helper").exists():
    print("this is no Debian: there is no apt")
    sys.exit(77)
sys.exit(tests(globals()))
