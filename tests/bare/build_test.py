#!/usr/bin/env python3
"""A build directory is configured by what is there, and anew when that changes: Slurm's sources, ccache, the compiler.

The source tree is made up: its `configure` writes down how it was called, its slurm-source prints what the test wants.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from archive import check, tests
from railcluster import build as builder
from railcluster import testing

CONFIGURE = """\
echo "$@" >>calls
{
    for word; do
        case $word in
        --with-slurm-src=*) echo 'S["SLURM_SRC_TRUE"]=""'; echo 'S["SLURM_SRC_SELECT_TRUE"]=""' ;;
        --with-second-slurm-src=*) echo 'S["SECOND_SLURM_SRC_TRUE"]=""'; echo 'S["SECOND_SLURM_SRC_TOPOLOGY_TRUE"]=""' ;;
        esac
    done
} >config.status
[ ! -e ../fails ] || { echo "configure: error: as the test wants"; exit 1; }
printf 'clean:\\n\\techo cleaned >>calls\\n' >Makefile
"""
SLURM_SOURCE = """\
cd "$(dirname "$0")/.."
cat "source${1+-$1}" 2>/dev/null && exit
echo "slurm-source: no archive has it" >&2
exit 1
"""


class World:
    """A source tree, a build directory in it, and a PATH with the compilers a test wants."""

    def __init__(self, folder: str):
        self.root = Path(folder)
        self.build = self.root / "build"
        self.said = []
        builder.SOURCE = self.root
        for name, text in (("configure", CONFIGURE), ("build-aux/slurm-source", SLURM_SOURCE)):
            self.program(name, text)
        for name in ("configure.ac", "Makefile.in"):
            (self.root / name).touch()
        os.utime(self.root / "configure.ac", (0, 0))
        self.compiler("12.2.0")
        os.environ["PATH"] = f"{self.root}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self.ccache(False)

    def program(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{text}")
        path.chmod(0o755)

    def compiler(self, version: str) -> None:
        for name in ("gcc", "g++"):
            self.program(f"bin/{name}", f"echo '{name} {version}'\n")

    def ccache(self, there: bool) -> None:
        builder.shutil.which = lambda name: f"/usr/bin/{name}" if there else None
        if there:
            self.program("bin/ccache", 'exec "$@"\n')

    def source(self, version: str, release: str = "") -> None:
        """Slurm's source of a release, from now on; an empty version: it is not to be had."""
        path = self.root / f"source{release and '-' + release}"
        folder = self.root / f"slurm-{version}"
        if version:
            folder.mkdir(exist_ok=True)
            path.write_text(f"{folder}\n")
        else:
            path.unlink(missing_ok=True)

    def configure(self, *releases: str, options=("--enable-werror",)) -> list[str]:
        """Configures for these releases and returns the calls since the last time, shortened."""
        calls = self.build / "calls"
        calls.unlink(missing_ok=True)
        builder.configure(self.build, list(options), self.said.append, ("", *releases))
        text = calls.read_text() if calls.exists() else ""
        return text.replace(f"{self.root}/", "").replace("--with-", "").replace("-slurm-src", "").splitlines()

    def fails(self, *releases: str) -> str:
        try:
            self.configure(*releases)
        except builder.Failed as error:
            return str(error)
        raise AssertionError("it went on")


def equal(got, wanted) -> None:
    check(got == wanted, f"got {got}", f"wanted {wanted}")


PLAIN = "--enable-werror --enable-precompiled --enable-unity CC=gcc CXX=g++"


def test_once(folder) -> None:
    """What has not changed is not done again; one release more is."""
    world = World(folder)
    world.source("22")
    world.source("24", "trixie")
    equal(world.configure(), [f"{PLAIN} slurm-src=slurm-22"])
    equal(world.configure(), [])
    equal(world.configure("trixie"), [f"{PLAIN} slurm-src=slurm-22 second=slurm-24"])
    equal(world.configure("trixie"), [])
    equal(world.configure(), [])  # the release more does no harm


