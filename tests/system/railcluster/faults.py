"""Undoes every fault: a cluster shared by several tests is in the same state for each of them."""

import shutil
import signal

from .process import wait_for


def forget_files(cluster) -> None:
    """Removes files written by tests and their jobs: next to the cluster's own files, and on the shared file system."""
    scratch = cluster.root / "scratch"
    left = [path for path in cluster.root.iterdir() if path.name not in cluster.own_files and path != scratch]
    for path in [*left, *(scratch.iterdir() if scratch.exists() else ())]:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def restore(cluster) -> None:
    """Restores the initial state: no jobs, every host on, plugged in and idle, sound hardware, daemons running, no incidents."""
    for daemon in cluster.daemons.values():
        daemon.kill(signal.SIGCONT)
    if cluster.lsf:
        cluster.lsf.restore()
        forget_files(cluster)
        return
    if not cluster.alive("ctl", "slurmctld"):
        cluster.start_slurmctld()
    cluster.run("scancel", "--user=root", "--quiet")
    for name in cluster.cut_cables.copy():
        cluster.cable(name, True)
    for node in cluster.nodes:
        if not cluster.yard.is_on(node):
            cluster.power_on(node)
        elif not cluster.alive(node, "slurmd"):
            cluster.start_slurmd(node)
    if cluster.agents:
        cluster.agents.restore()
    wait_for(lambda: not cluster.out("squeue", "-h"), 60, "the last test's jobs to be gone",
             [cluster.log("ctl", "slurmctld")])
    forget_files(cluster)

    def idle() -> bool:
        wrong = [node for node, state in cluster.node_states().items() if state != "idle"]
        for node in wrong:
            cluster.run("scontrol", "update", f"nodename={node}", "state=resume")
        return not wrong
    wait_for(idle, 60, "all nodes to be idle", [cluster.log("ctl", "slurmctld")], every=0.5)
