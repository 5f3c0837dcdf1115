"""What the subnet administrator tells of links that change: sweeps are an hour apart here, so that only its word counts."""

import json
import signal
import time

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, skip

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl"]
TOLD = "the subnet administrator tells of links that change"
ALONE = "no subnet manager answers"


def options(build):
    return Options(build=build, railyard={"fabricwatchd.interval": '"1h"'})


def logs(cluster):
    return [cluster.log("ctl", name) for name in ("fabricwatchd", "restartd", "ctl.ibsim")]


def links(cluster, host):
    """How many links of it restartd knows to be up; None: all."""
    told = json.loads(cluster.out("railctl", "explain", host, "--json"))["host"].get("links")
    return told and told["up"]


def listening(cluster):
    """restartd hears all hosts, and fabricwatchd is told and has the addresses of leaves."""
    cluster.agents.wait_heard()
    log = cluster.log("ctl", "fabricwatchd")
    wait_for(lambda: TOLD in log.read_text(), 30, "fabricwatchd to be told of links", [log])


def wait_links(cluster, host, up):
    wait_for(lambda: links(cluster, host) == up, 20, f"{host} to have {'all' if up is None else up} links", logs(cluster),
             every=0.02)


def actions(cluster):
    return [action["kind"] for action in json.loads(cluster.out("railctl", "history", "--json"))["actions"]]


def test_lost_links_are_told_between_sweeps(cluster):
    """One link, then all of a host, are known to be down and up again though nothing is swept."""
    listening(cluster)
    host = cluster.nodes[3]
    first = cluster.fabric.hcas[host][0]
    cluster.fabric.console(f'Unlink "{first}"[1]')
    wait_links(cluster, host, cluster.options.rails - 1)
    cluster.fabric.set_links(host, False)
    wait_links(cluster, host, 0)
    cluster.fabric.set_links(host, True)
    wait_links(cluster, host, None)
    equal(actions(cluster), [], "actions for links that came back")


def test_power_off_needs_no_sweep(cluster):
    """A host without power is lost by the word of its leaves; slurmctld would wait for minutes."""
    listening(cluster)
    host = cluster.nodes[5]
    cluster.power_off(host)
    wait_for(lambda: "down_host" in actions(cluster), 30, f"{host} to be lost", logs(cluster))
    told = json.loads(cluster.out("railctl", "explain", host, "--json"))["timeline"]
    check(any("all 8 links are down in the fabric" in note["text"] for note in told), f"the timeline says {told}")


def test_flapping_links_are_nothing(cluster):
    """A host whose links go and come more often than the subnet manager cares to tell loses nothing, and all is seen in the end."""
    listening(cluster)
    host = cluster.nodes[9]
    for _ in range(15):
        cluster.fabric.set_links(host, False)
        cluster.fabric.set_links(host, True)
    cluster.fabric.set_links(host, False)
    wait_links(cluster, host, 0)
    cluster.fabric.set_links(host, True)
    wait_links(cluster, host, None)
    equal(actions(cluster), [], "actions for flapping links")


def test_without_a_subnet_manager_it_says_so_once(cluster):
    """With opensm gone that is said once, and once more when it is back and tells again."""
    log = cluster.log("ctl", "fabricwatchd")
    listening(cluster)

    def said(text):
        return log.read_text().count(text)
    before, told = said(ALONE), said(TOLD)
    opensm = cluster.daemons["ctl", "opensm"]
    opensm.kill(signal.SIGTERM)
    wait_for(lambda: not opensm.alive(), 15, "opensm to stop")
    wait_for(lambda: said(ALONE) == before + 1, 30, "fabricwatchd to miss the subnet manager", [log])
    time.sleep(7)  # it asks every 5 s
    equal(said(ALONE), before + 1, "how often it says so")
    cluster.fabric.start_opensm(cluster)
    wait_for(lambda: said(TOLD) == told + 1, 30, "fabricwatchd to be told again", [log])
    host = cluster.nodes[1]
    cluster.fabric.set_links(host, False)
    wait_links(cluster, host, 0)
    cluster.fabric.set_links(host, True)
    wait_links(cluster, host, None)


def test_it_ends_with_its_daemon(cluster):
    """Neither SIGTERM nor SIGKILL of fabricwatchd leaves the process behind that is told of links."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: children cannot be told from others'")

    def count():
        return len(cluster.run("pgrep", "-f", "[f]abricwatchd --config").stdout.split())
    listening(cluster)
    for number in (signal.SIGTERM, signal.SIGKILL):
        daemon = cluster.daemons["ctl", "fabricwatchd"]
        wait_for(lambda: count() == 2, 150, "two processes of fabricwatchd")
        daemon.kill(number)
        wait_for(lambda: count() == 0, 20, "none to be left", [daemon.log])
        cluster.agents.start_fabricwatchd()
        wait_for(lambda: count() == 2, 150, "fabricwatchd to run again", [daemon.log])
