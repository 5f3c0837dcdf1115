"""A slurmctld that dies, is succeeded by another, or whose nodes come and go: jobs keep their places and what they asked for.

test_slurm2411_life.py runs some of them on the other release.
"""

import signal
import time

from railcluster import slurm
from railcluster.cluster import BACKUP, Cluster, Options
from railcluster.process import wait_for
from railcluster.queue import (cancel, comment, fields, fill, leave_five_free, log_lines, nodes_of, restart_slurmctld, running_on, state,
                               stop_slurmctld, submit, units_of, wait_for_resources, wait_state)
from railcluster.testing import check, equal, holds
from railcluster.userland import Userland
from test_wishes import NEEDS as PLUGINS
from test_wishes import SETTINGS, options  # noqa: F401

NEEDS = [*PLUGINS, "src/sched/slurm/shadow/.libs/select_cons_tres.so"]


def wait_saved(cluster):
    """Slurm writes what became of jobs a few seconds later; what it has not written when it is killed, it forgets."""
    path = cluster.root / "state" / "job_state"
    name = f"saved-{time.monotonic_ns()}"  # an earlier test's stands there as long as Slurm remembers its jobs
    submit(cluster, "-N1", "--hold", "-J", name)
    wait_for(lambda: name.encode() in path.read_bytes(), 20, "the jobs to be saved")


def asked(cluster, job):
    return comment(cluster, job).split("; ")[0]  # what follows says why it waits


def test_killed_with_jobs_running_and_pending(cluster):
    """SIGKILL to slurmctld: jobs run on where they ran, and those that wait are placed as they asked."""
    fillers = leave_five_free(cluster)
    running = submit(cluster, "-N4", "--rail-span=unit", "--rail-spares=1")
    nodes = running_on(cluster, running)
    unit = units_of(cluster, nodes).pop()
    whole = submit(cluster, "-N8", "--rail-segment=8")
    wish = submit(cluster, "-N7", "--rail-span=unit@1h", "--begin=now+4")
    wait_for_resources(cluster, whole)
    wait_saved(cluster)
    restart_slurmctld(cluster, signal.SIGKILL)
    equal((state(cluster, running), nodes_of(cluster, running)), ("RUNNING", nodes), "the job that ran")
    equal([asked(cluster, job) for job in (running, whole, wish)],
          [f"railyard: {words}" for words in ("span=unit spares=1", "segment=8", "span=unit@1h")], "what the jobs asked for")
    wait_for(lambda: fields(cluster, wish)["Reason"] in ("Resources", "Priority"), 20, "the wish to wait for its span")
    equal(state(cluster, whole), "PENDING", "the job whose segment has no room")
    # A host gets no job until it has registered, for which it is asked 4 s after the start, then each third of SlurmdTimeout.
    wait_for(lambda: not any(word.startswith("unk") for word in cluster.node_states().values()), 150, "all hosts to have registered")
    cancel(cluster, fillers[1 - unit])
    equal(units_of(cluster, running_on(cluster, whole)), {1 - unit}, "the segment's unit")
    cancel(cluster, running, fillers[unit])
    equal(units_of(cluster, running_on(cluster, wish)), {unit}, "the wish's unit")


def lost_and_back(cluster):
    """A host that a job of whole hosts lost, and went on without, is for every job that comes after, not for one only."""
    survivor = submit(cluster, "-N2", "--no-kill", "--exclusive")
    first, lost = running_on(cluster, survivor)
    cluster.out("scontrol", "update", f"nodename={lost}", "state=down", "reason=gone")
    wait_for(lambda: nodes_of(cluster, survivor) == [first], 20, "the job to go on without its host")
    cluster.resume(lost)
    cluster.out("scancel", survivor)
    everyone = (f"-N{len(cluster.nodes)}", "--exclusive")
    # One that ends slowly: a host that answers after its job has ended is noted as free by that alone.
    slow = submit(cluster, *everyone, script="srun sh -c \"trap '' TERM; touch trapped; while :; do sleep 0.1; done\"")
    running_on(cluster, slow)
    wait_for(lambda: (cluster.root / "trapped").exists(), 20, "the job to have begun")
    cluster.out("scancel", slow)
    wait_for(lambda: not cluster.out("squeue", "-h"), 60, "the jobs to be gone", [cluster.log("ctl", "slurmctld")])
    wait_state(cluster, submit(cluster, *everyone, script="true"), "COMPLETED", 60)


def test_lost_and_back(cluster):
    lost_and_back(cluster)


