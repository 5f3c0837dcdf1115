"""Files that go missing, break, change or disagree under slurmctld: what can be judged is judged, the rest is Slurm's.

test_slurm2411_faults.py runs some of them on the other release.
"""

import contextlib
import re
import subprocess

from railcluster.process import wait_for
from railcluster.queue import (fill, leave_five_free, log_lines, refused, restart_slurmctld, running_on, state,
                               stop_slurmctld, submit, told, units_of, wait_for_resources, wait_state)
from railcluster.testing import check, equal, holds
from test_wishes import NEEDS, options  # noqa: F401

JUDGES = 2  # the plugins that read the files: the one that chooses nodes, and job_submit


def chooser(cluster):
    return "topology" if cluster.options.userland else "select"


@contextlib.contextmanager
def kept(cluster, *paths):
    """Puts files back as they were, and waits until slurmctld has them again."""
    before = {path: path.read_bytes() for path in paths}
    try:
        yield
    finally:
        read = len(log_lines(cluster, f"{chooser(cluster)}/rail: fabric "))
        for path, content in before.items():
            path.write_bytes(content)
        if not cluster.alive("ctl", "slurmctld"):
            cluster.start_slurmctld()
        if cluster.agents.fabric in before:
            wait_for(lambda: len(log_lines(cluster, f"{chooser(cluster)}/rail: fabric ")) > read, 10, "the file to be read again")
        wait_for(lambda: "has 8" in cluster.run("sbatch", "-N9", "--rail-span=unit", "--wrap", "true").stderr, 10,
                 "the former fabric to be in use", [cluster.log("ctl", "slurmctld")])


def store(cluster, shape):
    """Replaces the fabric at one stroke, as railtopo does, and waits until all who read it in slurmctld have."""
    before = len(log_lines(cluster, f"{chooser(cluster)}/rail: fabric "))
    build = cluster.options.build
    subprocess.run([build / "railtopo", "synth", shape, "--out", cluster.agents.fabric], check=True, stdout=subprocess.DEVNULL)
    log = cluster.log("ctl", "slurmctld")
    wait_for(lambda: len(log_lines(cluster, f"{chooser(cluster)}/rail: fabric ")) > before, 10, "the fabric to be read", [log])
    # job_submit reads it in its own time and tells of no good one: what it refuses shows it.
    unit = int(re.search(r"hosts=(\d+)", shape)[1])
    probe = ("sbatch", "-H", f"-N{unit + 1}", "--rail-span=unit", "--wrap", "true")
    wait_for(lambda: f"unit of this fabric has {unit}:" in cluster.run(*probe).stderr, 10, f"units of {unit} at submission", [log])


def churn(cluster):
    """Jobs and scheduling cycles, each a chance to repeat a line."""
    cluster.out("srun", "-N2", "-t1", "--rail-span=unit", "true")


def test_a_removed_fabric_keeps_the_last(cluster):
    """Without its file the fabric goes on as it was, told once; a file of a version to come is told as well."""
    path = cluster.agents.fabric
    with kept(cluster, path):
        leave_five_free(cluster)
        with told(cluster, "the last good fabric stays in use", JUDGES) as now:
            path.unlink()
            now()
            wait_for_resources(cluster, submit(cluster, "-N6", "--rail-span=unit"))
            churn(cluster)
        with told(cluster, "the last good fabric stays in use", JUDGES) as now:
            path.write_text('{"version": 99, "hosts": []}')
            now()
            holds(refused(cluster, "sbatch", "-N9", "--rail-span=unit", "--wrap", "true"), "has 8", "what submission knows")
            churn(cluster)


def test_another_fabric_is_taken_up(cluster):
    """A good file in place of a good one counts for submission and for placement, without a restart."""
    with kept(cluster, cluster.agents.fabric):
        store(cluster, "pods=2 units=2 hosts=4 rails=8 rate=4xHDR")
        fill(cluster, cluster.nodes[:2])
        nodes = running_on(cluster, submit(cluster, "-N3", "--rail-span=unit"))
        check(nodes in [cluster.nodes[at:at + 3] for at in (4, 8, 12)], f"nodes {nodes}")


def test_nodes_outside_the_fabric_are_slurms(cluster):
    """One line names the nodes that the fabric does not have; a job that needs one of them is placed by Slurm alone."""
    with kept(cluster, cluster.agents.fabric):
        with told(cluster, "2 of 16 nodes are not in the fabric file and get no advice: n[015-016]", 1) as now:
            store(cluster, "pods=1 units=2 hosts=7 rails=8 rate=4xHDR")
            now()
            equal(running_on(cluster, submit(cluster, "-N2", "-w", "n015", "--rail-span=unit", "-t1")), ["n009", "n015"],
                  "the stock tree's choice: by topology.conf these are in one unit")
            equal(running_on(cluster, submit(cluster, "-N7", "--rail-span=unit")), cluster.nodes[:7], "a unit as the file has it")
            holds(refused(cluster, "sbatch", "-N15", "--rail-span=fabric", "--wrap", "true"),
                  "--rail-span=fabric: 15 nodes never fit, the whole fabric has 14", "more than the fabric has")
            equal(running_on(cluster, submit(cluster, "-N7")), ["n008", *cluster.nodes[9:14], "n016"], "a job that asks for nothing")
        cluster.out("scancel", "--user=root")
        wait_for(lambda: not cluster.out("squeue", "-h"), 20, "the jobs to go")
        equal(len(running_on(cluster, submit(cluster, "-N16"))), 16, "a job over all nodes")


