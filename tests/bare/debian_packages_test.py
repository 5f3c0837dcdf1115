#!/usr/bin/env python3
"""build-aux/debian-packages starts nothing, now or at the next boot: the real script over a system of this test's own.

In a mount namespace with its own /etc/systemd/system and /usr/sbin; doubles of dpkg-query (nothing is installed) and
apt-get, which enables units as Debian's packages do.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from archive import check, tests

SCRIPT = Path(__file__).resolve().parents[2] / "build-aux" / "debian-packages"
APT = """\
echo "$@" >>"$WORLD/calls"
case $* in *" install "*) ;; *) exit 0 ;; esac
[ -x /usr/sbin/policy-rc.d ] && /usr/sbin/policy-rc.d; echo "policy $?" >>"$WORLD/calls"
mkdir -p /etc/systemd/system/network-online.target.wants
ln -s /lib/systemd/system/opensm.service /etc/systemd/system/network-online.target.wants/opensm.service
ln -s /lib/systemd/system/slurmctld.service /etc/systemd/system/multi-user.target.wants/slurmctld.service
exit "${APT_FAILS:-0}"
"""
INSIDE = """\
mount --bind "$WORLD/units" /etc/systemd/system &&
mount -t overlay overlay -o "lowerdir=/usr/sbin,upperdir=$WORLD/upper,workdir=$WORLD/work" /usr/sbin &&
exec "$@"
"""


class World:
    def __init__(self, folder: str):
        self.root = Path(folder)
        for name in ("units/multi-user.target.wants", "upper", "work", "bin"):
            (self.root / name).mkdir(parents=True)
        (self.root / "units/multi-user.target.wants/munge.service").symlink_to("/lib/systemd/system/munge.service")
        for name, text in (("dpkg-query", "exit 1"), ("apt-get", APT)):
            (self.root / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
            (self.root / "bin" / name).chmod(0o755)

    def run(self, *words, **more):
        environment = {**os.environ, **more, "WORLD": str(self.root), "PATH": f"{self.root}/bin:{os.environ['PATH']}"}
        return subprocess.run(["unshare", "-m", "sh", "-c", INSIDE, "sh", SCRIPT, *words], env=environment, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)

    def enabled(self):
        return sorted(path.name for path in (self.root / "units").glob("*/*.service"))

    def calls(self):
        return (self.root / "calls").read_text()


def test_what_is_installed_is_not_enabled(folder):
    world = World(folder)
    done = world.run("install")
    check(done.returncode == 0, done.stderr)
    check(world.enabled() == ["munge.service"], f"enabled: {world.enabled()}")
    check("opensm.service is installed, and not enabled" in done.stdout, done.stdout)
    check("policy 101" in world.calls(), f"services could start: {world.calls()}")
    check(not (world.root / "upper/policy-rc.d").exists(), "policy-rc.d stayed behind")


def test_nor_when_the_installation_fails(folder):
    world = World(folder)
    done = world.run("install", APT_FAILS="100")
    check(done.returncode == 100, f"status {done.returncode}")
    check(world.enabled() == ["munge.service"], f"enabled: {world.enabled()}")
    check(not (world.root / "upper/policy-rc.d").exists(), "policy-rc.d stayed behind")


def test_building_needs_no_daemon(folder):
    world = World(folder)
    done = world.run("build", "install")
    check(done.returncode == 0, done.stderr)
    asked = [line for line in world.calls().splitlines() if " install " in line][0].split()
    check("libslurm-dev" in asked, f"asked for {asked}")
    for daemon in ("opensm", "slurmctld", "slurmd", "munge", "prometheus-node-exporter", "catch2"):
        check(daemon not in asked, f"{daemon} is asked for")


def test_other_words_are_an_error(folder):
    world = World(folder)
    done = world.run("remove")
    check(done.returncode == 2 and "usage:" in done.stderr, f"{done.returncode}: {done.stderr}")


def main():
    if os.geteuid() != 0:
        print("needs root: a mount namespace of its own")
        return 77
    probe = tempfile.mkdtemp()
    try:
        if World(probe).run("print").returncode != 0:
            print("no mount namespace with an overlay here")
            return 77
    finally:
        shutil.rmtree(probe)
    return tests(globals())


if __name__ == "__main__":
    sys.exit(main())
