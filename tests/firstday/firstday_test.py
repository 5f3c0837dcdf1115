#!/usr/bin/env python3
"""A site's first day: README's section "On your own cluster" word for word, on hosts with a real systemd.

Usage: firstday_test.py [--slurm 22.05|24.11] [--build DIR] [--packages DIR] [--leave-out N]

From stock Slurm to acting and back to stock, with a job running all the time; prints the minutes of each step. The
commands come out of README itself: --leave-out forgets the Nth, and then this fails. Exit status 77: not permitted here,
the last line says why.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "system"), str(HERE.parent / "packages")]

from cluster import Site  # noqa: E402
from hosts import lacking  # noqa: E402
from railcluster.hosts import NotPermitted  # noqa: E402
from railcluster.process import Timeout, leave_on_sigterm  # noqa: E402
from railcluster.testing import Skip, need  # noqa: E402
from railcluster.userland import debian13  # noqa: E402
from readme import Section, Wrong  # noqa: E402
import repack  # noqa: E402
import scratch  # noqa: E402
from walk import Failed, Walk  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--slurm", choices=("22.05", "24.11"), default="22.05", help="this machine's, or that of Debian 13")
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build")
    parser.add_argument("--packages", type=Path, help="made before, instead of those packed here")
    parser.add_argument("--leave-out", type=int, default=0, metavar="N")
    return parser.parse_args()


def say(text: str) -> None:
    print(text, flush=True)


def root_of(args) -> Path:
    """The Debian below the hosts. Skip where there is none."""
    if args.slurm == "22.05":
        return Path("/")
    need(args.build.resolve(), ["second/.libs/topology_rail.so", "second/restartd"])
    return debian13().root


def packages(args, root: Path, folder: Path) -> None:
    """Brings those for the Slurm of that Debian into this folder, and into its folder newer what could come after them."""
    with tempfile.TemporaryDirectory(prefix="rail-", dir="/var/tmp") as scratched:
        packed = args.packages or Path(scratched)
        if not args.packages:
            scratch.packed(args.build.resolve(), packed)
        ours = [path for path in packed.glob("*.deb") if path.name.startswith(("railyard-head_", "railyard-node_", "railyard-login_"))]
        if args.slurm == "22.05":
            for package in ours:
                shutil.copy(package, folder)
        else:
            release = scratch.run("dpkg-query", f"--root={root}", "-W", "-f", "${source:Upstream-Version}", "slurmctld")
            repack.for_second_release(ours, args.build.resolve(), release, folder)
    (folder / "newer").mkdir()
    repack.as_version(list(folder.glob("*.deb")), "99", folder / "newer")


def go(args) -> None:
    root = root_of(args)
    with Site(args.build.resolve(), root) as site:
        section = Section(HERE.parents[1] / "README")
        packages(args, root, site.home / "packages")
        try:
            begin = time.monotonic()
            site.boot()
            say(f"a site with stock Slurm {site.release}: {(time.monotonic() - begin) / 60:.1f} minutes")
            Walk(site, section, args.leave_out).run(say)
        except (Failed, Timeout):
            say(site.diagnosis())
            raise


def main() -> int:
    args = arguments()
    leave_on_sigterm()
    if reason := lacking():
        say(reason)
        return 77
    try:
        go(args)
    except Skip as error:
        say(str(error))
        return 77
    except NotPermitted as error:
        say(f"hosts with systemd are not permitted here: {' '.join(str(error).split())}")
        return 77
    except (Failed, Timeout, Wrong, scratch.Failed) as error:
        say(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
