#!/usr/bin/env python3
"""B2 and B3: how good placements are on fragmented fabrics, and how good the order of ranks.

placement_cases draws the states and the gangs, and proves how few pods and units each gang needs. Each case then goes to
real slurmctlds (nodes State=CLOUD, no slurmds): the busy nodes are reserved for another user (topology/block starts no job
on scattered nodes), the gang is asked for by salloc, and where it was put stands in the controller's log with the time
that the request took there. A gang that fits into what is free and got nothing was refused. Stock Slurm knows the units
and pods by its topology.conf; a case is the best when it has the fewest pods and, of those, the fewest units.

    RAIL_BENCH_BUILD   the build folder (the current one)
    RAIL_BENCH_CASES   1056 by default
    RAIL_BENCH_SEED    1
Slurm 22.05 is this machine's, 24.11 that of build-aux/debian13-root, newer ones those of HACKING; what is missing is told
and left out.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple, Optional

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.process import wait_for  # noqa: E402
from railcluster.testing import Skip  # noqa: E402
from railcluster.userland import releases_at_hand  # noqa: E402

# What a slurmctld does by itself between requests must not move a node.
QUIET = {"SchedulerParameters": "bf_interval=3600,sched_interval=3600", "SlurmctldDebug": "info", "PrivateData": "cloud"}
# salloc tells at once whether it has nodes, then waits for them to boot, which they never do.
TAKE = """\
take() {
    salloc --no-shell -I "$@" >/dev/null 2>answer & pid=$!
    read -r line <answer; kill -9 $pid; wait $pid 2>/dev/null
    case $line in *Granted*) id=${line##* };; *) id=;; esac
}
mkfifo answer
"""
GRANTED = re.compile(r"_slurm_rpc_allocate_resources JobId=(\d+) NodeList=(\S+) usec=(\d+)")


class Answer(NamedTuple):
    """Where a gang was put, or that it was refused, and what it cost."""

    pods: int
    units: int
    milliseconds: float


class Who(NamedTuple):
    name: str
    userland: Optional[Path] = None
    build: Optional[Path] = None
    topology: str = ""
    plugins: str = ""


def indices(folded):
    """The hosts of n[001-003,007], counted from 0."""
    for part in re.sub(r"[n\[\]]", "", folded).split(","):
        first, _, last = part.partition("-")
        yield from range(int(first) - 1, int(last or first))


def ask(who, drawn, pods):
    """The answers to all gangs of the states with so many pods."""
    states = [state for state in drawn["states"] if state["pods"] == pods]
    settings = {**QUIET, **({"TopologyPlugin": who.topology} if who.topology else {})}
    per_unit, per_pod = drawn["hosts_a_unit"], drawn["hosts_a_unit"] * drawn["units_a_pod"]
    with Cluster.start(Options(build=who.build, userland=who.userland, plugins=who.plugins, cloud=True, pods=pods,
                               units=drawn["units_a_pod"], hosts_per_unit=per_unit, settings=settings)) as cluster:
        all_nodes = f"n[{cluster.nodes[0][1:]}-{cluster.nodes[-1][1:]}]"
        # Nodes that were never up weigh more than others: all are equal once they are told to boot.
        cluster.out("scontrol", "update", f"nodename={all_nodes}", "state=power_up")
        wait_for(lambda: set(cluster.node_states().values()) == {"idle#"}, 60, "nodes to boot", every=0.2)
        if cluster.yard.namespaces:  # the host's own file; a name that nobody knows costs a slurmctld 22.05 seconds
            names = "".join(f"127.0.0.1 {node}\n" for node in cluster.nodes)
            cluster.out("sh", "-c", "cat >>/etc/hosts", stdin=names)
        lines = [TAKE]
        for state in states:
            busy = ",".join(cluster.nodes[host] for host in state["busy"])
            lines.append(f"scontrol create reservation=busy user=nobody starttime=now duration=infinite flags=ignore_jobs "
                         f"nodes={busy} >/dev/null || exit 9\n")
            lines += [f'take -N{gang["nodes"]}; echo "${{id:-0}}"; test -z "$id" || scancel "$id"\n' for gang in state["gangs"]]
            lines.append("scontrol delete reservation=busy || exit 9\n")
        ids = [int(word) for word in cluster.out("sh", "-s", stdin="".join(lines), timeout=900).split()]
        log = cluster.log("ctl", "slurmctld").read_text(errors="replace")
    granted = {int(job): (set(indices(nodes)), int(usec) / 1000) for job, nodes, usec in GRANTED.findall(log)}
    sizes = [(gang["nodes"], set(state["busy"])) for state in states for gang in state["gangs"]]
    answers = []
    for job, (size, busy) in zip(ids, sizes, strict=True):
        hosts, took = granted[job] if job else (set(), 0)
        if job and (len(hosts) != size or hosts & busy):
            raise RuntimeError(f"{who.name}: job {job} has {len(hosts)} hosts for {size}, {len(hosts & busy)} of them busy")
        answers.append(Answer(len({h // per_pod for h in hosts}), len({h // per_unit for h in hosts}), took) if job else None)
    return answers


def peers(build):
    """Who is asked beside sched::place, what is missing being told."""
    if os.geteuid() != 0:
        print("quality_bench: Slurm left out: not root")
        return
    for release, root, plugins in releases_at_hand(build, lambda text: print(f"quality_bench: {text}")):
        yield Who(f"{release} tree", root)
        if root:  # of 22.05 block is no plugin
            yield Who(f"{release} block", root, topology="topology/block")
        yield Who(f"{release} Railyard", root, build, plugins=plugins)


def quantile(values, q):
    return sorted(values)[round(q * (len(values) - 1))] if values else float("nan")


def row(name, gangs, answers, base):
    """A line of the table and the median time of a decision."""
    over_pods = over_units = refused = extra_pods = extra_units = 0
    worse, seen = {}, {}
    for (busy, gang), answer in zip(gangs, answers, strict=True):
        seen[busy] = seen.get(busy, 0) + 1
        if answer is None:
            refused += 1
            worse[busy] = worse.get(busy, 0) + 1
            continue
        fewest = next(pods for pods, units in enumerate(gang["least"], 1) if units)
        units = answer.units - gang["least"][answer.pods - 1]
        if answer.pods < fewest or units < 0:
            raise RuntimeError(f"{name}: {gang} is answered by {answer}, fewer than any placement can have")
        over_pods, over_units = over_pods + (answer.pods > fewest), over_units + (units > 0)
        extra_pods, extra_units = extra_pods + answer.pods - fewest, extra_units + units
        worse[busy] = worse.get(busy, 0) + (answer.pods > fewest or units > 0)
    times = [answer.milliseconds for answer in answers if answer]
    median, share = quantile(times, 0.5), 100 / len(answers)
    by_busy = " ".join(f"{100 * worse[busy] / seen[busy]:4.0f}%" for busy in sorted(seen))
    print(f"{name:16} {len(answers):5} {over_pods * share:6.1f}% {extra_pods:5} {over_units * share:6.1f}% {extra_units:5} "
          f"{refused * share:6.1f}%   {by_busy}  {median:8.4f} {quantile(times, 0.99):8.4f} {median / (base or median):6.0f}x",
          flush=True)
    return median


def main():
    build = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve()
    program = build / "tests" / "bench" / "placement_cases"
    if not program.exists():
        print(f"quality_bench: {program} is missing: make bench builds it, RAIL_BENCH_BUILD names the folder", file=sys.stderr)
        return 2
    seed, cases = os.environ.get("RAIL_BENCH_SEED", "1"), os.environ.get("RAIL_BENCH_CASES", "1056")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "cases.json"
        subprocess.run([program, "--seed", seed, "--cases", cases, "--out", out], check=True)
        drawn = json.loads(out.read_text())
    asked = list(peers(build))
    print(f"\nB2 placements on fragmented fabrics against the proven minimum, seed {seed}; over: share of the cases and by how "
          "many in all;\n   not the best: at 30, 50, 70 and 90 % busy; time: milliseconds a decision, of Slurm's the whole request")
    for pods in sorted({state["pods"] for state in drawn["states"]}):
        gangs = [(state["busy_percent"], gang) for state in drawn["states"] if state["pods"] == pods for gang in state["gangs"]]
        print(f"\n{pods * drawn['units_a_pod'] * drawn['hosts_a_unit']:5} HOSTS      CASES    PODS over    UNITS over REFUSED   "
              "NOT THE BEST AT           P50      P99   RATIO")
        ours = [Answer(gang["ours"]["pods"], gang["ours"]["units"], gang["ours"]["us"] / 1000) if "pods" in gang["ours"] else None
                for _, gang in gangs]
        base = row("sched::place", gangs, ours, None)
        for who in asked:
            try:
                row(who.name, gangs, ask(who, drawn, pods), base)
            except Skip as reason:
                print(f"quality_bench: {who.name} left out: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
