#!/usr/bin/env python3
"""The RPM packages: made of what stands in the build directory, installed, kept from being erased while slurm.conf names a
plugin, and erased, on a copy of this system. What they require is looked at, not installed. In the build directory, as root.
"""

import os
import re
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from scratch import check, main, new_files, run, tarball

SOURCE = Path(__file__).resolve().parent.parent.parent
NAMES = ("librailckpt0", "railyard-devel", "railyard-doc", "railyard-head", "railyard-login", "railyard-node")


def make(build, folder):
    run(SOURCE / "build-aux/make-rpms", tarball(build, folder), folder, "--define", "slurm 22.05.8", "--define", "debug_package %{nil}",
        "--define", "_binary_payload w1.gzdio",
        env={**os.environ, "RAIL_BUILT": str(build), "MAKEFLAGS": ""})


def inside(folder):
    rpms = {re.match(r"(.*)-[^-]*-[^-]*$", path.name).group(1): path for path in folder.glob("*.rpm")}
    check(tuple(sorted(rpms)) == NAMES, f"made: {sorted(rpms)}")
    check("slurm = 22.05.8" in run("rpm", "-qpR", rpms["railyard-login"]), "the release of Slurm is not required")
    before = new_files()
    run("rpm", "--initdb")
    run("rpm", "-i", "--nodeps", *rpms.values())
    check("rail" in run("railctl", "--help"), "railctl")
    Path("/tmp/ck").mkdir()
    run("/usr/bin/python3", "-B", "-c", "import railckpt; railckpt.open('/tmp/ck').close()", cwd="/")
    check("/etc/railyard/railyard.conf" in run("rpm", "-qc", "railyard-login"), "railyard.conf is no configuration file")
    check("/etc/railyard/health.conf" in run("rpm", "-qc", "railyard-node"), "health.conf is no configuration file")
    for program in ("restartd", "nodewatchd", "fabricwatchd"):
        run(program, "--check-config")

    conf = Path("/etc/slurm/slurm.conf")
    conf.parent.mkdir(exist_ok=True)
    for package, line in (("railyard-head", "JobSubmitPlugins=lua,rail"), ("railyard-login", "SelectType=select/rail")):
        conf.write_text(f"# {line}\n")
        run("rpm", "-e", "--nodeps", "--test", package)
        conf.write_text(f"{line}\n")
        text = run("rpm", "-e", "--nodeps", package, status=1)
        for words in ("cannot be removed", f"slurm.conf:{line}", "select/cons_tres"):
            check(words in text, f"{package}: no \"{words}\" in:\n{text}")
        run("rpm", "-q", package)
    conf.unlink()
    given = Path("/run/slurm/conf/slurm.conf") # by slurmctld, where a host has no file of its own
    given.parent.mkdir(parents=True)
    given.write_text("SelectType=select/rail\n")
    check(f"{given}:SelectType" in run("rpm", "-e", "--nodeps", "railyard-login", status=1), "a configless host is not looked at")
    given.unlink()
    conf.write_text("SelectType=select/cons_tres\n")
    run("rpm", "-e", "--nodeps", *rpms)
    left = [path for path in new_files() - before if "rail" in path]
    check(not left, f"left behind: {left}")


if __name__ == "__main__":
    sys.exit(main(__file__, "" if shutil.which("rpmbuild") else "rpmbuild is not installed (Debian: rpm)", make, inside))
