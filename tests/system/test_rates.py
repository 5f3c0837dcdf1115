"""What restartd learns from a fault: rates with their evidence, the interval that follows, and who failed."""

import json

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

from test_restart import check_moved, gang

NEEDS = ["restartd", "nodewatchd", "fabricwatchd", "railctl", ".libs/spank_rail.so", ".libs/job_submit_rail.so",
         "tests/apps/heat2d"]


def asked(cluster, *command):
    return json.loads(cluster.out("railctl", *command, "--json"))


def test_a_fault_is_learned_from(cluster):
    job, nodes = gang(cluster, nodes=4, steps=3000)
    wait_for(lambda: asked(cluster, "rates")["failures"]["host_hours"] > 0, 60, "time to count",
             [cluster.log("ctl", "restartd")], every=0.5)
    before = asked(cluster, "rates")
    faults = before["failures"]["faults"]
    mtbf = before["failures"]["mtbf_s"]
    victim = nodes[1]
    cluster.power_brake(victim, 3, True)
    check_moved(cluster, job, victim)
    wait_for(lambda: asked(cluster, "rates")["restarts"]["count"] > before["restarts"]["count"], 30,
             "the restart to be seen", [cluster.log("ctl", "restartd")], every=0.2)

    rates = asked(cluster, "rates")
    failures = rates["failures"]
    equal(failures["faults"], faults + 1, "faults")
    check(failures["mtbf_s"] < mtbf, f"one more fault, and hosts fail as rarely as before: {failures}")
    check(failures["low_s"] < failures["mtbf_s"] < failures["high_s"], f"{failures}")
    check(0 < rates["restarts"]["mean_s"] < 60, f"{rates['restarts']}")
    text = cluster.out("railctl", "rates")
    holds(text, f"{failures['faults']} fault", "railctl rates")

    # The interval's formulae beside one another, of the job that has checkpoints.
    interval = asked(cluster, "explain", str(job.number))["interval"]
    equal(interval["hosts"], 4, "hosts")
    check(interval["exact"]["efficiency"] >= interval["young"]["efficiency"] - 1e-12, f"{interval}")
    check(interval["exact"]["efficiency"] >= interval["daly"]["efficiency"] - 1e-12, f"{interval}")
    check(interval["cost_s"] > 0, f"{interval}")
    story = cluster.out("railctl", "explain", str(job.number))
    for word in ("exact optimum", "Young", "Daly"):
        holds(story, word, "railctl explain")

    top = asked(cluster, "top")
    lemon = next(host for host in top["hosts"] if host["name"] == victim)
    check(0.9 < lemon["score"] <= len(lemon["faults"]), f"{lemon}")
    holds(lemon["faults"][-1]["what"], "gpu3", "what the host did")
    check(not lemon["in_use"], f"{lemon}")
    holds(cluster.out("railctl", "top"), victim, "railctl top")

    # Its ranks make step marks: how long the program needs until it works was measured at both starts.
    programs = wait_for(lambda: (found := asked(cluster, "rates")["programs"])["restarts"]["count"] > 0 and found, 60,
                        "the restarted program's first step to be known", [cluster.log("ctl", "restartd")], every=0.5)
    check(0 < programs["restarts"]["mean_s"] < 60, f"{programs}")
    check(programs["configured_s"] == 120, f"{programs}")
    program = asked(cluster, "explain", str(job.number))["program"]
    equal((program["restarts"], program["measured"] > 0), (True, True), f"how it was measured: {program}")
    holds(cluster.out("railctl", "explain", str(job.number)), "after a start: mean of", "railctl explain")
    holds(cluster.out("railctl", "rates"), "a program works after", "railctl rates")

    page = cluster.out("curl", "-fsS", f"{cluster.agents.url}/metrics")
    holds(page, f'railyard_host_faults{{of="host"}} {failures["faults"]}\n', "metrics")

    # A repair ends when the host is in use again.
    cluster.power_brake(victim, 3, False)
    cluster.out("scancel", str(job.number))
    wait_for(lambda: "cleared" in cluster.out("railctl", "explain", victim), 60, "the brake to be off",
             [cluster.log("ctl", "restartd")], every=0.5)
    cluster.out("railctl", "resume", victim)
    wait_for(lambda: asked(cluster, "rates")["repairs"]["seen"]["count"] > before["repairs"]["seen"]["count"], 60,
             "the repair to be seen", [cluster.log("ctl", "restartd")], every=0.5)
