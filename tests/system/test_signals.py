"""railctl signals: what a host's agent measured, beside the rules that judge it, with faults planted in its hardware."""

import concurrent.futures
import json

import gen_sysfs
from railcluster.agents import LINK_GBPS
from railcluster.cluster import Options
from railcluster.process import wait_for
from railcluster.testing import check, equal, holds

NEEDS = ["restartd", "nodewatchd", "railctl"]
BRAKE = "gpu.throttle.hw_power_brake"


def options(build):
    return Options(build=build, units=1, hosts_per_unit=2, rails=2,
                   railyard={"restartd.observe_only": "true", "throttle.window": '"3s"', "throttle.clear": '"2s"'})


def logs(cluster, host="n001"):
    return [cluster.log("ctl", "restartd"), cluster.log(host, "nodewatchd")]


def signals(cluster, *words, host="n001"):
    """railctl's exit status, and the rows with their rules put in."""
    done = cluster.run("railctl", "signals", host, "--json", *words, timeout=60)
    check(done.returncode in (0, 1) and done.stdout, f"railctl signals: status {done.returncode}: {done.stderr}")
    told = json.loads(done.stdout)["signals"]
    equal(told["host"], host, "whose signals")
    return done.returncode, [{**row, "rule": told["rules"][row["rule"]]} for row in told["rows"]]


def state(cluster, component, rule):
    """How the rule stands with the component."""
    status, rows = signals(cluster, "--component", component, "--rule", rule)
    rows = [row for row in rows if row["rule"]["name"] == rule]
    equal(len(rows), 1, f"rows of {rule} on {component}: {rows}")
    holding = rows[0]["state"] in ("finding", "clearing")
    equal((status, "severity" in rows[0]), (int(holding), holding), f"status and severity of {rows[0]}")
    return rows[0]["state"]


def until(cluster, component, rule, wanted):
    wait_for(lambda: state(cluster, component, rule) in wanted, 60, f"{rule} on {component} to be {wanted}", logs(cluster))


def test_a_planted_fault_is_seen_beside_its_rule(cluster):
    """GPU and port: in order, found, and over; a person's table says the same."""
    cluster.agents.wait_heard()
    status, rows = signals(cluster)
    equal(status, 0, "the status for a sound host")
    # A mean of twelve hours is not known yet.
    known = [row for row in rows if row["component"] and row.get("text") != "too few samples yet"]
    equal({row["state"] for row in known}, {"ok"}, "states on a sound host")
    seen = {(row["component"], row["rule"]["signal"]) for row in rows}
    for signal in (("gpu3", "gpu.clock_events"), ("gpu7", "gpu.lost"), ("mlx5_0:1", "ib.active"), ("mlx5_1:1", "ib.counter.link_downed")):
        check(signal in seen, f"{signal} is not among {sorted(seen)}")
    try:
        cluster.power_brake("n001", 3, True)
        until(cluster, "gpu3", BRAKE, ("in_window", "finding"))
        until(cluster, "gpu3", BRAKE, ("finding",))
        _, rows = signals(cluster, "--component", "gpu3", "--rule", BRAKE)
        row = next(row for row in rows if row["rule"]["name"] == BRAKE)
        equal((row["rule"]["unit"], row["severity"], row["compared"] > 500), ("ms", "evict", True), f"the row {row}")
        _, rows = signals(cluster, "--component", "gpu3", "--rule", "gpu.clock_events")
        equal([(row["value"], row["rule"]["unit"], row["state"]) for row in rows], [(0x80, "bits", "ok")], "the bits")
        equal(state(cluster, "gpu2", BRAKE), "ok", "the GPU beside it")
        table = cluster.run("railctl", "signals", "--component", "gpu3", "--rule", BRAKE, "n001")
        equal(table.returncode, 1, "the status with a finding")
        for part in ("finding since ", "evict", "grew by more than 500 a second over ", BRAKE):
            holds(table.stdout, part, "the table")
        equal(signals(cluster, host="n002")[0], 0, "the status of another host")
    finally:
        cluster.power_brake("n001", 3, False)
    until(cluster, "gpu3", BRAKE, ("clearing", "cleared"))
    until(cluster, "gpu3", BRAKE, ("cleared",))

    cluster.agents.set_links("n001", True)  # as they are; the agent forgets what it counted when this test is over
    sysfs = cluster.agents.hardware("n001") / "sys"
    counted = int((sysfs / "class/infiniband/mlx5_1/ports/1/counters/link_downed").read_text())
    gen_sysfs.assign(str(sysfs), f"mlx5_1.link_downed={counted + 1}", LINK_GBPS)
    until(cluster, "mlx5_1:1", "ib.counter.link_downed#flaps", ("ok",))
    # The port's own count, and what of it is compared: by how much it grew.
    wait_for(lambda: any((row["state"], row["value"], row["compared"]) == ("finding", counted + 1, 1) for row in
                         signals(cluster, "--component", "mlx5_1", "--rule", "ib.counter.link_downed")[1]),
             60, "the counter that grew", logs(cluster))


def test_values_of_a_silent_agent_are_old_ones(cluster):
    """They are shown with a warning; of a host whose agent told nothing there is an error."""
    cluster.agents.wait_heard()
    equal(signals(cluster, "--rule", "gpu.lost")[0], 0, "the status")
    silent = lambda host: {entry["name"]: entry["agent"]["silent"] for entry in  # noqa: E731
                           json.loads(cluster.out("railctl", "status", "--json"))["hosts"]}[host]
    try:
        for host in ("n001", "n002"):
            cluster.agents.stop(host, "nodewatchd")
        wait_for(lambda: silent("n001") and silent("n002"), 60, "the agents to be silent", logs(cluster))
        old = cluster.run("railctl", "signals", "n001", "--rule", "gpu.lost")
        equal(old.returncode, 1, "the status for old values")
        holds(old.stderr, "n001: its agent has been silent for ", "the warning")
        holds(old.stdout, "gpu7", "the table")
        none = cluster.run("railctl", "signals", "n002")
        equal((none.returncode, none.stdout), (1, ""), "of a host that told nothing")
        holds(none.stderr, "n002: its agent has been silent for ", "the error")
    finally:
        for host in ("n001", "n002"):
            cluster.agents.start_node(host)
    wait_for(lambda: not silent("n002"), 60, "the agent to be heard", logs(cluster, "n002"))
    equal(signals(cluster, "--rule", "gpu.lost", host="n002")[0], 0, "the status")


def test_what_cannot_be_asked_for_is_refused(cluster):
    cluster.agents.wait_heard()
    for words, text in ((("n999",), "n999"), (("n001", "--component", "gpu77"), "n001 has no signals of gpu77"),
                        (("n001", "--rule", "gpu.los"), "no rule or signal gpu.los")):
        done = cluster.run("railctl", "signals", *words)
        equal(done.returncode, 2, f"the status of {words}: {done.stderr}")
        holds(done.stderr, text, "the error")


def test_many_who_ask_at_once_are_one_question(cluster):
    """Each gets the answer, and the agent goes on reporting."""
    cluster.agents.wait_heard()
    with concurrent.futures.ThreadPoolExecutor(12) as askers:
        for status, rows in askers.map(lambda _: signals(cluster, "--rule", "gpu.lost"), range(24)):
            equal((status, len(rows)), (0, 8), "what each is told")
    check("trying on" not in cluster.log("n001", "nodewatchd").read_text().split("reports to")[-1], "the agent's reports are refused")
