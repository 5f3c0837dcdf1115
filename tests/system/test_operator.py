"""What operators do and see: railctl, and drains of their own."""

import json

from railcluster.process import wait_for
from railcluster.testing import check, equal, holds
from railcluster.told import moment

NEEDS = ["restartd", "nodewatchd", "railctl"]


def reason(cluster, node):
    return cluster.out("sinfo", "-h", "-n", node, "-o", "%E")


def state(cluster, node):
    return cluster.node_states()[node]


def test_status_names_every_host(cluster):
    def heard():
        hosts = json.loads(cluster.out("railctl", "status", "--json"))["hosts"]
        return {host["name"] for host in hosts if host["agent"]["last_report"]} == set(cluster.nodes)
    wait_for(heard, 20, "every host's agent to be in railctl status", [cluster.log("ctl", "restartd")])
    text = cluster.out("railctl", "status", "--all")
    for node in cluster.nodes:
        holds(text, node, "railctl status")


def test_drain_and_resume(cluster):
    """railctl drains with an owner's tag, tells why, and resumes."""
    node = cluster.nodes[2]
    cluster.out("railctl", "drain", node, "swap cable 4")
    wait_for(lambda: state(cluster, node).startswith("drain"), 10, f"{node} to be drained")
    holds(reason(cluster, node), "railyard[", "reason")
    holds(reason(cluster, node), "swap cable 4", "reason")
    holds(cluster.out("railctl", "explain", node), "swap cable 4", "railctl explain")
    cluster.out("railctl", "resume", node)
    wait_for(lambda: state(cluster, node) == "idle", 10, f"{node} to be idle")


def test_a_history_is_followed_while_it_happens(cluster):
    """railctl history --follow prints what happens, each once, and a restart of restartd ends nothing."""
    node, reason_given = cluster.nodes[3], ("swap cable 5", "swap cable 6")
    printed = cluster.log("ctl", "follow")
    follower = cluster.spawn("ctl", "follow", ["railctl", "history", "--follow", "--json", "--last=1"])

    def told(text):
        lines = [json.loads(line) for line in printed.read_text().splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in lines if text in line["text"]]
    try:
        cluster.out("railctl", "drain", node, reason_given[0])
        wait_for(lambda: told(reason_given[0]), 20, "the first drain to be printed", [printed])
        cluster.out("railctl", "resume", node)
        cluster.agents.stop("ctl", "restartd")
        cluster.agents.start_restartd()
        cluster.out("railctl", "drain", node, reason_given[1])
        wait_for(lambda: told(reason_given[1]), 20, "the second drain to be printed", [printed])
        check(all(moment(line["time"]) for line in told("swap cable")), "times of lines")
        for text in reason_given:
            lines = [json.dumps(line) for line in told(text)]
            equal(len(lines), len(set(lines)), f"lines about {text}, each once")
        check(follower.alive(), "it ended")
    finally:
        cluster.agents.stop("ctl", "follow")
        cluster.out("railctl", "resume", node)


def test_a_persons_drain_is_never_undone(cluster):
    """scontrol's drain stays, with its reason, whatever happens to the host."""
    node = cluster.nodes[7]
    cluster.out("scontrol", "update", f"nodename={node}", "state=drain", "reason=bad disk")

    def refused():
        result = cluster.run("railctl", "resume", node)
        check(result.returncode != 0, f"railctl resume undid a person's drain: {result.stdout}")
        return "bad disk" in result.stderr
    wait_for(refused, 10, "restartd to see the drain and to refuse with its reason")
    cluster.power_off(node)
    wait_for(lambda: any(word in cluster.out("railctl", "explain", node) for word in ("silent", "lost")), 20,
             "the loss to be noticed")
    cluster.power_on(node)
    wait_for(lambda: cluster.run("scontrol", "ping").returncode == 0, 5, "slurmctld")
    wait_for(lambda: "drain" in state(cluster, node) and not state(cluster, node).endswith("*"), 40,
             f"{node} to be back, drained", [cluster.log(node, "slurmd")])
    holds(reason(cluster, node), "bad disk", "reason")


def test_unknown_host_is_refused(cluster):
    result = cluster.run("railctl", "drain", "n999", "whatever")
    check(result.returncode in (1, 2), f"exit status {result.returncode}")
    holds(result.stderr, "n999", "railctl's message")


def test_agent_says_what_it_does_not_watch(cluster):
    """nodewatchd without NVML and without InfiniBand runs, and says so where operators look."""
    node = cluster.nodes[9]
    cluster.agents.stop(node, "nodewatchd")
    empty = cluster.root / "empty"
    empty.mkdir(exist_ok=True)
    blind = cluster.spawn(node, "nodewatchd", [str(cluster.options.build / "nodewatchd"), "--host", node, "--sysfs",
                                               str(empty), "--nvml", "/nonexistent/libnvidia-ml.so.1", "--kmsg",
                                               f"{empty}/kmsg", "--config", str(cluster.agents.conf)])

    def told():
        hosts = json.loads(cluster.out("railctl", "status", "--json"))["hosts"]
        texts = next(host["agent"]["not_watching"] for host in hosts if host["name"] == node)
        return " ".join(texts) if any("nvml" in text.lower() for text in texts) else ""
    text = wait_for(told, 15, "railctl status to say what is not watched", [blind.log])
    for part in ("nvml", "infiniband", "kmsg"):
        holds(text.lower(), part, "what is not watched")
    check(blind.alive(), "nodewatchd ended")
    equal(state(cluster, node), "idle", "the node")
    cluster.agents.stop(node, "nodewatchd")
