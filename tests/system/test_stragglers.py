"""restartd names the host that holds a job back, by the step marks of its processes; and none of a sound job."""

import json

from railcluster.cluster import Options
from railcluster.jobs import heat2d
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so", "tests/apps/heat2d"]
HOSTS = 4
SLOW = 2  # the rank that is slowed


def options(build):
    # Windows of 6 s hold one word of each process at least; a busy machine makes noise, a slow rank 40 % of the time.
    return Options(build=build, units=1, hosts_per_unit=HOSTS, rails=2,
                   railyard={"restartd.observe_only": "true", "agent.pace": '"6s"', "straggler.every": '"3s"',
                             "straggler.least_percent": "20"})


def logs(cluster, job):
    return [job.output, cluster.log("ctl", "restartd"), cluster.log("n001", "nodewatchd")]


def explained(cluster, job):
    return json.loads(cluster.out("railctl", "explain", str(job.number), "--json"))


def pace(cluster, job):
    return (explained(cluster, job)["job"] or {}).get("pace")


def timeline(cluster, job):
    return [entry["text"] for entry in explained(cluster, job)["timeline"]]


def start(cluster, *words):
    """One rank on each host, which waits for its neighbours after each step."""
    job = heat2d(cluster, HOSTS, 1000000, n=64, pace_us=20000, words=words)
    job.wait_state("RUNNING", 60)
    return job


def test_a_slow_rank_is_named_and_a_sound_job_has_none(cluster):
    """First a sound job is judged, and nothing is said; then one whose third rank is slow; then it is over."""
    cluster.agents.wait_heard()
    sound = start(cluster)
    wait_for(lambda: (pace(cluster, sound) or {}).get("verdict") == "none", 300, "the sound job to be judged", logs(cluster, sound))
    for _ in range(3):
        judged = pace(cluster, sound)["judged"]
        wait_for(lambda before=judged: pace(cluster, sound)["judged"] > before, 120, "another judgement", logs(cluster, sound))
        equal(pace(cluster, sound)["verdict"], "none", "the verdict on a sound job")
    holds(cluster.out("railctl", "explain", str(sound.number)), "held back by nothing that is seen", "railctl explain")
    check(not any("held back" in text for text in timeline(cluster, sound)), "a sound job is said to be held back")
    cluster.out("scancel", str(sound.number))
    sound.wait_state("CANCELLED", 60)

    slow = start(cluster, "--slow-rank", str(SLOW), "--slow-us", "60000")
    wait_for(lambda: (pace(cluster, slow) or {}).get("since"), 300, "the slow rank to be named", logs(cluster, slow))
    told, ranks = pace(cluster, slow), slow.ranks()
    equal(told["verdict"], "found", "the verdict")
    equal(told["host"], ranks[SLOW], f"the host of rank {SLOW} of {ranks}: {told}")
    check(told["score"] >= 0.2 and told["confidence"] >= 0.6, f"score and confidence: {told}")
    holds(told["evidence"][0], "it waits ", "the evidence")
    text = cluster.out("railctl", "explain", str(slow.number))
    holds(text, f"held back by {ranks[SLOW]}: score 0.", "railctl explain")
    noted = [line for line in timeline(cluster, slow) if line.startswith("held back by ")]
    equal(len(noted), 1, f"notes of it: {noted}")
    holds(cluster.out("railctl", "explain", ranks[SLOW]), f"a job on it: held back by {ranks[SLOW]}", "railctl explain HOST")
    # A warning: nothing is drained, nothing moved.
    status = json.loads(cluster.out("railctl", "status", "--json"))
    equal(status["incidents"], [], "incidents")
    equal(slow.seen().restarts, 0, "restarts")
    holds(cluster.out("curl", "-fsS", f"{cluster.agents.url}/metrics"), 'railyard_jobs_held_back{by="host"} 1', "metrics")
    cluster.out("scancel", str(slow.number))


def test_the_owner_reads_which_process_had_a_fault_on_a_gpu(cluster):
    """A driver's line about a process of the job is one note of the job, and accuses no host."""
    cluster.agents.wait_heard()
    job = start(cluster)
    node = job.ranks()[1]
    pid = wait_for(lambda: cluster.run("pgrep", "-x", "heat2d", host=node).stdout.split(), 60, "its process", logs(cluster, job))[0]
    wait_for(lambda: explained(cluster, job)["job"]["speaks"], 60, "the job to be heard", logs(cluster, job))
    with open(cluster.agents.hardware(node) / "kmsg", "a") as log:
        for _ in range(3):
            log.write(f"4,1,2,-;NVRM: Xid (PCI:0000:14:00): 31, pid={pid}, name=heat2d, channel 0x00000008, intr 00000000. MMU Fault\n")
    fault = f"process {pid} on {node} had XID 31 on gpu0: "
    wait_for(lambda: any(text.startswith(fault) for text in timeline(cluster, job)), 60, "the fault to be noted", logs(cluster, job))
    noted = [text for text in timeline(cluster, job) if " had XID " in text]
    equal(len(noted), 1, f"notes of it: {noted}")
    equal(json.loads(cluster.out("railctl", "status", "--json"))["incidents"], [], "incidents")
    cluster.out("scancel", str(job.number))
    job.wait_state("CANCELLED", 60)
