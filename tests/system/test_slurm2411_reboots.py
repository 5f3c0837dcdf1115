"""What restartd counts on when a host was rebooted, with Slurm 24.11: restartd itself runs beside 22.05 here."""

from railcluster.process import wait_for
from railcluster.queue import restart_slurmctld
from railcluster.testing import equal, holds, skip
from test_reboots import boot, reason, wait_idle, write_return
from test_slurm2411 import NEEDS, options  # noqa: F401

OURS = "railyard[i-1]: host lost"


def started(cluster, host):
    """When its slurmd was, by its last registration."""
    return cluster.out("scontrol", "show", "node", host).split("SlurmdStartTime=", 1)[1].split()[0]


def test_our_drain_outlasts_a_reboot(cluster):
    """Whatever ReturnToService is, a host that we set down stays drained with our reason when it boots, until we resume it."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: none has a boot of its own")
    settings = dict(zip(cluster.nodes, ("0", "1", "2")))
    for host in settings:
        cluster.yard.power_off(host)
        for state in ("drain", "down"):
            cluster.out("scontrol", "update", f"nodename={host}", f"state={state}", f"reason={OURS}")
    for host, value in settings.items():
        # Not by a reconfiguration: that is sent to a host that is off as it boots, and its slurmd then starts, and boots, anew.
        write_return(cluster, value)
        restart_slurmctld(cluster)
        before = started(cluster, host)
        boot(cluster, host)
        wait_for(lambda name=host, then=before: started(cluster, name) != then, 30, f"{host} to be registered",
                 [cluster.log("ctl", "slurmctld")])
        holds(cluster.out("scontrol", "show", "node", host), "DRAIN", f"{host} with ReturnToService={value}")
        equal(reason(cluster, host), OURS, f"the reason of {host} with ReturnToService={value}")
        cluster.out("scontrol", "update", f"nodename={host}", "state=resume")
        wait_idle(cluster, host)
