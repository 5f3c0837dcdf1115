"""Rails between hosts that are namespaces: a bridge of the yard for each, and a cable from each host to it. A cable's rate is set
by its host's queueing discipline, so that one can be made slow."""

import subprocess
from pathlib import Path
from typing import Callable

from .cluster import Options
from .testing import skip

BUILD: list[Path] = []  # the folder of railcheck, set when options_of() chose the cluster


def options_of(hosts: int) -> Callable[[Path], Options]:
    """options() for a file that tests railcheck between `hosts` hosts: it only needs stock Slurm."""
    def options(build: Path) -> Options:
        BUILD[:] = [build.resolve()]
        return Options(build=None, units=1, hosts_per_unit=hosts)
    return options


class Rails:
    def __init__(self, cluster, count: int, mbit: int):
        """Cables with equal rates: on a machine with two cores, an unthrottled cable would measure the CPU load."""
        self.cluster, self.count, self.mbit = cluster, count, mbit

    def lay(self) -> "Rails":
        """Lays cables to the hosts that are on; a host that goes off loses its cables. Skips the test if they are not
        possible."""
        yard = self.cluster.yard
        if not yard.namespaces:
            skip("rails are cables between namespaces, which this machine does not permit")
        for rail in range(self.count):
            self._run(yard.yard_prefix(), "ip", "link", "add", f"rail{rail}", "type", "bridge")
            self._run(yard.yard_prefix(), "ip", "link", "set", f"rail{rail}", "up")
            for number, node in enumerate(self.cluster.nodes, 11):
                if not yard.is_on(node):
                    continue
                link = f"{node}r{rail}"
                self._run(yard.yard_prefix(), "ip", "link", "add", link, "type", "veth", "peer", "name", f"rail{rail}", "netns", yard.inner(node))
                self._run(yard.yard_prefix(), "ip", "link", "set", link, "master", f"rail{rail}", "up")
                self._run(yard.prefix(node), "ip", "addr", "add", f"10.{100 + rail}.0.{number}/24", "dev", f"rail{rail}")
                self._run(yard.prefix(node), "ip", "link", "set", f"rail{rail}", "up")
                self.rate(node, rail, self.mbit)
        return self

    def rate(self, node: str, rail: int, mbit: int) -> None:
        self._run(self.cluster.yard.prefix(node), "tc", "qdisc", "replace", "dev", f"rail{rail}", "root", "tbf", "rate", f"{mbit}mbit",
                  "burst", "64kb", "latency", "20ms")

    def delay(self, node: str, rail: int) -> None:
        """Delays each small packet from the host over this rail by some 50 ms: netem's delay, which not every kernel has, through
        a rate of 16 kbit/s. If slower, TCP would consider queued packets lost and retransmit them repeatedly."""
        self._run(self.cluster.yard.prefix(node), "tc", "qdisc", "replace", "dev", f"rail{rail}", "root", "tbf", "rate", "16kbit", "burst",
                  "1600", "latency", "60s")

    def plug(self, node: str, rail: int, up: bool) -> None:
        self._run(self.cluster.yard.yard_prefix(), "ip", "link", "set", f"{node}r{rail}", "up" if up else "down")

    def remove(self) -> None:
        for rail in range(self.count):
            for node in self.cluster.nodes:
                if self.cluster.yard.is_on(node):
                    self._run(self.cluster.yard.yard_prefix(), "ip", "link", "del", f"{node}r{rail}")
            self._run(self.cluster.yard.yard_prefix(), "ip", "link", "del", f"rail{rail}")

    @property
    def names(self) -> str:
        return ",".join(f"rail{rail}" for rail in range(self.count))

    @staticmethod
    def _run(prefix: list[str], *command: str) -> None:
        subprocess.run([*prefix, *command], check=True)


def measure_by(cluster, rails) -> None:
    """Preflights on these hosts measure these rails; None: those in the fabric file, which does not exist. UCX lists a host's
    interfaces from /sys, which shows those of the machine unless it is remounted."""
    program, link = cluster.options.build / "railcheck", cluster.root / "lib" / "railcheck"
    link.unlink(missing_ok=True)
    if rails is None:
        link.symlink_to(program)
        return
    link.write_text(f"""#!/bin/sh
exec unshare --mount sh -c 'mount -t sysfs none /sys && exec "$@"' sh {program} "$@" --devices={rails.names}
""")
    link.chmod(0o755)
