"""The order of ranks, and spares: what srun and mpirun make of it on a cluster whose node table interleaves units."""

import contextlib
import json
import shutil

from railcluster.cluster import MPI
from railcluster.process import wait_for
from railcluster.queue import output_of
from railcluster.testing import check, equal, holds, skip

NEEDS = ["railtopo", ".libs/spank_rail.so"]
HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, length, sum = 0;
    char host[MPI_MAX_PROCESSOR_NAME];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    printf("%d %s %d %d\\n", rank, host, size, sum);
    return MPI_Finalize();
}
"""


@contextlib.contextmanager
def interleaved(cluster):
    """Every other node of Slurm's table is in the other unit; yields each node's unit."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they share one host name")
    path = cluster.agents.fabric
    before = path.read_bytes()
    document = json.loads(before)
    count, per_unit = len(document["hosts"]), cluster.options.hosts_per_unit
    units = {}
    for index, host in enumerate(document["hosts"]):
        unit, place = divmod(index, per_unit)
        host["name"] = cluster.nodes[place * (count // per_unit) + unit]
        units[host["name"]] = unit
    path.write_text(json.dumps(document))
    try:
        yield units
    finally:
        path.write_bytes(before)


def crossings(units, hosts):
    """Edges of a ring over these hosts that leave a unit."""
    return sum(units[host] != units[hosts[(index + 1) % len(hosts)]] for index, host in enumerate(hosts))


def script_output(cluster, script, *flags, nodes="16", env=None):
    """What a batch job prints; over all nodes of the cluster unless told otherwise."""
    return output_of(cluster, "-N", nodes, *flags, script=script, env=env)


def ranks(text):
    """Hosts by rank, from lines "RANK HOST"."""
    lines = [line.split()[:2] for line in text.splitlines() if line[:1].isdigit()]
    return [host for _, host in sorted((int(rank), host) for rank, host in lines)]


HOSTS = "sh -c 'echo $SLURM_PROCID $(hostname)'"


def test_a_ring_crosses_units_once_each(cluster):
    """srun's ranks leave each of k units once, where Slurm's own order leaves one at every step."""
    with interleaved(cluster) as units:
        text = script_output(cluster, f"echo $RAIL_NODELIST $RAIL_NUM_NODES; srun {HOSTS}; echo stock; srun -m block {HOSTS}")
        ours, stock = text.split("stock\n")
        check(len(ranks(ours)) == len(ranks(stock)) == 16, text)
        equal((crossings(units, ranks(ours)), crossings(units, ranks(stock))), (2, 16), "edges that cross units")
        equal(ranks(ours)[0], cluster.nodes[0], "the host of rank 0, which scripts take for MASTER_ADDR")
        equal(cluster.out("scontrol", "show", "hostnames", text.split()[0]).split(), ranks(ours), "RAIL_NODELIST")
        text = script_output(cluster, f"srun {HOSTS}", "--ntasks-per-node=3")
        equal([ranks(text)[index] for index in range(0, 48, 3)], ranks(ours), "hosts of three ranks each")
        equal(crossings(units, ranks(text)), 2, "edges that cross units, of three ranks a host")
        shown = cluster.out("salloc", "-Q", "-N16", "sh", "-c", f"srun {HOSTS}", timeout=60)
        equal(ranks(shown), ranks(ours), "salloc's order")
        equal(ranks(script_output(cluster, f"srun {HOSTS}", "--rail-order=none")), cluster.nodes, "--rail-order=none")


def test_steps_are_laid_out_as_by_slurm(cluster):
    """The hosts' order is all that changes: as many tasks go to the first, second … host; other steps stay as they are."""
    handed = ["-n16", "-n48", "-n50", "-N16 -n20", "-n20 -c4", "--ntasks-per-node=2", "-N16 --ntasks-per-node=2 -l"]
    stock = ["-n1", "-n4", "-N1", "-N2", "-N4 -n8", "-w n003 -N1 -n1", "-x n001 -N2", "-m cyclic -n20", "-r2 -N2", "-n6 --exact"]
    # slurmctld learns of a step's end after srun does, and a step with --exact goes around one that it takes to run.
    alone = "while squeue -s -h -j $SLURM_JOB_ID -o %i | grep -q '[.][0-9]'; do sleep 0.1; done;"
    show = "".join(f"{alone} echo '= {words}'; srun {words} {HOSTS} 2>/dev/null | sed 's/^ *[0-9]*: //';" for words in handed + stock)
    with interleaved(cluster):
        seen = {}
        for order in ("ring", "none"):
            parts = script_output(cluster, show, f"--rail-order={order}").split("= ")[1:]
            seen[order] = {part.split("\n", 1)[0]: ranks(part.split("\n", 1)[1]) for part in parts}
        equal(set(seen["ring"]), set(handed + stock), "steps that ran")
        for words in stock:
            equal(seen["ring"][words], seen["none"][words], f"srun {words}")
        for words in handed:
            check(seen["ring"][words] != seen["none"][words], f"srun {words} is in Slurm's order")
            counts = [[hosts.count(host) for host in dict.fromkeys(hosts)]
                      for hosts in (seen["ring"][words], seen["none"][words])]
            equal(counts[0], counts[1], f"tasks by host of srun {words}")


def test_spares_stand_by(cluster):
    """Spares get no ranks; the job's script knows them, and a step over all nodes has them last."""
    with interleaved(cluster):
        script = f"echo $RAIL_NODELIST $RAIL_SPARE_NODELIST; srun {HOSTS}; echo all; srun -N16 {HOSTS}; srun -N2 -n2 -w $RAIL_SPARE_NODELIST hostname"
        text = script_output(cluster, script, "--rail-spares=2", "--rail-segment=7")
        lists = [cluster.out("scontrol", "show", "hostnames", words).split() for words in text.split("\n", 1)[0].split()]
        equal((len(lists[0]), len(lists[1])), (14, 2), "ranks and spares")
        first, whole = text.split("all\n")
        equal(ranks(first), lists[0], "hosts of ranks")
        equal(ranks(whole), lists[0] + lists[1], "hosts of a step over all nodes")
        equal(sorted(whole.split("\n")[-3:-1]), lists[1], "a step on the spares")
        text = script_output(cluster, f"srun {HOSTS}", "--rail-spares=2", "--ntasks-per-node=2", env={"RAIL_ORDER": "tree"})
        equal((len(ranks(text)), len(set(ranks(text)))), (28, 14), "ranks and their hosts")


def test_steps_run_side_by_side(cluster):
    """Two steps on half of the nodes each share none: what to pick is left to Slurm."""
    with interleaved(cluster):
        step = "srun -N8 -n8 --ntasks-per-node=1 sh -c 'hostname; sleep 2'"
        text = script_output(cluster, f"{step} & {step} & wait")
        equal(sorted(text.split()), cluster.nodes, "hosts of both steps")


def test_mpi_runs_in_order(cluster):
    """An MPI program's ranks, started by srun through PMIx and by mpirun, sit on the hosts in our order and talk."""
    if not shutil.which("mpirun") or not shutil.which("mpicc"):
        skip("Open MPI is not installed")
    (cluster.root / "order.c").write_text(HELLO)
    cluster.out("mpicc", "-o", "order", "order.c")
    env = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    program = f"{cluster.root}/order"
    with interleaved(cluster):
        for launch in ("srun", "mpirun"):
            text = script_output(cluster, f"echo $RAIL_NODELIST; {launch} {program}", "--ntasks-per-node=1", "--rail-spares=10",
                                 env=env)
            wanted = cluster.out("scontrol", "show", "hostnames", text.split()[0]).split()
            equal(ranks(text), wanted, f"{launch}'s hosts")
            check(wanted != sorted(wanted), f"the order is Slurm's own: {wanted}")
            equal({line.split()[2:] == ["6", "15"] for line in text.splitlines()[1:]}, {True}, f"{launch}'s size and sum: {text}")
        # What mpirun's own words say of hosts and mapping counts.
        text = script_output(cluster, f"mpirun --map-by node -np 16 {program}; mpirun -np 2 --host n004,n003 {program}", env=env)
        equal(ranks("\n".join(line for line in text.splitlines() if " 16 " in line)), cluster.nodes, "mpirun --map-by node")
        equal(sorted(ranks("\n".join(line for line in text.splitlines() if " 2 " in line))), ["n003", "n004"], "mpirun --host")


def test_nothing_is_left_behind(cluster):
    """The hostfile goes with its job, and a job that is submitted by another has an order of its own."""
    with interleaved(cluster):
        child, job = cluster.root / "child.out", cluster.root / "child.sh"
        job.write_text(f"#!/bin/sh\nenv\nsrun {HOSTS}\n")
        script = (f"cat $RAIL_HOSTFILE; stat -c 'mode %U %a' $RAIL_HOSTFILE; "
                  f"sbatch -Q -N2 --ntasks-per-node=1 -w n001,n003 -o {child} {job}")
        text = script_output(cluster, script, "--ntasks-per-node=2")
        hosts = [line for line in text.splitlines() if line.startswith("n")]
        equal((len(hosts), hosts[0], hosts[1]), (32, "n001", "n001"), "lines of the hostfile")
        holds(text, "mode root 644", "hostfile")
        wait_for(lambda: not cluster.out("squeue", "-h"), 30, "the jobs to end")
        folder = cluster.root / "hosts" / cluster.nodes[0] / "run" / "railyard"
        wait_for(lambda: not list(folder.glob("job-*")), 10, "the files of the jobs to go")
        text = "\n".join(line for line in child.read_text().splitlines() if line.partition("=")[0] not in MPI) + "\n"
        holds(text, "RAIL_NODELIST=n[001,003]\n", "the child's environment")
        for other in ("OMPI_MCA_", "RAIL_LAUNCHERS", "SLURM_HOSTFILE", "RAIL_SPARE_NODELIST"):
            check(other not in text, f"{other} of the parent reaches the child:\n{text}")
        equal(ranks(text), ["n001", "n003"], "the child's ranks")


def test_a_step_within_a_step(cluster):
    """A rank of an ordered step may start steps as ever."""
    with interleaved(cluster):
        inner = "srun --overlap -N1 -n1 -w n005 hostname"
        text = script_output(cluster, f"srun sh -c 'if [ $SLURM_PROCID = 3 ]; then env | grep -c ORDERED; {inner}; fi'")
        equal(text.split(), ["0", "n005"], "what rank 3 sees and starts")


def test_without_a_fabric_slurm_orders(cluster):
    """No fabric, a broken one, or hosts it does not know: ranks are in Slurm's order, without a word."""
    with interleaved(cluster):
        path = cluster.agents.fabric
        good = path.read_bytes()
        path.write_text('{"railyard_fabric": 1')
        text = script_output(cluster, f"env | grep ^RAIL_NODELIST; srun {HOSTS} 2>&1")
        equal(ranks(text), cluster.nodes, "order with a broken fabric")
        equal(len(text.splitlines()), 16, f"lines:\n{text}")
        document = json.loads(good)
        document["hosts"][3]["name"] = "elsewhere"
        path.write_text(json.dumps(document))
        text = script_output(cluster, f"srun {HOSTS}", "--rail-spares=1")
        equal(ranks(text), cluster.nodes[:15], "order with a host that the fabric does not know")
