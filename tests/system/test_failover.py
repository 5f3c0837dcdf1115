"""railyard(7)'s FAILOVER: the scripts as they are printed there, run by real controllers; systemd stands in."""

import json
import re
import signal
import tempfile
from pathlib import Path

from railcluster.agents import SOURCE
from railcluster.cluster import BACKUP, Cluster, Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "railctl"]
# As `systemctl start|stop restartd` with the page's drop-in: started again a second after its end, and only one a host.
SYSTEMCTL = """#!/bin/sh
[ -e {folder}/ready ] || exit 0 # until the test's own restartd has stopped
unit={folder}/unit-$(uname -n)
case $1 in
start)
    mkdir "$unit" 2>/dev/null || exit 0
    setsid sh -c 'while [ -d "$0" ]; do {build}/restartd --config {folder}/railyard.conf; echo "exit status $?"; sleep 1; done' \\
        "$unit" >>"$unit.log" 2>&1 </dev/null & ;;
stop)
    rm -rf "$unit"
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe")" != {restartd} ] || [ "$(readlink "$process/ns/net")" != "$(readlink /proc/self/ns/net)" ] ||
            kill "${{process#/proc/}}"
    done ;;
esac
"""


def printed():
    """The files of the page's example: name to text."""
    page = (SOURCE / "man/railyard.7").read_text()
    block = re.search(r"^\.Sh FAILOVER\n.*?^\.Bd .*?\n(.*?)^\.Ed$", page, re.M | re.S)[1].replace(r"\e", "\\")
    files = {}
    for part in block.split("\n\n"):
        head, _, text = part.partition("\n")
        files[re.sub(r"^# (systemctl edit \w+|[^ ,:]*).*", r"\1", head)] = text
    return files


def answers(cluster, host):
    """What restartd on this host tells of itself; None when there is none."""
    url = f"http://{cluster.yard.addresses[host]}:{cluster.agents.port}"
    answer = cluster.run("railctl", "--url", url, "--json", "history", host=host)
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def test_restartd_follows_slurmctld(build):
    files = printed()
    for name, line in (("slurm.conf", "SlurmctldPrimaryOnProg=/etc/slurm/restartd-on"),
                       ("systemctl edit restartd", "ReadWritePaths=/shared/slurm"),
                       ("systemctl edit restartd", "StartLimitIntervalSec=0"),
                       ("railyard.conf", 'journal = "/shared/slurm/railyard.db"'),
                       ("/etc/sudoers.d/restartd", "NOPASSWD: /usr/bin/systemctl start restartd")):
        holds(files[name], line, f"the example's {name}")
    with tempfile.TemporaryDirectory(prefix="failover-", dir=build) as scratch:
        folder = Path(scratch)
        folder.chmod(0o755)
        restartd = (build / "restartd").resolve()
        (folder / "systemctl").write_text(SYSTEMCTL.format(folder=folder, build=build, restartd=restartd))
        for name in ("restartd-on", "restartd-off"):
            script = files[f"/etc/slurm/{name}"]
            holds(script, "exec sudo systemctl", name)
            (folder / name).write_text(script.replace("sudo systemctl", str(folder / "systemctl")) + "\n")
        for name in ("systemctl", "restartd-on", "restartd-off"):
            (folder / name).chmod(0o755)
        settings = {"SlurmctldTimeout": "4"}
        for line in files["slurm.conf"].splitlines():
            key, _, value = line.partition("=")
            settings[key] = value.replace("/etc/slurm", scratch)
        with Cluster.start(Options(build=build, units=1, hosts_per_unit=2, backup=True, settings=settings)) as cluster:
            goes_on(cluster, folder)


def goes_on(cluster, folder):
    logs = [cluster.log("ctl", "slurmctld"), cluster.log(BACKUP, "slurmctld"), *folder.glob("*.log")]
    cluster.agents.stop("ctl", "restartd")
    conf = cluster.agents.conf.read_text()
    everywhere, count = re.subn(r'listen = "[^:]*:', 'listen = "0.0.0.0:', conf)
    equal(count, 1, "addresses to listen on")
    (folder / "railyard.conf").write_text(everywhere)
    (folder / "ready").touch()
    cluster.out(str(folder / "restartd-on"))  # as slurmctld did at its start
    wait_for(lambda: answers(cluster, "ctl"), 20, "restartd beside the first controller", logs)
    node = cluster.nodes[0]
    cluster.out("railctl", "drain", node, "before the failover")

    # By hand: the first one is stopped by its controller, and the second one has its journal.
    cluster.out("scontrol", "takeover", timeout=60)
    wait_for(lambda: answers(cluster, BACKUP), 40, "restartd beside the second controller", logs)
    check(any("before the failover" in json.dumps(part) for part in answers(cluster, BACKUP).values()), "the history is another one")
    equal(answers(cluster, "ctl"), None, "restartd beside the first controller")

    # Back: the second one steps aside, and its controller stops what it had started.
    cluster.start_slurmctld()
    wait_for(lambda: answers(cluster, "ctl"), 40, "restartd beside the first controller again", logs)
    equal(answers(cluster, BACKUP), None, "restartd beside the second controller")

    # A controller alone crashes: its restartd goes on, and the other stands by until it is gone.
    waits = folder / f"unit-{BACKUP}.log"
    before = waits.read_text()
    cluster.daemons["ctl", "slurmctld"].kill(signal.SIGKILL)
    wait_for(lambda: "standing by" in waits.read_text()[len(before):], 60, "the second controller to take over", [*logs, waits])
    check("exit status" not in waits.read_text()[len(before):], "who stands by has ended")
    check(answers(cluster, "ctl"), "restartd beside the first controller is gone, too")
    cluster.out(str(folder / "restartd-off"))
    wait_for(lambda: answers(cluster, BACKUP), 20, "restartd beside the second controller, for good", [*logs, waits])
    check(any("before the failover" in json.dumps(part) for part in answers(cluster, BACKUP).values()), "the history is another one")
    cluster.out(str(folder / "restartd-off"), host=BACKUP)