def test_newer_slurms(folder) -> None:
    """Sources that are configured and at hand are used, of each release the newest; others are named, and a wrong one stops."""
    world = World(folder)
    world.source("22")
    world.source("24", "trixie")
    cache = world.root / "cache" / "railyard"
    for release, below in (("25.05.8", ""), ("25.11.5", "build"), ("25.11.7", "build"), ("24.11.5", "build"), ("22.05.8", "")):
        (cache / f"slurm-{release}" / below).mkdir(parents=True)
        (cache / f"slurm-{release}" / below / "config.h").write_text(f'#define SLURM_VERSION_STRING "{release}"\n')
    (cache / "slurm-26.05.3").mkdir()  # never configured
    os.environ["XDG_CACHE_HOME"] = str(world.root / "cache")
    os.environ.pop("RAILYARD_SLURM_SOURCES", None)
    said = []
    more = builder.more_sources(said.append)
    equal(more, [f"--with-more-slurm-src={cache}/slurm-25.05.8:{cache}/slurm-25.11.7"])
    check(len(said) == 1 and said[0].startswith("no plugins for Slurm 26.05: "), said)
    builder.configure(world.build, ["--enable-werror"], world.said.append, ("", "trixie"), more)
    check(f"more-slurm-src={cache}/slurm-25.05.8:" in (world.build / "calls").read_text(), "not given to configure")
    equal(world.configure("trixie"), [])  # releases more do no harm

    os.environ["RAILYARD_SLURM_SOURCES"] = f"{cache}/slurm-25.11.5"
    try:
        equal(builder.more_sources(said.append), [f"--with-more-slurm-src={cache}/slurm-25.11.5"])
        os.environ["RAILYARD_SLURM_SOURCES"] = f"{cache}/slurm-26.05.3"
        try:
            builder.more_sources(said.append)
        except builder.Failed as error:
            check("slurm-26.05.3 is no configured source" in str(error), error)
        else:
            raise AssertionError("it took what is not configured")
    finally:
        del os.environ["RAILYARD_SLURM_SOURCES"]


def test_no_source_stops(folder) -> None:
    """What the main job needs and cannot be made stops, with what is missing and the way out; later it is there."""
    world = World(folder)
    world.source("24", "trixie")
    for releases in ((), ("trixie",)):
        told = world.fails(*releases)
        for part in ("slurm-source: no archive has it", "--restart=auto", "would be honoured by nobody", "run this again",
                     f"{folder}/configure --with-slurm-src=DIR"):
            check(part in told, f"{part!r} is not in:", told)
    check(not (world.build / "Makefile").exists(), "it was configured all the same")
    world.source("22")
    equal(world.configure(), [f"{PLAIN} slurm-src=slurm-22"])


def test_the_source_goes_away(folder) -> None:
    """Neither does a directory that was configured with it go on."""
    world = World(folder)
    world.source("22")
    world.configure()
    world.source("")
    check("would be honoured by nobody" in world.fails(), "sentence")


def test_the_second_source_comes_and_goes(folder) -> None:
    """Its plugins are left out with the reason, made when it can be had, and not tried when it is gone again."""
    world = World(folder)
    world.source("22")
    first = f"{PLAIN} slurm-src=slurm-22"

    def skipped() -> str:
        try:
            testing.need(world.build, ["second/.libs/topology_rail.so"])
        except testing.Skip as reason:
            return str(reason)
        except AssertionError as error:
            return f"failed: {error}"
        return ""
    equal(world.configure("trixie"), [first])
    equal(skipped(), "slurm-source: no archive has it")
    equal(world.configure("trixie"), [])
    world.source("24", "trixie")
    equal(world.configure("trixie"), [f"{first} second=slurm-24"])
    equal(skipped(), "failed: not built: second/.libs/topology_rail.so: make all")
    plugin = world.build / "second" / ".libs" / "topology_rail.so"
    plugin.parent.mkdir(parents=True)
    plugin.touch()
    equal(skipped(), "")
    world.source("", "trixie")
    (world.root / "slurm-24").rmdir()
    equal(world.configure("trixie"), [first])
    equal(skipped(), "slurm-source: no archive has it")  # what was built before is of another time


def test_another_version(folder) -> None:
    """Slurm was brought up to date: configured anew, and nothing compiled with the old headers stays."""
    world = World(folder)
    world.source("22")
    world.configure()
    world.source("22.1")
    equal(world.configure(), [f"{PLAIN} slurm-src=slurm-22.1", "cleaned"])
    equal(world.configure(), [])


def test_tools(folder) -> None:
    """ccache is used while it is there; objects of another compiler do not stay."""
    world = World(folder)
    world.source("22")
    world.configure()
    world.ccache(True)
    equal(world.configure(), ["--enable-werror --enable-precompiled --enable-unity CC=ccache gcc CXX=ccache g++ slurm-src=slurm-22"])
    world.ccache(False)
    equal(world.configure(), [f"{PLAIN} slurm-src=slurm-22"])
    world.compiler("13.1.0")
    equal(world.configure(), [f"{PLAIN} slurm-src=slurm-22", "cleaned"])
    os.environ["CXX"] = "g++ -m64"
    try:
        equal(world.configure(), ["--enable-werror --enable-precompiled --enable-unity CC=gcc CXX=g++ -m64 slurm-src=slurm-22"])
    finally:
        del os.environ["CXX"]


