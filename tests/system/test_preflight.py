"""The preflight of a job (--rail-preflight): its hosts are tried before its script begins, and who fails is left."""

from railcluster.cluster import Options
from railcluster.preflight import MBIT, TOOK, measure_by_nccl, measured_rails
from railcluster.process import wait_for
from railcluster.queue import fields, output_of, submit
from railcluster.rails import measure_by
from railcluster.testing import alone, check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "railrun", "railcheck", ".libs/spank_rail.so", ".libs/job_submit_rail.so"]

# When nothing of the preflight is left, or after a while all the same.
LISTS_STEPS = """echo ran
for second in 1 2 3 4 5 6 7 8 9; do
    squeue --steps -h -j $SLURM_JOB_ID -o %j | grep -q rail-preflight || break
    sleep 1
done
squeue --steps -h -j $SLURM_JOB_ID -o %j"""


def options(build):
    return Options(build=build, hosts_per_unit=4)


def took(text):
    found = TOOK.search(text)
    check(found is not None, f"no preflight: {text}")
    print(f"    preflight of {found[1]} hosts: {found[2]} s")
    return found


def test_wrong_words_and_off(cluster):
    """A word that is none is refused at submission; off costs nothing and says nothing."""
    refused = cluster.run("sbatch", "--rail-preflight=fast", "--wrap", "true")
    check(refused.returncode != 0, "it is accepted")
    holds(refused.stderr, "--rail-preflight=fast: must be off, quick, full or deep, or one of these three with ,net", "the error")
    check("preflight" not in output_of(cluster, "-N2", "--rail-preflight=off", script="echo ran"), "off")
    holds(cluster.run("srun", "-N1", "--rail-preflight=quick", "true").stderr,
          "--rail-preflight=quick: has no effect, only jobs of sbatch are tried before they begin", "what srun says")


@alone
def test_a_sound_gang_starts_with_little_delay(cluster):
    """Nothing is named, the order of ranks is as it was, and the script has no trace of it."""
    with measured_rails(cluster):
        text = output_of(cluster, "-N6", "-w", "n[001-006]", "--rail-preflight=quick,net", script="echo runs on $RAIL_NODELIST")
        found = took(text)
        equal((found[1], found[3]), ("6", "no host fails"), f"what it says: {text}")
        holds(text, "not tried: n[001-006] gpus: ", "what cannot be tried without NVIDIA's libraries")
        check(float(found[2]) < 10, f"it took longer than its bound: {found[2]} s")
        holds(text, "runs on n", "the script")


