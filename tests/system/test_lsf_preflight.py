"""The preflight of a job of LSF (RAIL_PREFLIGHT, -a "rail(preflight=...)"): rail-lsf-run has its hosts tried before its line
begins, by railrun, which reaches the others as launchers do, and who fails is left. LSF is a double (tests/doubles/lsf)."""

import json

from railcluster.cluster import Options
from railcluster.lsf import MPIRUN, bsub
from railcluster.preflight import MBIT, TOOK, measure_by_nccl, measured_rails
from railcluster.process import wait_for
from railcluster.testing import alone, check, equal, holds

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", "railrun", "railcheck", "esub.rail", "rail-lsf-run", "rail-lsf-rsh"]
SCRIPT = "echo runs on $RAIL_NODELIST, $RAIL_SPARE_NODELIST stands by; sed 1d $RAIL_HOSTFILE | uniq"


def options(build):
    return Options(build=build, hosts_per_unit=4, lsf=True)


def gang(cluster, hosts, railcheck=None, **flags):
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    script = folder / "says.sh"
    script.write_text(f"#!/bin/sh\n{SCRIPT}\n")
    script.chmod(0o755)
    tried = {"RAIL_PREFLIGHT": "quick,net", "RAIL_RAILCHECK": str(railcheck or cluster.root / "lib" / "railcheck")}
    return bsub(cluster, hosts, str(script), env={**tried, **flags})


def ended(cluster, job, seconds=120):
    """What it printed, which LSF brings at its end."""
    job.wait("DONE", seconds)
    wait_for(lambda: job.output.exists() and "runs on" in job.output.read_text(), 20, "its output", job.logs())
    text = job.output.read_text()
    if found := TOOK.search(text):
        print(f"    preflight of {found[1]} hosts: {found[2]} s")
    return text, found


def test_wrong_words_are_refused_and_off_costs_nothing(cluster):
    cluster.agents.wait_heard()
    refused = cluster.run("bsub", "-a", "rail", "-q", "gang", "-n", "8", "-R", "span[ptile=8]", "true", env={"RAIL_PREFLIGHT": "fast"})
    check(refused.returncode != 0, "it is accepted")
    holds(refused.stderr, "RAIL_PREFLIGHT in the environment: --rail-preflight=fast: must be off, quick, full or deep", "the error")
    text, found = ended(cluster, gang(cluster, 2, RAIL_PREFLIGHT="off"))
    check(found is None, f"it is tried: {text}")


@alone
def test_a_slow_cable_gives_its_host_s_place_to_a_spare(cluster):
    """Sound hosts change nothing. A host with a slow cable stands by, for the line and for its launchers."""
    cluster.agents.wait_heard()
    with measured_rails(cluster) as rails:
        text, found = ended(cluster, gang(cluster, 8, RAIL_SPARES="1"))
        equal((found and (found[1], found[3])), ("8", "no host fails"), f"what it says: {text}")
        holds(text, "not tried: ", "what cannot be tried without NVIDIA's libraries")
        rails.rate("n003", 1, MBIT // 8)
        text, found = ended(cluster, gang(cluster, 8, RAIL_SPARES="1"))
        equal((found and found[3]), "n003 fails", f"what it says: {text}")
        holds(text, "n003 rail1: net.bandwidth:", "what is named")
        line = next(line for line in text.splitlines() if line.startswith("runs on"))
        holds(line, "n003 stands by", "the order")
        check("\nn003" not in text.partition("runs on")[2], f"the host file: {text}")
        equal(cluster.lsf.hosts()["n003"], "ok", "a user's own check closed a host")


@alone
def test_a_slow_cable_without_a_spare_moves_the_job(cluster):
    """restartd requeues it without the host before its line has begun."""
    cluster.agents.wait_heard()
    with measured_rails(cluster) as rails:
        before = gang(cluster, 6, RAIL_PREFLIGHT="off")
        ended(cluster, before)
        slow = before.ranks()[1]  # the next one gets the same hosts
        rails.rate(slow, 1, MBIT // 8)
        job = gang(cluster, 6)
        text, _ = ended(cluster, job)
        check(slow not in job.ranks(), f"{slow} is not among {job.ranks()}")
        check(slow not in text.rpartition("runs on")[2], f"where it ran: {text}")
        notes = json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))["timeline"]
        holds(" | ".join(note["text"] for note in notes), f"is requeued without {slow} before it has begun", "what railctl explain says")
        equal(cluster.lsf.hosts()[slow], "ok", "a user's own check closed a host")


@alone
def test_nccl_finds_the_host_that_slows_it(cluster):
    """By doubles of CUDA and NCCL, started by mpirun."""
    cluster.agents.wait_heard()
    with measured_rails(cluster) as rails:
        measure_by_nccl(cluster, rails)
        rails.rate("n003", 1, MBIT // 8)
        text, found = ended(cluster, gang(cluster, 8, RAIL_SPARES="1", RAIL_PREFLIGHT="full,nccl", **MPIRUN), 240)
        equal((found and found[3]), "n003 fails", f"what it says: {text}")
        holds(text, "n003 rail 1: nccl.all_reduce: slows the gang: with n00", "what is named")
        holds(text, "n003 stands by", "the order")


def test_without_railcheck_the_job_starts(cluster):
    cluster.agents.wait_heard()
    text, _ = ended(cluster, gang(cluster, 2, railcheck="/nonexistent/railcheck"))
    holds(text, "/nonexistent/railcheck could not be run on n", "the reason")


def test_a_check_that_hangs_is_given_up(cluster):
    """After ten seconds the job starts, and nothing of the checks is left on its hosts."""
    cluster.agents.wait_heard()
    program = cluster.root / "lib" / "railcheck-hangs"
    program.write_text("#!/bin/sh\nexec sleep 3606\n")
    program.chmod(0o755)
    text, _ = ended(cluster, gang(cluster, 2, railcheck=program))
    holds(text, "no end of the checks in time, they are given up", "what is said")
    gone = lambda: all("sleep 3606" not in cluster.run("ps", "-eo", "args", host=node).stdout for node in cluster.nodes)
    wait_for(gone, 30, "its checks to be gone")