def failover(made):
    """The primary is killed, and the backup goes on.

    SlurmctldTimeout is at least 4: slurmctld writes its heartbeat file each quarter of it in whole seconds, so that below 4
    it rewrites the file in a loop. Killed between unlink and link it leaves none, and the backup never takes over."""
    with Cluster.start(made) as cluster:
        one, two = cluster.units
        blockers = [fill(cluster, one[:1]), fill(cluster, two[:2])]
        running = submit(cluster, "-N2", "--rail-span=unit")
        nodes = running_on(cluster, running)
        equal(units_of(cluster, nodes), {1}, "the tighter unit")
        job = submit(cluster, "-N4", "--rail-segment=4")
        wait_for_resources(cluster, job)
        wait_saved(cluster)
        stop_slurmctld(cluster, signal.SIGKILL)
        log = cluster.log(BACKUP, "slurmctld")
        wait_for(lambda: fields(cluster, job)["JobState"] == "PENDING", 40, "the other controller to take over", [log])
        equal((state(cluster, running), nodes_of(cluster, running)), ("RUNNING", nodes), "the job that ran")
        equal(asked(cluster, job), "railyard: segment=4", "what the other asked for")
        cluster.out("scancel", blockers[0])
        equal(units_of(cluster, running_on(cluster, job)), {0}, "the segment's unit")
        for plugin in ("select/rail", "topology/rail"):
            found = [line for line in log.read_text().splitlines() if f"{plugin}: fabric " in line]
            check(len(found) == (plugin.startswith("topology") == bool(made.userland)), f"{plugin} in {log}: {found}")
        if made.userland:
            return  # a backup of 24.11 takes half a minute to step back
        cluster.start_slurmctld()
        wait_for(lambda: "(primary) at ctl is UP" in cluster.out("scontrol", "ping"), 20, "the first controller to be back")
        waits = submit(cluster, "-N4", "--rail-span=unit")
        wait_for_resources(cluster, waits)
        cluster.out("scancel", blockers[1], running)
        equal(units_of(cluster, running_on(cluster, waits)), {1}, "a place by the first controller")


def test_failover_to_the_backup_controller(build):
    """The second controller has the fabric and the flags, and gives them back to the first."""
    failover(Options(build=build, hosts_per_unit=4, backup=True, settings={**SETTINGS, "SlurmctldTimeout": "4"}))


def allocated(cluster, job, seconds=20):
    """The units of a job on nodes that have no slurmd: it never gets further than its allocation."""
    names = wait_for(lambda: (found := fields(cluster, job)["NodeList"]) not in ("", "(null)") and found, seconds,
                     f"job {job} to have nodes", [cluster.log("ctl", "slurmctld")])
    return units_of(cluster, cluster.out("scontrol", "show", "hostnames", names).split())


def changes_of_nodes(made):
    """Whether a unit is there whole shows in what is refused: of nodes without a slurmd one never gets rid of a job."""
    with Cluster.start(made) as cluster:
        conf, created = cluster.slurm.conf("ctl"), [*slurm.NODE.replace(" Gres=gpu:8", "").split(), "State=CLOUD"]
        (conf.parent / "topology.conf").unlink()  # with it, Slurm's own tree never places a node that it does not name
        whole = conf.read_text()
        less = whole.replace("NodeName=n[001-016]", "NodeName=n[001-012]")
        allocated(cluster, submit(cluster, "-N1", "-w", "n001"))

        def units_are_whole(count, when):
            equal(len(cluster.out("sinfo", "-h", "-N", "-o", "%N").split()), 8 + 4 * count, f"nodes {when}")
            result = cluster.run("sbatch", "-N8", "-x", "n001", "--rail-span=unit", "--begin=now+1hour", "--wrap", "true")
            if count == 2:
                equal(result.returncode, 0, f"{result.stderr} {when}")
            else:
                holds(result.stderr, "Requested node configuration is not available", when)
        for text, count in ((less, 1), (whole, 2), (less, 1)):
            conf.write_text(text)
            restart_slurmctld(cluster)
            units_are_whole(count, "after a restart")
        job = submit(cluster, "-N8", "--rail-span=unit")
        wait_for_resources(cluster, job)
        cluster.out("scontrol", "create", "nodename=n[013-016]", *created)
        equal(allocated(cluster, job), {1}, "the unit that new nodes have completed")
        equal(log_lines(cluster, "get no advice"), [], "lines while all nodes are in the fabric")
        for action, nodes, strangers in (("create", "n017", "1 of 17 nodes are not in the fabric file and get no advice: n017"),
                                         ("create", "n018", "2 of 18 nodes are not in the fabric file and get no advice: n[017-018]"),
                                         ("delete", "n017", "1 of 17 nodes are not in the fabric file and get no advice: n018")):
            cluster.out("scontrol", action, f"nodename={nodes}", *(created if action == "create" else []))
            for _ in range(2):
                submit(cluster, "-N2", "--rail-span=unit", "--begin=now+1hour")
            equal(len(log_lines(cluster, strangers)), 1, f"lines that say {strangers!r}")
        submit(cluster, "-N2", "-w", "n018", "--rail-span=unit", "--begin=now+1hour")  # Slurm's to place, not refused


def test_nodes_come_and_go(build):
    """Nodes are taken away and added, with slurm.conf and a restart, and by scontrol: spans follow at once."""
    plugins = [build / "src" / "sched" / "slurm" / "shadow" / ".libs", build / ".libs", Userland().plugins()]
    changes_of_nodes(Options(build=build, cloud=True, settings={
        **SETTINGS, "PrivateData": "cloud", "TopologyPlugin": "topology/none", "MaxNodeCount": "32", "SelectType": "select/cons_tres", "PluginDir": ":".join(map(str, plugins))}))
