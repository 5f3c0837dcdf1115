"""The cluster itself: what every other test stands on."""

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds, skip

HELLO = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank, size, sum = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) printf("ranks %d sum %d\\n", size, sum);
    return MPI_Finalize();
}
"""


def test_jobs_run_on_every_host(cluster):
    """srun on all nodes: each answers with its own name."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: they share one host name")
    answers = cluster.out("srun", "-N16", "hostname").split()
    equal(sorted(answers), cluster.nodes, "host names")


def test_gpus_are_counted(cluster):
    """Slurm knows eight GPUs a node; under another name its daemons would silently know none."""
    equal(set(cluster.out("sinfo", "-h", "-N", "-o", "%G").split()), {"gpu:8"}, "GRES")


def test_mpi_spans_hosts(cluster):
    """An MPI program started by srun through PMIx talks across hosts."""
    (cluster.root / "hello.c").write_text(HELLO)
    cluster.out("mpicc", "-o", "hello", "hello.c")
    answer = cluster.out("srun", "-N6", "--ntasks-per-node=1", f"{cluster.root}/hello", timeout=60)
    equal(answer.splitlines()[-1], "ranks 6 sum 15", "MPI")


def test_power_off_and_on(cluster):
    """A host without power leaves nothing behind and comes back by itself."""
    victim = cluster.nodes[2]
    daemon = cluster.daemons[victim, "slurmd"]
    cluster.power_off(victim)
    check(not daemon.alive(), f"slurmd of {victim} lives on without power")
    cluster.power_on(victim)
    wait_for(lambda: cluster.run("srun", "-N1", "-w", victim, "true", timeout=10).returncode == 0, 30,
             f"{victim} to run a job again", [cluster.log(victim, "slurmd")])


def test_cable_is_cut(cluster):
    """A host whose cable is cut does not answer; plugged in again, it does."""
    if not cluster.yard.namespaces:
        skip("hosts are plain processes: there is no cable to cut")
    victim = cluster.nodes[4]
    address = cluster.yard.addresses[victim]
    reach = ["timeout", "-s", "KILL", "1", "bash", "-c", f"exec 3<>/dev/tcp/{address}/6818"]
    equal(cluster.run(*reach).returncode, 0, "reaching slurmd")
    cluster.cable(victim, False)
    check(cluster.run(*reach).returncode != 0, f"{victim} answers without a cable")
    cluster.cable(victim, True)
    wait_for(lambda: cluster.run(*reach).returncode == 0, 10, f"{victim} to answer again")


def test_failure_text_shows_the_log(cluster):
    """wait_for says what it waited for and shows the end of the logs it was given."""
    from railcluster.process import Timeout
    try:
        wait_for(lambda: False, 0.1, "a thing that never happens", [cluster.log("ctl", "slurmctld")])
    except Timeout as error:
        holds(str(error), "a thing that never happens", "text")
        holds(str(error), "the end of", "log tail")
    else:
        raise AssertionError("wait_for came back")
