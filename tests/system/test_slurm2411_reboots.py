"""What restartd counts on when a host was rebooted, with Slurm 24.11: restartd itself runs beside 22.05 here."""

from railcluster.process import wait_for
from railcluster.testing import equal, holds, skip
from test_reboots import boot, reason, set_return, wait_idle
from test_slurm2411 import NEEDS, options  # noqa: F401

OURS = "railyard[i-1]: host lost"


def started(cluster, host):
    """When its slurmd was, by its last registration."""
    return cluster.out("scontrol", "show", "node", host).split("SlurmdStartTime=", 1)[1].split()[0]


def wait_started(cluster, host, before):
    wait_for(lambda: started(cluster, host) != before, 30, f"{host} to be registered", [cluster.log("ctl", "slurmctld")])


def test_our_drain_outlasts_a_reboot(cluster):
    """Whatever ReturnToService is, a host that we set down stays drained with our reason when it boots, until we resume it."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: none has a boot of its own")
    for host, value in zip(cluster.nodes, ("0", "1", "2")):
        # slurmd starts anew when it is reconfigured. One that is off would be sent that once more as it boots, and boot twice.
        before = started(cluster, host)
        set_return(cluster, value)
        wait_started(cluster, host, before)
        cluster.yard.power_off(host)
        for state in ("drain", "down"):
            cluster.out("scontrol", "update", f"nodename={host}", f"state={state}", f"reason={OURS}")
        before = started(cluster, host)
        boot(cluster, host)
        wait_started(cluster, host, before)
        holds(cluster.out("scontrol", "show", "node", host), "DRAIN", f"{host} with ReturnToService={value}")
        equal(reason(cluster, host), OURS, f"the reason of {host} with ReturnToService={value}")
        cluster.out("scontrol", "update", f"nodename={host}", "state=resume")
        wait_idle(cluster, host)
