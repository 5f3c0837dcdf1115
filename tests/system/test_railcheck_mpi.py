"""railcheck mpi and railcheck nccl between the hosts of a cluster, with the Open MPI that is installed and doubles of CUDA and
NCCL: a cable that is slow, or late, is found by its host and rail, by runs of parts of the gang. Rails are cables between
namespaces that reach nothing else."""

import json
import shutil

from railcluster.rails import BUILD, Rails, options_of
from railcluster.testing import alone, check, equal, holds, skip

NEEDS = ["railcheck", "tests/doubles/libcuda.so.1", "tests/doubles/libnccl.so.2"]
HOSTS, RAILS, MBIT = 5, 2, 50
options = options_of(HOSTS)


def rails_of(cluster):
    if shutil.which("mpirun") is None:
        skip("Open MPI is not installed")
    return Rails(cluster, RAILS, MBIT).lay()


def srun(cluster, *words, tasks=RAILS, hosts=HOSTS, env=(), over="mpi"):
    # All processes share this machine's processors, and wait for each other by looking.
    return cluster.run("env", "OMPI_MCA_mpi_yield_when_idle=1", *env, "srun", "--mpi=pmix", f"-N{hosts}", f"--ntasks-per-node={tasks}",
                       "--kill-on-bad-exit=1", str(BUILD[0] / "railcheck"), over, *words, timeout=150)


def searched(cluster, rails, test, *words, least=30, **more):
    """The exit status, and what is told of one test."""
    answer = srun(cluster, "--json", f"--devices={rails.names}", f"--test={test}", "--size=256K", "--time=50ms", "--deadline=120s",
                  f"--least={least}", *words, **more)
    try:
        found, = json.loads(answer.stdout)["searches"]
    except (ValueError, KeyError) as error:
        raise AssertionError(f"railcheck mpi: exit {answer.returncode}: {answer.stdout[:500]}{answer.stderr[-2000:]}") from error
    print(f"    {test}: {len(found['runs'])} runs in {found['seconds']:.1f} s: {found['reached']} of {found['sound']} {found['unit']}")
    return answer.returncode, found


@alone
def test_a_slow_cable_is_found_by_all_reduces(cluster):
    """Between sound hosts one run says that nothing is slow; one throttled cable is found by its host and rail, a throttled
    rail as such."""
    rails = rails_of(cluster)
    try:
        status, sound = searched(cluster, rails, "all_reduce")
        equal((status, sound["says"], len(sound["runs"]), sound["hosts"]), (0, [], 1, cluster.nodes), f"sound hosts: {sound}")
        rails.rate("n003", 1, MBIT // 8)
        status, slow = searched(cluster, rails, "all_reduce")
        equal((status, slow["slow"], slow["slow_rails"]), (1, [{"host": "n003", "rails": [1]}], []), f"a slow cable: {slow['says']}")
        check(len(slow["runs"]) <= 2 * 3 + 4 + RAILS, f"it took {len(slow['runs'])} runs")
        for node in cluster.nodes:
            rails.rate(node, 1, MBIT // 4)
        status, slow = searched(cluster, rails, "all_reduce", least=50)
        equal((status, slow["slow"], slow["slow_rails"]), (1, [], [1]), f"a slow rail: {slow['says']}")
    finally:
        rails.remove()


@alone
def test_a_late_cable_is_found_by_barriers(cluster):
    rails = rails_of(cluster)
    try:
        rails.delay("n005", 1)
        # Ten processes on two processors are late now and then, but not ten times as late.
        status, late = searched(cluster, rails, "barrier", "--times=4", least=10)
        equal((status, late["slow"]), (1, [{"host": "n005", "rails": [1]}]), f"a late cable: {late['says']}")
    finally:
        rails.remove()


def nccl(cluster, rails, test, *env):
    """By the doubles: GPUs whose memory is the host's, a ring of TCP over the rail that NCCL_SOCKET_IFNAME names."""
    gpus = cluster.root / "gpus"
    gpus.write_text(f"count={RAILS}\nmem_mib=16\n")
    doubles = BUILD[0] / "tests" / "doubles"
    return searched(cluster, rails, test, f"--library={doubles}/libcuda.so.1", f"--library={doubles}/libnccl.so.2", over="nccl",
                    env=(f"RAIL_CUDA_STATE={gpus}", *env))


@alone
def test_a_slow_cable_is_found_by_nccl(cluster):
    """The same search over NCCL; a sum that one GPU spoils is an error of the run, and found likewise."""
    rails = rails_of(cluster)
    try:
        status, sound = nccl(cluster, rails, "all_gather")
        equal((status, sound["says"], len(sound["runs"])), (0, [], 1), f"sound hosts: {sound}")
        # Hosts that share a GPU, as those of one machine may: NCCL refuses it to two that it takes for one host.
        status, sound = nccl(cluster, rails, "all_gather", "RAIL_NCCL_ONE_GPU=1")
        equal((status, sound["says"]), (0, []), f"hosts on one GPU: {sound}")
        rails.rate("n002", 0, MBIT // 8)
        status, slow = nccl(cluster, rails, "all_reduce")
        equal((status, slow["test"], slow["slow"]), (1, "nccl.all_reduce", [{"host": "n002", "rails": [0]}]), f"a slow cable: {slow['says']}")
    finally:
        rails.remove()
    answer = srun(cluster, "--library=/nonexistent/libcuda.so.1", "--devices=lo", tasks=1, hosts=1, over="nccl")
    holds(answer.stderr, "/nonexistent/libcuda.so.1", "no CUDA")


@alone
def test_a_wrong_sum_is_told(cluster):
    rails = rails_of(cluster)
    try:
        status, wrong = nccl(cluster, rails, "all_reduce", "RAIL_NCCL_WRONG=1")
        equal(status, 1, "the exit status")
        check(any("is wrong" in run.get("error", "") for run in wrong["runs"]), f"the error: {wrong['runs']}")
    finally:
        rails.remove()


def test_what_cannot_be_measured_is_named(cluster):
    """A device that a host lacks, processes that are not one a rail, no MPI, and a time that is over."""
    if shutil.which("mpirun") is None:
        skip("Open MPI is not installed")
    answer = srun(cluster, "--devices=lo", hosts=2)
    holds(answer.stderr, "2 processes on a host, and 1 devices: a process a rail is started", "too few devices")
    answer = srun(cluster, "--library=/nonexistent/libmpi.so.40", "--devices=lo", tasks=1, hosts=1)
    holds(answer.stderr, "--library names its libmpi", "no MPI")
    answer = cluster.run(str(BUILD[0] / "railcheck"), "mpi")
    equal(answer.returncode, 2, "the exit status without a launcher")
    holds(answer.stderr, "neither Open MPI's mpirun nor srun has started this", "without a launcher")
    answer = srun(cluster, "--devices=lo", "--deadline=1ms", tasks=1, hosts=2)
    holds(answer.stderr, "not done within 1ms", "a time that is over")
