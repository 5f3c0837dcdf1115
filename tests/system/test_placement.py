"""Where gangs go: select_rail inside a real slurmctld."""

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = [".libs/select_rail.so", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]


def occupy(cluster, nodes):
    """Fills nodes with one job each, so that they end apart."""
    for node in nodes:
        cluster.out("sbatch", "--parsable", "-N1", "-w", node, "--wrap", "sleep 600")
    wait_for(lambda: all(cluster.node_states()[node].startswith("alloc") for node in nodes), 20, f"{nodes} to be busy",
             [cluster.log("ctl", "slurmctld")])


def submit(cluster, nodes, *flags):
    return cluster.out("sbatch", "--parsable", f"-N{nodes}", *flags, "--wrap", "sleep 600")


def placed(cluster, number, seconds=15):
    """The nodes of a job once it runs."""
    names = wait_for(lambda: cluster.out("squeue", "-h", "-j", number, "-t", "R", "-o", "%N"), seconds,
                     f"job {number} to run", [cluster.log("ctl", "slurmctld")])
    return cluster.out("scontrol", "show", "hostnames", names).split()


def test_gang_stays_in_one_unit_on_a_fragmented_cluster(cluster):
    """Unit 1 has five free nodes, unit 2 six: a gang of six goes to unit 2 alone."""
    first, second = cluster.units
    occupy(cluster, [first[1], first[4], first[6], second[0], second[5]])
    number = submit(cluster, 6, "--rail-span=unit")
    nodes = placed(cluster, number)
    equal(nodes, [node for node in second if node not in (second[0], second[5])], "nodes")


def test_gang_waits_for_a_unit(cluster):
    """Ten nodes are free, five in each unit: a gang of six that must stay in a unit waits; it runs when one node ends."""
    first, second = cluster.units
    occupy(cluster, [*first[:3], *second[5:]])
    number = submit(cluster, 6, "--rail-span=unit")
    spread = submit(cluster, 4)
    check(len(placed(cluster, spread)) == 4, "a job that asks for nothing runs beside")
    equal(cluster.out("squeue", "-h", "-j", number, "-o", "%T"), "PENDING", "the gang")
    blocked = cluster.out("squeue", "-h", "-j", spread, "-o", "%N")
    cluster.out("scancel", spread)
    busy = cluster.out("squeue", "-h", "-t", "R", "-o", "%i %N").splitlines()
    cluster.out("scancel", next(line.split()[0] for line in busy if line.split()[1] == second[5]))
    nodes = placed(cluster, number, 40)
    equal(nodes, [*second[:5], second[5]], f"nodes (the job beside had {blocked})")


def test_gang_without_span_takes_the_fewest_units(cluster):
    """A gang that asks for nothing still lands in one unit where one fits it."""
    occupy(cluster, [cluster.units[0][2], cluster.units[0][3]])
    nodes = placed(cluster, submit(cluster, 8, "--rail-span=fabric"))
    equal(nodes, cluster.units[1], "nodes")


def test_gang_larger_than_a_unit_is_refused_at_submit(cluster):
    result = cluster.run("sbatch", "-N12", "--rail-span=unit", "--wrap", "true")
    check(result.returncode != 0, f"twelve nodes in a unit of eight were taken: {result.stdout}")
    for part in ("12", "unit", "8"):
        holds(result.stderr, part, "sbatch's message")


def test_whole_cluster_runs_as_one_gang(cluster):
    equal(placed(cluster, submit(cluster, 16, "--rail-span=pod")), cluster.nodes, "nodes")


def test_plan_says_what_slurm_does(cluster):
    """railplan with sinfo's own words as state chooses the nodes that slurmctld chooses."""
    first, second = cluster.units
    occupy(cluster, [first[0], second[1], second[2]])
    state = cluster.out("sinfo", "-h", "-N", "-o", "%N %T") + "\n"
    import json
    plan = json.loads(cluster.out("railplan", "place", "--fabric", str(cluster.agents.fabric), "--state", "-", "--nodes",
                                  "6", "--rail-span", "unit", "--json", stdin=state))
    equal(placed(cluster, submit(cluster, 6, "--rail-span=unit")), plan["nodes"], "nodes")
