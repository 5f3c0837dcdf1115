#!/usr/bin/env python3
"""quickstart and tests/run where Slurm's source cannot be had: they stop at once and say what is missing.

Both are run as they are, with an empty archive for apt and a cache and a build directory of the test's own.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))
from archive import Archive, check, tests
from railcluster.speed import slowness

TESTS = Path(__file__).resolve().parents[1]


def stopped(folder: str, command: list) -> list[str]:
    """Runs the command, which must end with status 1 and the sentence; returns the lines it printed."""
    root = Path(folder)
    archive = Archive(root / "archive", "bookworm")
    archive.list_source("another", "1", {"another_1.tar": b""}, {})
    archive.write()
    (root / "apt.sources").write_text(archive.stanza("deb-src"))
    environment = {**os.environ, "XDG_CACHE_HOME": f"{folder}/cache", "RAILYARD_APT_SOURCES": f"{folder}/apt.sources"}
    done = subprocess.run([sys.executable, "-B", *command, "--build", f"{folder}/build"], env=environment, timeout=120 * slowness(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == 1, "exit status", done.returncode, done.stdout)
    for part in ("slurm-source: ", "slurm-wlm", "what jobs ask for (--rail-span, --restart=auto) would be honoured by nobody",
                 "--with-slurm-src=DIR"):
        check(part in done.stdout, f"{part!r} is not in:", done.stdout)
    check(not (root / "build" / "Makefile").exists(), "it was configured all the same")
    return done.stdout.splitlines()


def test_quickstart(folder) -> None:
    """No cluster is started, no job submitted."""
    lines = stopped(folder, [TESTS / "system" / "quickstart.py"])
    check(not any("cluster" in line or "job " in line for line in lines), *lines)


def test_tests_run(folder) -> None:
    """One failure, and its last line says so."""
    lines = stopped(folder, [TESTS / "stages.py"])
    check(lines[-1] == "0 passed, 1 failed", *lines)
    check([line for line in lines if line.startswith("=== ")][-1].startswith("=== all"), *lines)


if not shutil.which("apt-get") or not Path("/usr/lib/apt/apt-helper").exists():
    print("this is no Debian: there is no apt")
    sys.exit(77)
sys.exit(tests(globals()))