def test_hosts_that_slurm_lacks_are_passed_over(cluster):
    """Hosts of the fabric without a node in Slurm are no candidates, and no line is wasted on them."""
    with kept(cluster, cluster.agents.fabric), told(cluster, "get no advice", 0):
        store(cluster, "pods=1 units=2 hosts=9 rails=8 rate=4xHDR")  # the second unit's last two are not in slurm.conf
        equal(running_on(cluster, submit(cluster, "-N9", "--rail-span=unit")), cluster.nodes[:9], "the unit that Slurm has whole")
        equal(running_on(cluster, submit(cluster, "-N5", "--rail-span=unit")), cluster.nodes[9:14], "the unit it has in part")
        holds(refused(cluster, "salloc", "-N9", "-x", "n001", "--rail-span=unit", "true"),
              "Requested node configuration is not available", "nine of a unit that has seven in Slurm")


def test_a_broken_configuration_keeps_the_former(cluster):
    """railyard.conf broken under a running slurmctld: a line from each plugin with file and line, spans are kept."""
    conf = cluster.agents.conf
    with kept(cluster, conf), told(cluster, "railyard.conf is sound again", 1) as sound:
        good = conf.read_text()
        before = len(log_lines(cluster, "the former configuration stays"))
        leave_five_free(cluster)
        with told(cluster, "railyard.conf:1: ", JUDGES) as now:
            conf.write_text(f'fabrik = "/none"\n{good}')
            now()
            cluster.out("scontrol", "reconfigure")
            job = submit(cluster, "-N6", "--rail-span=unit")
            wait_for_resources(cluster, job)
            churn(cluster)
        equal(len(log_lines(cluster, "the former configuration stays")) - before, JUDGES, "what the lines go on to say")
        conf.write_text(good)
        sound()
        equal(state(cluster, job), "PENDING", "the job that waits for a unit")


def test_started_with_a_broken_configuration(cluster):
    """slurmctld starts, says once that Slurm chooses alone, and takes up the mended file by itself."""
    conf = cluster.agents.conf
    with kept(cluster, conf):
        good = conf.read_text()
        conf.write_text("[placement\n")
        with told(cluster, "nodes are chosen by Slurm alone until this is mended", JUDGES):
            restart_slurmctld(cluster)
            leave_five_free(cluster)
            job = submit(cluster, "-N6", "--rail-span=unit")
            equal(units_of(cluster, running_on(cluster, job)), {0, 1}, "units by Slurm alone")
            cluster.out("scancel", job)
            wait_state(cluster, job, "CANCELLED")
        before = len(log_lines(cluster, f"{chooser(cluster)}/rail: fabric "))
        conf.write_text(good)
        wait_for(lambda: len(log_lines(cluster, f"{chooser(cluster)}/rail: fabric ")) > before, 10, "the file to be read")
        wait_for_resources(cluster, submit(cluster, "-N6", "--rail-span=unit"))


@contextlib.contextmanager
def without(cluster, name):
    """A plugin that is gone from PluginDir, with slurmctld stopped."""
    path = cluster.root / "plugins" / name
    target = path.readlink()
    stop_slurmctld(cluster)
    path.unlink()
    try:
        yield
    finally:
        path.symlink_to(target)
        if not cluster.alive("ctl", "slurmctld"):
            cluster.start_slurmctld()


def test_a_missing_plugin_stops_slurmctld_with_its_name(cluster):
    """slurm.conf asks for a plugin that is not there: Slurm itself refuses to start and names it; with it all is as before."""
    job = submit(cluster, "-N2", "--rail-span=unit")
    nodes = running_on(cluster, job)
    for name, part in ((f"{chooser(cluster)}_rail.so", f"{chooser(cluster)}/rail"), ("job_submit_rail.so", "job_submit/rail")):
        with without(cluster, name):
            before = len(log_lines(cluster, "fatal:"))
            daemon = cluster.spawn("ctl", "slurmctld", cluster.slurm.slurmctld(), own_log=True)
            wait_for(lambda: not daemon.alive(), 20, f"slurmctld to give up without {name}", [daemon.log])
            said = "\n".join([*log_lines(cluster, "fatal:")[before:], *log_lines(cluster, "error:")])
            holds(said, part, f"the log without {name}")
            check(len(log_lines(cluster, "fatal:")) > before, "no fatal line")
    equal((state(cluster, job), running_on(cluster, job)), ("RUNNING", nodes), "the job that ran meanwhile")


def test_commands_without_the_spank_plugin(cluster):
    """The spank plugin is optional: without it jobs go on, and its flags are unknown words."""
    path = cluster.root / "plugins" / "spank_rail.so"
    target = path.readlink()
    path.unlink()
    try:
        result = cluster.run("sbatch", "-N2", "--rail-span=unit", "--wrap", "true")
        check(result.returncode != 0, "--rail-span was taken")
        holds(result.stderr, "rail-span", "sbatch's message")
        equal(cluster.run("srun", "-N2", "true").returncode, 0, "srun without the plugin")
    finally:
        path.symlink_to(target)
