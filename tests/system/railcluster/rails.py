"""Rails between hosts that are namespaces: a bridge of the yard for each, and a cable from each host to it. A cable's rate
is what its host's queueing discipline lets through, so that one can be made slow."""

import subprocess
from pathlib import Path
from typing import Callable

from .cluster import Options
from .testing import skip

BUILD: list[Path] = []  # the folder in which railcheck is, where options_of() chose the cluster


def options_of(hosts: int) -> Callable[[Path], Options]:
    """options() of a file that tries railcheck between `hosts` hosts: stock Slurm is all that it needs."""
    def options(build: Path) -> Options:
        BUILD[:] = [build.resolve()]
        return Options(build=None, units=1, hosts_per_unit=hosts)
    return options


class Rails:
    def __init__(self, cluster, count: int, mbit: int):
        """Cables, all of one rate: on a machine with two cores, what is not throttled measures its load."""
        self.cluster, self.count, self.mbit = cluster, count, mbit

    def lay(self) -> "Rails":
        """To the hosts that are on; one that goes off takes its cables with it. Skips the test where there can be none."""
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
        """What the host sends over this rail comes some 50 ms later for each small packet: netem's delay, which not every kernel
        has, by a rate of 16 kbit/s. Slower, TCP would take packets that wait for lost, and send them again and again."""
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
    """Preflights on these hosts measure by these rails; None: by what the fabric file names, which is not there. UCX lists a
    host's interfaces in /sys, which shows those of the machine unless it is mounted anew."""
    program, link = cluster.options.build / "railcheck", cluster.root / "lib" / "railcheck"
    link.unlink(missing_ok=True)
    if rails is None:
        link.symlink_to(program)
        return
    link.write_text(f"""#!/bin/sh
exec unshare --mount sh -c 'mount -t sysfs none /sys && exec "$@"' sh {program} "$@" --devices={rails.names}
""")
    link.chmod(0o755)
