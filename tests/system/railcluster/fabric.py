"""The InfiniBand fabric of a cluster: ibsim simulates it, opensm manages it, programs send real MADs to it.

ibsim listens on abstract sockets, which belong to a network namespace: it and its clients run on the controller's host. They use
port 0 of a spine switch, so that powering off a host does not disconnect them. ibsim serves ten clients, and a killed client
keeps its slot: clients here are ended by SIGTERM.
"""

import json
import os
import re
import time
from pathlib import Path

from .process import wait_for

CA = re.compile(r'^Ca\s+\d+\s+"(?P<id>[^"]+)"\s+#\s+"(?P<host>\S+) (?P<device>[^"]+)"')
SWITCH = re.compile(r'^Switch\s+\d+\s+"(?P<id>[^"]+)"')
# ibsim's own limits are for small fabrics: nodes, switches, ports.
LIMITS = ["-N", "4096", "-S", "512", "-P", "32768"]


def umad2sim() -> Path:
    for path in sorted(Path("/usr/lib").glob("*/umad2sim/libumad2sim.so")):
        return path
    raise FileNotFoundError("libumad2sim.so stands in no /usr/lib/*/umad2sim: install libumad2sim0")


class Fabric:
    """One ibsim: the fabric (read from its net file) and its console."""

    def __init__(self, root: Path):
        self.root = root
        self.net = root / "etc" / "fabric.net"
        self.log = root / "log" / "ctl.ibsim.log"
        self.pipe = root / "run" / "ibsim.console"
        self.hcas: dict[str, list[str]] = {}
        self.seat = ""
        self.second_seat = ""
        if self.net.exists():
            self.read_net()

    def read_net(self) -> None:
        """Reads the connected nodes; also before it is started."""
        for line in self.net.read_text().splitlines():
            if match := CA.match(line):
                self.hcas.setdefault(match["host"], []).append(match["id"])
            elif match := SWITCH.match(line):
                self.second_seat, self.seat = self.seat, match["id"]  # the last one is in the highest tier

    def environment(self) -> dict[str, str]:
        """The environment for a program whose MADs should go to this fabric."""
        return {"LD_PRELOAD": str(umad2sim()), "IBSIM_SOCKNAME": self.root.name, "SIM_HOST": self.seat}

    def notices(self) -> dict[str, str]:
        """Additional environment for fabricwatchd, so that opensm's reports reach it: a seat without a subnet manager."""
        return {"RAIL_IBSIM_NOTICES": self.second_seat}

    def start(self, cluster) -> None:
        """Starts ibsim, then opensm; returns when every port has its address."""
        self.read_net()
        self.pipe.unlink(missing_ok=True)
        os.mkfifo(self.pipe)
        console = os.open(self.pipe, os.O_RDWR)  # also opened for writing, so that ibsim never sees its end
        try:
            cluster.spawn("ctl", "ibsim", ["ibsim", "-s", *LIMITS, str(self.net)],
                          env={"IBSIM_SOCKNAME": self.root.name}, stdin=console)
        finally:
            os.close(console)
        wait_for(lambda: "Network simulator ready" in self.log.read_text(errors="replace"), 20,
                 "ibsim to carry the fabric", [self.log])
        self.start_opensm(cluster)

    def start_opensm(self, cluster) -> None:
        """Returns when it has brought the subnet up, also if it ran before."""
        osm_log = self.root / "log" / "opensm.log"
        begin = osm_log.stat().st_size if osm_log.exists() else 0
        folder = self.root / "state" / "opensm"
        folder.mkdir(parents=True, exist_ok=True)
        # -d2: flushes each line of the log.
        cluster.spawn("ctl", "opensm", ["opensm", "-d2", "-f", str(osm_log), "-g", "0x" + self.seat.partition("-")[2]],
                      env={**self.environment(), "OSM_TMP_DIR": f"{folder}/", "OSM_CACHE_DIR": f"{folder}/"})
        wait_for(lambda: "SUBNET UP" in osm_log.read_bytes()[begin:].decode(errors="replace"), 30, "opensm to bring the subnet up",
                 [osm_log, self.root / "log" / "ctl.opensm.log"])

    def console(self, command: str) -> str:
        """Sends one command to ibsim's console and returns its answer."""
        before = self.log.stat().st_size
        fifo = os.open(self.pipe, os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(fifo, (command + "\n").encode())
        finally:
            os.close(fifo)
        wait_for(lambda: self.log.stat().st_size > before, 5, f"ibsim to answer {command}", [self.log], every=0.01)
        time.sleep(0.01)  # the answer is one write; the prompt follows it
        with open(self.log, "rb") as log:
            log.seek(before)
            answer = log.read().decode(errors="replace")
        if "# nodeid" in answer:
            raise RuntimeError(f"ibsim: {command}: {answer.strip()}")
        return answer

    def set_links(self, host: str, up: bool) -> None:
        """Plugs or unplugs every HCA of a host."""
        for node in self.hcas.get(host, []):
            self.console(f'{"ReLink" if up else "Unlink"} "{node}"[1]')


def discovered(cluster):
    """Hosts with the number of their HCAs, and units, as discovered live."""
    live = cluster.root / "etc" / "live.json"
    cluster.out("railtopo", "discover", "--live", "--force", "--out", str(live), env=cluster.fabric.environment())
    return json.loads(live.read_text())


# Contents of a fabric file besides the fabric itself: its origin, and what the subnet manager assigned or knows.
CIRCUMSTANCES = ("source", "lid", "state", "time")


def essence(part):
    if isinstance(part, dict):
        return {key: essence(value) for key, value in part.items() if key not in CIRCUMSTANCES}
    return [essence(item) for item in part] if isinstance(part, list) else part
