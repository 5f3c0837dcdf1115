#!/usr/bin/env python3
"""Hosts with systemd leave nothing behind when their maker is killed: no process, no cgroup, no folder.

Exit status 77: not permitted here, the last line says why.
"""

import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from hosts import Hosts, lacking  # noqa: E402
from railcluster.hosts import NotPermitted  # noqa: E402
from railcluster.process import Pid, wait_for  # noqa: E402


def hosts_until_killed() -> None:
    """Boots one, and prints the number of the yard's first process and the yard's folder."""
    hosts = Hosts()
    try:
        hosts.start({"lone": "10.77.0.9"}, tied=True)
        hosts.enable_only("lone", {})
        hosts.boot("lone")
        print(hosts.init.pid, hosts.root, flush=True)
        signal.pause()
    except NotPermitted as error:
        print("hosts with systemd are not permitted here:", *str(error).split(), flush=True)
    finally:
        hosts.close()


def cgroups(name: str) -> list[str]:
    return subprocess.run(["find", "/sys/fs/cgroup", "-maxdepth", "3", "-name", name], capture_output=True, text=True,
                          check=False).stdout.split()


def main() -> int:
    if reason := lacking():
        print(reason)
        return 77
    maker = subprocess.Popen([sys.executable, "-B", __file__, "--hosts"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        said = maker.stdout.readline().split()
        if len(said) != 2:
            print(*said)
            return 77 if said else 1
        init, root = Pid.of(int(said[0])), Path(said[1])
        if not root.is_dir() or not cgroups(root.name):
            print(f"there is no {root}, or no cgroup of its name: nothing to see")
            return 1
    finally:
        maker.kill()
        maker.wait()
    wait_for(lambda: not init.alive() and not root.exists() and not cgroups(root.name), 30,
             f"process {init.pid}, {root} and {cgroups(root.name)} to be gone")
    print("killed: nothing of its hosts is left")
    return 0


if __name__ == "__main__":
    sys.exit(hosts_until_killed() if sys.argv[1:] == ["--hosts"] else main())