@alone
def test_a_slow_cable_gives_its_host_s_place_to_a_spare(cluster):
    """The job starts at once, on the others and its spare; the host stays in the allocation, and in use for others."""
    with measured_rails(cluster) as rails:
        rails.rate("n003", 1, MBIT // 8)
        text = output_of(cluster, "-N6", "-w", "n[001-006]", "--rail-spares=1", "--rail-preflight=quick,net",
                         script="echo runs on $RAIL_NODELIST, $RAIL_SPARE_NODELIST stands by; srun sh -c 'echo rank on $SLURMD_NODENAME'")
        took(text)
        holds(text, "n003 rail1: net.bandwidth:", "what is named")
        holds(text, "of the others' bandwidth", "what is named")
        holds(text, "n003 stands by", "the order")
        check("rank on n003" not in text and text.count("rank on") == 5, f"where ranks ran: {text}")
        check("drain" not in cluster.out("sinfo", "-h", "-n", "n003", "-o", "%T"), "a user's own check drained a host")


def host_of_next(cluster, *flags):
    """A host that a job with these flags gets on the idle cluster, which is the same for each of them."""
    return output_of(cluster, *flags, script="scontrol show hostnames").split()[1]


@alone
def test_a_slow_cable_without_a_spare_moves_the_job(cluster):
    """restartd requeues the job without the host, before its script has begun, and counts nothing against it; a job that asks
    for this host by name starts there, and is told why."""
    with measured_rails(cluster) as rails:
        slow = host_of_next(cluster, "-N6")
        rails.rate(slow, 1, MBIT // 8)
        job = submit(cluster, "-N6", "--rail-preflight=quick,net", "--open-mode=append", script="echo runs on $RAIL_NODELIST")
        output = cluster.root / f"{job}.out"
        seen = lambda: output.read_text() if output.exists() else ""
        logs = [output, cluster.log("ctl", "restartd")]
        wait_for(lambda: f"restartd is asked to requeue the job without {slow}" in seen(), 90, "the requeue", logs)
        wait_for(lambda: "runs on" in seen(), 120, "its script to run", logs)
        took(seen())
        starts = seen().split("restartd is asked")
        check("runs on" not in starts[0] and len(starts) == 2, f"what it says: {seen()}")
        holds(starts[1], ": no host fails", "its second preflight")
        equal((fields(cluster, job)["Restarts"], fields(cluster, job)["ExcNodeList"]), ("1", slow), "its starts, and what it excludes")
        holds(cluster.out("railctl", "explain", str(job)), f"is requeued without {slow} before it has begun", "what railctl explain says")
        holds(cluster.out("railctl", "checks"), "net.bandwidth", "what railctl checks says")

        named = output_of(cluster, "-N6", f"--nodelist={slow}", "--rail-preflight=quick,net", script="echo ran")
        holds(named, f"its user asks for {slow} by name (--nodelist): the job starts all the same", "the reason")
        holds(named, "\nran", "the script")
        check("drain" not in cluster.out("sinfo", "-h", "-n", slow, "-o", "%T"), "a user's own check drained a host")


@alone
def test_nccl_finds_the_host_that_slows_it(cluster):
    """By doubles of CUDA and NCCL, whose ring goes over the cables."""
    with measured_rails(cluster) as rails:
        measure_by_nccl(cluster, rails)
        text = output_of(cluster, "-N4", "-w", "n[001-004]", "--rail-preflight=full,nccl", script="echo runs on $RAIL_NODELIST", seconds=180)
        equal(took(text)[3], "all pass", f"sound hosts: {text}")
        rails.rate("n003", 1, MBIT // 8)
        text = output_of(cluster, "-N4", "-w", "n[001-004]", "--rail-spares=1", "--rail-preflight=full,nccl",
                         script="echo $RAIL_SPARE_NODELIST stands by", seconds=180)
        equal(took(text)[3], "n003 fails", f"what it says: {text}")
        holds(text, "n003 rail 1: nccl.all_reduce: slows the gang: with n00", "what is named")
        holds(text, "n003 stands by", "the order")
        # Its library is not there: that is said once, and no reason not to start.
        measure_by_nccl(cluster, rails, library="/nonexistent/libnccl.so.2")
        text = output_of(cluster, "-N4", "-w", "n[001-004]", "--rail-preflight=quick,nccl", script="echo ran")
        holds(text, "/nonexistent/libnccl.so.2", "the reason")
        equal(text.count("not tried: "), 1, f"how often it is said: {text}")
        holds(text, "\nran", "the script")


def test_without_railcheck_the_job_starts(cluster):
    """What cannot be tried is named, and no reason not to start."""
    (cluster.root / "lib" / "railcheck").unlink()
    try:
        text = output_of(cluster, "-N2", "--rail-preflight=quick", script="echo ran")
        holds(text, "could not be run on n", "the reason")
        holds(text, "\nran", "the script")
    finally:
        measure_by(cluster, None)


def test_a_check_that_hangs_is_given_up(cluster):
    """After ten seconds the job starts; the hosts are named, and nothing of the checks is left."""
    program = cluster.root / "lib" / "railcheck"
    program.unlink()
    program.write_text("#!/bin/sh\nexec sleep 3600\n")
    program.chmod(0o755)
    try:
        text = output_of(cluster, "-N2", "--rail-preflight=quick", script=LISTS_STEPS)
        holds(text, "no end of the checks in time, they are given up", "what is said")
        holds(text, "\nran", "the script")
        check("rail-preflight" not in text.partition("\nran")[2], f"its step is left: {text}")
    finally:
        measure_by(cluster, None)