def test_what_is_remembered(folder) -> None:
    """Another copy of the tree has the same object, unless a header is another or those of the system are."""
    if not all(os.access(f"/usr/bin/{name}", os.X_OK) for name in ("ccache", "g++", "dpkg-query")):
        return
    usual = builder.SOURCE
    environment = {**os.environ, "PATH": "/usr/bin:/bin", "CCACHE_DIR": f"{folder}/cache", "CCACHE_CONFIGPATH": f"{folder}/none"}

    def hits(tree: str, header: str, installed: str = "") -> int:
        builder.SOURCE = Path(folder) / tree
        build = builder.SOURCE / "build"
        build.mkdir(parents=True, exist_ok=True)
        (builder.SOURCE / "a.hpp").write_text(header)
        (builder.SOURCE / "a.cpp").write_text('#include "a.hpp"\nint a() { return number; }\n')
        settings = builder.remembering(build)
        if installed:
            (build / "installed-headers").write_text(installed)
        subprocess.run(["ccache", "--zero-stats"], env=environment, check=True, capture_output=True)
        subprocess.run(["ccache", "g++", "-g1", f"-I{builder.SOURCE}", "-MD", "-MF", "a.d", "-c", "-o", "a.o", f"{builder.SOURCE}/a.cpp"],
                       cwd=build, env={**environment, **settings}, check=True)
        told = subprocess.run(["ccache", "--print-stats"], env=environment, check=True, capture_output=True, text=True).stdout
        return int(dict(line.split("\t") for line in told.splitlines())["direct_cache_hit"])
    try:
        first = "constexpr int number = 1;\n"
        equal([hits("one", first), hits("two", first), hits("three", first + "\n"), hits("three", first), hits("two", first, "other 1\n")],
              [0, 1, 0, 1, 0])
    finally:
        builder.SOURCE = usual


def test_sanitizing_compilers(_folder) -> None:
    """clang where it is installed, unless others are named; its headers are precompiled, too."""
    found = shutil.which
    try:
        for there, names, chosen in ((True, {}, ["CC=clang", "CXX=clang++"]), (False, {}, ["CC=gcc", "CXX=g++"]),
                                     (True, {"CC": "gcc-12", "CXX": "g++-12"}, ["CC=gcc-12", "CXX=g++-12"])):
            shutil.which = lambda name: "/usr/bin/clang++" if name == "clang++" and there else None
            os.environ.update(names)
            equal(builder.sanitizing_compilers(), chosen)
            equal(builder.from_nothing(chosen), ["--enable-precompiled", "--enable-unity"])
    finally:
        shutil.which = found
        for name in ("CC", "CXX"):
            os.environ.pop(name, None)


def test_options(folder) -> None:
    """Another option is another configuration, also one that only begins alike."""
    world = World(folder)
    world.source("22")
    world.configure()
    equal(world.configure(options=("--enable-werror", "--enable-sanitizer=address")),
          ["--enable-werror --enable-sanitizer=address --enable-precompiled --enable-unity CC=gcc CXX=g++ slurm-src=slurm-22"])


def test_cut_off(folder) -> None:
    """A configure that failed or was killed does not count, nor does its directory as configured by hand."""
    world = World(folder)
    world.source("22")
    world.configure()
    world.source("22.1")
    (world.root / "fails").touch()
    for _ in range(2):
        check("as the test wants" in world.fails(), "configure's own words")
    (world.root / "fails").unlink()
    equal(world.configure(), [f"{PLAIN} slurm-src=slurm-22.1", "cleaned"])


def test_stopped(folder) -> None:
    """What was being compiled is made again, libtool's objects too; what was finished before is not."""
    world = World(folder)
    (world.build / ".libs").mkdir(parents=True)
    step = builder.Step("make", ["sleep", "60"], world.root / "log", world.build)
    for name in ("cut.lo", ".libs/cut.o", "plain.o", "whole.lo", ".libs/whole.o"):
        (world.build / name).touch()
    for name in ("whole.lo", ".libs/whole.o"):
        os.utime(world.build / name, (0, 0))
    step.stop()
    equal(sorted(path.name for path in world.build.rglob("*.*o")), ["whole.lo", "whole.o"])


def test_by_hand(folder) -> None:
    """A directory that was configured by hand is left alone, but must be of use."""
    world = World(folder)
    world.source("22")
    world.build.mkdir()
    (world.build / "Makefile").touch()
    told = world.fails()
    check("by hand without --with-slurm-src" in told and "build-aux/slurm-source" in told, told)
    (world.build / "config.status").write_text('S["SLURM_SRC_TRUE"]=""\n')
    equal(world.configure("trixie"), [])
    check(not (world.build / "configured.json").exists(), "it was made ours")
    try:
        testing.need(world.build, ["second/.libs/topology_rail.so"])
    except testing.Skip as reason:
        equal(str(reason), "the build is configured without --with-second-slurm-src")


sys.exit(tests(globals()))
