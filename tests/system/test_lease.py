"""Two restartds on one journal, killed, stopped and cut off from their storage: one acts, each action once."""

import json
import random
import re
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from railcluster.cluster import BACKUP, Cluster, Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "railctl", "nodewatchd"]
HOSTS = ("ctl", BACKUP)
ROUNDS = 12


def test_two_restartds(build):
    with Cluster.start(Options(build=build, units=1, hosts_per_unit=4, backup=True)) as cluster:
        run_two(cluster)
        killed_at_random(cluster)
        stopped(cluster)


def logs(cluster):
    return [cluster.log(host, "restartd") for host in HOSTS]


def url_of(cluster, host):
    return f"http://{cluster.yard.addresses[host]}:{cluster.agents.port}"


def start(cluster, host):
    cluster.agents._start(host, "restartd", [str(cluster.agents.build / "restartd")], {})


def status(cluster, *options):
    """What the restartd that answers tells of itself; None when none is the primary."""
    answer = cluster.run("railctl", *options, "--json", "status", timeout=20)
    return json.loads(answer.stdout) if answer.returncode == 0 else None


def primary(cluster):
    seen = status(cluster)
    return seen and seen["primary"]["host"]


def run_two(cluster):
    """Both serve everywhere, and the agents know both addresses."""
    conf = cluster.agents.conf.read_text()
    conf, count = re.subn(r'listen = "[^:]*:', 'listen = "0.0.0.0:', conf)
    equal(count, 1, "addresses to listen on")
    urls = ", ".join(f'"{url_of(cluster, host)}"' for host in HOSTS)
    conf, count = re.subn(r"url = .*", f'url = [{urls}]\nlease = "4s"', conf)
    equal(count, 1, "addresses of restartd")
    cluster.agents.conf.write_text(conf)
    cluster.agents.stop("ctl", "restartd")
    for node in cluster.nodes:
        cluster.daemons[node, "nodewatchd"].kill(signal.SIGHUP)
    start(cluster, "ctl")
    wait_for(lambda: primary(cluster) == "ctl", 30, "the first restartd", logs(cluster))
    start(cluster, BACKUP)
    wait_for(lambda: "standing by" in cluster.log(BACKUP, "restartd").read_text(), 30, "the second one to stand by", logs(cluster))
    refused = cluster.run("railctl", "--url", url_of(cluster, BACKUP), "status")
    holds(refused.stdout + refused.stderr, "the primary is the one on ctl", "what the second one answers")
    said = cluster.out("railctl", "status")
    holds(said, "primary: the restartd on ctl", "railctl status")
    check("restartd.alone" not in cluster.run("railctl", "doctor", "--json").stdout, "doctor does not see who stands by")


def all_heard(cluster):
    seen = status(cluster)
    return seen and {host["name"] for host in seen["hosts"] if host["agent"]["last_report"] and not host["agent"]["silent"]} == set(cluster.nodes)


def drains_of(cluster, reason):
    """How often slurmctld was told to drain for this reason, by the logs of both controllers."""
    return sum(cluster.log(host, "slurmctld").read_text().count(f"reason set to: railyard[user:root]: {reason}") for host in HOSTS)


def killed_at_random(cluster):
    chance = random.Random(11)
    told = []
    for number in range(ROUNDS):
        acting = wait_for(lambda: primary(cluster), 40, "a primary", logs(cluster))
        victim = chance.choice((acting, acting, *HOSTS))
        node, reason = cluster.nodes[number % len(cluster.nodes)], f"round {number} of the test"
        wait_for(lambda: "drain" not in cluster.node_states()[node] or cluster.run("railctl", "resume", node).returncode == 0 and None,
                 60, f"{node} to be back in use", logs(cluster))
        with ThreadPoolExecutor(1) as aside:
            order = aside.submit(cluster.run, "railctl", "drain", "--no-wait", node, reason)
            threading.Event().wait(chance.uniform(0.05, 0.4))  # where in its work the kill meets it is left to chance
            cluster.daemons[victim, "restartd"].kill(signal.SIGKILL)
            taken = order.result().returncode == 0
        told.append((node, reason, taken))
        start(cluster, victim)
        wait_for(lambda: primary(cluster), 40, "a primary after the kill", logs(cluster))
        if taken:
            wait_for(lambda: drains_of(cluster, reason) > 0, 40, f"the drain of {node}", logs(cluster))
    for node, reason, taken in told:
        check(drains_of(cluster, reason) in ((1,) if taken else (0, 1)), f"drains of {node} for {reason}: {drains_of(cluster, reason)}")
    taken = sum(taken for _, _, taken in told)
    check(taken > 0, "no drain was taken")
    wait_for(lambda: all_heard(cluster), 90, "all agents to report to the primary", logs(cluster))
    print(f"    {ROUNDS} kills, {taken} drains taken, each done once")


def stopped(cluster):
    """A primary that is stopped is replaced when its lease has run out; when it goes on it ends, and does nothing."""
    for host in HOSTS:
        if not cluster.alive(host, "restartd"):
            start(cluster, host)
    acting = wait_for(lambda: primary(cluster), 40, "a primary", logs(cluster))
    other = next(host for host in HOSTS if host != acting)
    before = status(cluster)["primary"]["epoch"]
    cluster.daemons[acting, "restartd"].kill(signal.SIGSTOP)
    wait_for(lambda: primary(cluster) == other, 60, "the other restartd to take over", logs(cluster))
    check(status(cluster)["primary"]["epoch"] > before, "the epoch did not rise")
    holds(cluster.log(other, "restartd").read_text(), "the journal is taken from it", "its log")
    history = cluster.out("railctl", "history")
    holds(history, "of the test", "the history after the journal was taken")
    node = cluster.nodes[0]
    if "drain" in cluster.node_states()[node]:
        cluster.out("railctl", "resume", node)
    cluster.out("railctl", "drain", node, "while one is stopped")
    cluster.daemons[acting, "restartd"].kill(signal.SIGCONT)
    wait_for(lambda: not cluster.alive(acting, "restartd"), 30, "the one that was stopped to end", logs(cluster))
    equal(drains_of(cluster, "while one is stopped"), 1, "drains")
    equal(primary(cluster), other, "the primary")
    holds(cluster.out("railctl", "history"), "while one is stopped", "the history")
    start(cluster, acting)
    wait_for(lambda: all_heard(cluster), 40, "all agents to report to the new primary", logs(cluster))
