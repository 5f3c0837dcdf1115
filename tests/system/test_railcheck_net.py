"""railcheck net between the hosts of a cluster, over UCX: a cable that was made slow is named, by host and rail; and hosts
that end meanwhile. Rails are cables between namespaces, throttled so that the machine's own load does not count."""

import json
import subprocess
import time

from railcluster.process import wait_for
from railcluster.rails import BUILD, Rails, options_of
from railcluster.speed import slowness
from railcluster.testing import alone, check, equal

NEEDS = ["railcheck"]
# Where processors are scarce there are moments in which nobody sends: a measure is long beside them, and sends less.
HOSTS, RAILS, MBIT, TIME = 6, 2, round(200 / slowness()), f"--time={round(20 * slowness() ** 2)}ms"
options = options_of(HOSTS)


def command(cluster, rails, *words):
    conf = cluster.root / "net.conf"
    conf.write_text(f'[munge]\nsocket = "{cluster.root}/munge/munge.sock"\n')
    # UCX lists a host's interfaces in /sys, which shows those of the machine unless it is mounted anew.
    return ["srun", f"-N{HOSTS}", "--ntasks-per-node=1", "--no-kill", "--kill-on-bad-exit=0", "unshare", "--mount", "sh", "-c",
            f'mount -t sysfs none /sys && exec {BUILD[0]}/railcheck net "$@"', "railcheck", "--json", f"--config={conf}",
            f"--devices={rails.names}", "--least=30", *(words or (TIME,))]


def measured(cluster, rails, *words):
    answer = cluster.run(*command(cluster, rails, *words), timeout=90)
    try:
        return answer.returncode, json.loads(answer.stdout)
    except ValueError as error:
        raise AssertionError(f"railcheck net: exit {answer.returncode}: {answer.stdout[:500]}{answer.stderr[:2000]}") from error


def narrow(told):
    """What is named for its bandwidth. Latencies are those of a machine whose two cores all hosts share."""
    return [(one["part"], one.get("host"), one.get("device")) for one in told["slow"] if one["bandwidth_share"] < 1]


@alone
def test_a_slow_cable_is_named_by_host_and_rail(cluster):
    """Nothing is named between sound hosts; of one throttled cable its host and device."""
    rails = Rails(cluster, RAILS, MBIT).lay()
    try:
        status, sound = measured(cluster, rails)
        equal(narrow(sound), [], "what is named of sound hosts")
        equal(sound["lost"] + sound["unusable"], [], "who was not measured")
        equal((status, len(sound["pairs"])), (1 if sound["slow"] else 0, HOSTS * (HOSTS - 1) // 2 * RAILS), "status, pairs")
        check(sound["rounds"] in (HOSTS - 1, 2 * (HOSTS - 1)), f"all rounds, or all of them twice: {sound['rounds']}")
        rails.rate("n003", 1, MBIT // 8)
        status, slow = measured(cluster, rails)
        equal(narrow(slow), [("cable", "n003", "rail1")], "what is named")
        check(min(one["bandwidth_share"] for one in slow["slow"]) < 0.5, f"the share of the others' bandwidth: {slow['slow']}")
        equal(status, 1, "the exit status")
        rails.plug("n003", 1, False)
        _, dead = measured(cluster, rails, "--patience=1s", "--time=20ms")
        check(any("n003 rail1" in text for text in dead["unusable"]), f"a cable that is out is not told: {dead['unusable']}")
    finally:
        rails.remove()


def test_a_host_that_dies_meanwhile_is_named(cluster):
    """Its process is killed between two rounds: the others measure on, and the answer names it."""
    rails = Rails(cluster, RAILS, MBIT).lay()
    try:
        process = subprocess.Popen([*cluster.yard.prefix("ctl", str(cluster.root)), *command(cluster, rails, "--time=300ms", "--patience=3s")],
                                   env=cluster.environment("ctl"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: cluster.run("pgrep", "-x", "railcheck", host="n005").returncode == 0, 30, "railcheck on n005")
        time.sleep(2)
        cluster.run("pkill", "-KILL", "-x", "railcheck", host="n005")
        output, errors = process.communicate(timeout=90)
        told = json.loads(output or "{}")
        equal([one["host"] for one in told.get("lost", [])], ["n005"], f"who is lost: {errors[:1000]}")
        check(told["rounds"] == HOSTS - 1, "the others stopped")
    finally:
        rails.remove()
