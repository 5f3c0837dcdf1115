"""Hosts that faults put out of use come back: a reboot by Slurm, a power cycle by the site's program, and then in use again."""

from pathlib import Path

from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip
from test_restart import NEEDS, actions, check_moved, gang, reason, timeline  # noqa: F401

PROGRAM = Path(__file__).resolve().parent / "railcluster" / "reboot"


def options(build):
    return Options(build=build, hosts_per_unit=4, settings={"RebootProgram": str(PROGRAM)},
                   railyard={"repair.clean_window": '"4s"', "repair.rung_limit": '"3m"', "repair.power_cycle_program": f'"{PROGRAM}"',
                             "repair.host_lost": '["power_cycle", "hands"]'})


def logs(cluster):
    return [cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")]


def asked(cluster, what, host):
    """Whether the program was run for the host since the last look."""
    path = cluster.root / "etc" / f"{what}.{host}"
    if not path.exists():
        return False
    path.unlink()
    return True


def boot(cluster, host):
    """The host comes up with another boot id, and its slurmd says that it has booted."""
    if cluster.fabric.hcas:
        cluster.fabric.set_links(host, True)
    cluster.yard.boot(host)
    kernel = cluster.root / "hosts" / host / "tmp" / "boot_id"
    kernel.write_text(Path("/proc/sys/kernel/random/uuid").read_text())
    cluster.out("mount", "--bind", str(kernel), "/proc/sys/kernel/random/boot_id", host=host)
    cluster.spawn(host, "slurmd", [*cluster.slurm.slurmd(host), "-b"], own_log=True)
    cluster.agents.start_node(host)


def in_use(cluster, host):
    return cluster.node_states()[host] in ("idle", "allocated", "mixed")


def check_return(cluster, host, rung):
    wait_for(lambda: in_use(cluster, host), 90, f"{host} to be in use again", logs(cluster), every=0.3)
    wait_for(lambda: any(f"{host} is in use again ({rung})" in text for _, text in timeline(cluster, host)), 20,
             f"restartd to say that {host} came back by {rung}", logs(cluster), every=0.3)
    equal([kind for kind, state in actions(cluster) if kind == "repair_host"], ["repair_host"], "what was done")


def test_a_gpu_that_is_gone_comes_back_by_a_reboot(cluster):
    """GPU gone: drained, the job requeued, slurmctld reboots the host, a clean window, resumed."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they have no power to switch and no boot id of their own")
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    cluster.agents.set_gpu(victim, 3, lost=1)
    check_moved(cluster, job, victim)
    holds(reason(cluster, victim), "railyard[", f"reason of {victim}")
    wait_for(lambda: asked(cluster, "reboot", victim), 60, f"slurmd of {victim} to run RebootProgram", logs(cluster), every=0.2)
    holds(reason(cluster, victim), "reboot of its repair (gpu_gone)", f"reason of {victim}")
    holds(cluster.out("railctl", "explain", victim), "repair (gpu_gone: reboot, power_cycle, hands)", "railctl explain")
    holds(cluster.out("railctl", "status"), f"in repair (reboot): {victim}", "railctl status")
    cluster.power_off(victim)
    cluster.agents.set_gpu(victim, 3, lost=0)
    # A reboot that was asked for is not asked for twice, nor is what is under way forgotten.
    cluster.agents.stop("ctl", "restartd")
    cluster.agents.start_restartd()
    boot(cluster, victim)
    check_return(cluster, victim, "reboot")
    check(not asked(cluster, "reboot", victim), "a second reboot")
    equal(job.seen().restarts, 1, "restarts of the job")


def test_a_lost_host_comes_back_by_a_power_cycle(cluster):
    """Power lost: drained and set down, the site's program is run, and the host that boots is resumed."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they have no power to switch and no boot id of their own")
    job, nodes = gang(cluster, nodes=3, steps=100000)
    victim = nodes[1]
    if cluster.fabric.hcas:
        wait_for(lambda: "no sweep has come" not in cluster.out("railctl", "status"), 60, "a sweep of the fabric", logs(cluster), every=0.3)
    cluster.power_off(victim)
    check_moved(cluster, job, victim)
    wait_for(lambda: asked(cluster, "power-cycle", victim), 60, "the program to be run", logs(cluster), every=0.2)
    wait_for(lambda: any("chassis power control: cycle" in text for _, text in timeline(cluster, victim)), 20,
             "what the program said to be noted", logs(cluster), every=0.3)
    boot(cluster, victim)
    check_return(cluster, victim, "power_cycle")
