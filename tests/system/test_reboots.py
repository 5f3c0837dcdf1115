"""Hosts that somebody reboots without a word to Slurm."""

import json

from railcluster.cluster import Options
from railcluster.jobs import heat2d
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so", "tests/apps/heat2d"]


def options(build):
    # slurmctld takes back a host that did not respond, and none that was rebooted.
    return Options(build=build, hosts_per_unit=4, settings={"ReturnToService": "1"})


def logs(cluster, host):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld"), cluster.log(host, "nodewatchd")]


def told(cluster, host):
    return " | ".join(note["text"] for note in json.loads(cluster.out("railctl", "explain", host, "--json"))["timeline"])


def reason(cluster, host):
    return cluster.out("sinfo", "-h", "-n", host, "-o", "%E")


def wait_idle(cluster, host):
    wait_for(lambda: cluster.node_states()[host] == "idle", 90, f"{host} to be idle", logs(cluster, host))


def faults(cluster):
    return json.loads(cluster.out("railctl", "rates", "--json"))["failures"]["faults"]


def write_return(cluster, value):
    """ReturnToService of slurm.conf, which nobody has read yet."""
    conf = cluster.slurm.conf()
    lines = [line for line in conf.read_text().splitlines() if not line.startswith("ReturnToService")]
    conf.write_text("\n".join([*lines, f"ReturnToService={value}"]) + "\n")


def set_return(cluster, value):
    """ReturnToService, while slurmctld runs."""
    write_return(cluster, value)
    cluster.out("scontrol", "reconfigure")
    equal(cluster.out("scontrol", "show", "config").split("ReturnToService", 1)[1].split()[1], value, "ReturnToService")


def boot(cluster, host):
    """As power_on(), with a slurmd that tells slurmctld of the new boot: this machine's kernel has none."""
    if cluster.fabric.hcas:
        cluster.fabric.set_links(host, True)
    cluster.yard.boot(host)
    cluster.spawn(host, "slurmd", [*cluster.slurm.slurmd(host), "-b"], own_log=True)


def test_an_idle_host_rebooted_by_hand(cluster):
    """It is kept free of jobs while it is away, comes back by itself, and counts as no fault; a crash counts, and it stays out."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: none has a boot of its own")
    job = heat2d(cluster, 2, 100000, pace_us=20000)
    running = job.wait_state("RUNNING", 40)
    host = next(node for node in reversed(cluster.nodes) if node not in running.nodes)
    before = faults(cluster)
    cluster.agents.shut_down(host)
    cluster.power_off(host)
    wait_for(lambda: "railyard[" in reason(cluster, host), 60, f"{host} to be kept free of jobs", logs(cluster, host))
    holds(told(cluster, host), "is shut down in order, idle", f"what is told of {host}")
    cluster.power_on(host)
    wait_idle(cluster, host)
    holds(told(cluster, host), "is put into use again", f"what is told of {host}")
    equal(faults(cluster), before, "faults that were counted")
    seen = job.seen()
    equal((seen.state, seen.restarts, seen.nodes), ("RUNNING", 0, running.nodes), "the job")

    cluster.power_off(host)
    wait_for(lambda: faults(cluster) == before + 1, 60, "the crash to be counted", logs(cluster, host))
    story = told(cluster, host)
    lost = f"{host} is lost: "
    holds(story, lost, f"what is told of {host}")
    check("put into use again" not in story.rsplit(lost, 1)[-1], "it came back though it had crashed")


def test_slurmctld_sets_a_rebooted_host_down(cluster):
    """Nobody missed it, but slurmctld calls the reboot unexpected: it was not, and the host is put into use."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: none has a boot of its own")
    host = cluster.nodes[6]
    cluster.agents.shut_down(host)
    cluster.yard.power_off(host)
    boot(cluster, host)
    wait_for(lambda: "unexpectedly rebooted" in reason(cluster, host), 30, f"slurmctld to set {host} down", logs(cluster, host))
    cluster.agents.start_node(host)
    wait_idle(cluster, host)
    holds(told(cluster, host), "is put into use again", f"what is told of {host}")


def test_slurmctld_takes_back_all_hosts_or_none(cluster):
    """ReturnToService 0 leaves every host that was down to us, 2 takes it back itself, but for our drain: neither is a fault."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: none has a boot of its own")
    by_us, missed, unnoticed = cluster.nodes[1:4]
    before = faults(cluster)
    try:
        set_return(cluster, "0")
        for host in (by_us, missed):
            cluster.agents.shut_down(host)
            cluster.power_off(host)
        for host in (by_us, missed):
            wait_for(lambda name=host: "railyard[" in reason(cluster, name), 60, f"{host} to be kept free of jobs", logs(cluster, host))
        boot(cluster, by_us)
        cluster.agents.start_node(by_us)
        wait_for(lambda: not cluster.node_states()[by_us].endswith("*"), 60, f"{by_us} to be registered", logs(cluster, by_us))
        check("drain" in cluster.node_states()[by_us] or "down" in cluster.node_states()[by_us],
              f"{by_us} is {cluster.node_states()[by_us]} before anybody knows whether it is sound")

        set_return(cluster, "2")
        boot(cluster, missed)
        cluster.agents.start_node(missed)
        # Back before anybody has missed it.
        cluster.agents.shut_down(unnoticed)
        cluster.yard.power_off(unnoticed)
        boot(cluster, unnoticed)
        cluster.agents.start_node(unnoticed)
        for host in (by_us, missed, unnoticed):
            wait_idle(cluster, host)
        for host in (by_us, missed):
            holds(told(cluster, host), "is put into use again", f"what is told of {host}")
        wait_for(lambda: "is shut down in order, idle" in told(cluster, unnoticed), 30, "the reboot to be told", logs(cluster, unnoticed))
        check("put into use again" not in told(cluster, unnoticed), "it was in use all the time")
        equal(faults(cluster), before, "faults that were counted")
    finally:
        set_return(cluster, "1")
