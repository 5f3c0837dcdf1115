#!/usr/bin/env python3
"""What placement costs inside slurmctld: Railyard's plugins beside stock topology/tree, the same jobs on the same nodes.

Which of them places how many gangs worse than the minimum is quality_bench.py's, for the same releases.

Real slurmctld, nodes State=CLOUD without slurmds: scheduling is real, jobs that get nodes stay CONFIGURING. Of each
cluster half the nodes are busy, scattered by the seed, with jobs that end apart. On it, twice in the same slurmctld:

    start   gangs of 4 to 32 nodes become eligible at once; the longest cycle of the main scheduler and that of
            backfill, which start what fits
    plan    gangs wait in a cluster that is full; a cycle of backfill that plans all of them, for each that it tried

once without a flag, once in one unit: --rail-span=unit here, --switches=1 there; and

    small   jobs of one node become eligible at once, at most two thousand, as many as the units that have jobs already hold:
            whole nodes, then two cores each; what a cycle costs for each that starts, and how many of the other units they
            leave wholly free ([placement] pack = "all" here)

Times are slurmctld's own (sdiag); memory is its RSS at the end.

    RAIL_BENCH_BUILD   the build folder (the current one)
    RAIL_BENCH_NODES   sizes, "1024 10112" by default
    RAIL_BENCH_MEMORY  sizes of which only the memory of an idle slurmctld is shown, "16384" by default
    RAIL_BENCH_SEED    1
Slurm 22.05 is this machine's, 24.11 that of build-aux/debian13-root, newer ones those of HACKING; what is missing is told
and left out.
"""

import os
import random
import re
import sys
from pathlib import Path
from typing import NamedTuple, Optional

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.hosts import permitted  # noqa: E402
from railcluster.process import wait_for  # noqa: E402
from railcluster.userland import releases_at_hand  # noqa: E402

UNIT, UNITS = 32, 4  # hosts a unit, units a pod: Blue Vela's
BUSY = 0.5
FILLERS, STARTING = 60, 40
LARGE, WAITING = 2048, (40, 12)  # from how many nodes on fewer jobs wait: a cycle of backfill takes seconds there
SKIPPED = 77
PLANS = 2  # cycles of backfill to see
SMALL, ARRAY = 2000, 1000  # jobs, and tasks of one array, of which Slurm allows a thousand
SMALL_KINDS = (("whole nodes", "-N1", 1), ("two cores", "-p shared -N1 -n2", 8))  # and how many fit on a node
PARTITIONS = ("batch Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE\n"
              "PartitionName=shared Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=NO")
KINDS = (("any nodes", "", ""), ("one unit", "--switches=1", "--rail-span=unit"))
SCHEDULER = ("bf_interval=2,bf_continue,bf_max_job_test=2000,bf_max_time=600,bf_yield_interval=10000000,"
             "default_queue_depth=2000,sched_interval=2,sched_min_interval=500000,max_sched_time=50,defer,"
             "max_switch_wait=2592000")


class Cost(NamedTuple):
    start: float    # milliseconds, two cycles
    started: int
    plan: float     # milliseconds a job
    planned: float  # jobs a cycle


def sdiag(cluster):
    """The statistics by section and name, such as "Main/Mean cycle"."""
    found, section = {}, ""
    for line in cluster.out("sdiag").splitlines():
        if line.startswith("Main schedule"):
            section = "Main/"
        elif line.startswith("Backfilling"):
            section = "Backfill/"
        elif line and not line[0].isspace():
            section = "other/"
        if match := re.match(r"\s+(.+?):\s+(\d+)$", line):
            found.setdefault(section + match[1], int(match[2]))
    return found


def submit(cluster, requests):
    """One sbatch for each list of flags, from one shell: entering a host costs more than sbatch does."""
    lines = "".join(f"sbatch -Q -o /dev/null {flags} --wrap true >/dev/null || exit 1\n" for flags in requests)
    cluster.out("sh", "-s", stdin=lines, timeout=300)


def have_nodes(cluster):
    return len(cluster.out("squeue", "-h", "-t", "R,CF", "-o", "%i").split())


def have_started(cluster, count):
    wait_for(lambda: have_nodes(cluster) >= count, 300, f"{count} jobs to have nodes", [cluster.log("ctl", "slurmctld")],
             every=0.3)


def fill(cluster, draw):
    """Scattered jobs that end apart; which nodes they have is the seed's choice, not the plugin's."""
    busy = draw.sample(cluster.nodes, int(BUSY * len(cluster.nodes)))
    share = -(-len(busy) // FILLERS)
    groups = [sorted(busy[at:at + share]) for at in range(0, len(busy), share)]
    for index, group in enumerate(groups):
        (cluster.root / f"fill{index}").write_text("\n".join(group) + "\n")
    submit(cluster, [f"-J fill -N{len(group)} -w {cluster.root}/fill{index} -t {draw.randint(600, 6000)}"
                     for index, group in enumerate(groups)])
    have_started(cluster, len(groups))


def after_cycles(cluster, scheduler, count):
    """The statistics once so many cycles have ended since the last `sdiag -r`."""
    wait_for(lambda: sdiag(cluster)[f"{scheduler}/Total cycles"] >= count, 600, f"{count} cycles of {scheduler}",
             [cluster.log("ctl", "slurmctld")], every=0.3)
    return sdiag(cluster)


def cost(cluster, seed, flags):
    """Of one kind of jobs. It leaves the cluster as it was."""
    draw = random.Random(seed)
    before = have_nodes(cluster)
    cluster.out("scontrol", "update", "partition=batch", "state=down")
    submit(cluster, [f"-J bench -N{draw.randint(4, 32)} -t {draw.randint(60, 600)} {flags}" for _ in range(STARTING)])
    cluster.out("sdiag", "-r")
    cluster.out("scontrol", "update", "partition=batch", "state=up")
    wait_for(lambda: have_nodes(cluster) > before, 120, "the first gang to start", every=0.3)
    after_cycles(cluster, "Main", sdiag(cluster)["Main/Total cycles"] + 1)
    if cluster.out("squeue", "-h", "-n", "bench", "-t", "PENDING"):  # without any, backfill has no cycle to see
        after_cycles(cluster, "Backfill", sdiag(cluster).get("Backfill/Total cycles", 0) + 1)
    seen = sdiag(cluster)
    start = (seen["Main/Max cycle"] + seen.get("Backfill/Max cycle", 0)) / 1000  # whichever came first started them
    started = have_nodes(cluster) - before
    cluster.out("scancel", "-n", "bench", "-t", "PENDING")

    # What is left would let gangs start instead of wait.
    idle = int(cluster.out("sinfo", "-h", "-t", "idle", "-o", "%D") or 0)
    if idle > UNIT:
        submit(cluster, [f"-J bench -N{idle - UNIT // 2} -t {draw.randint(600, 6000)}"])
        have_started(cluster, before + started + 1)
    waiting = WAITING[len(cluster.nodes) >= LARGE]
    submit(cluster, [f"-J bench -N{draw.randint(UNIT * 3 // 4, UNIT)} -t {draw.randint(60, 600)} {flags}"
                     for _ in range(waiting)])
    cluster.out("sdiag", "-r")
    seen = after_cycles(cluster, "Backfill", 1 + PLANS)  # one was under way and is counted
    planned = seen["Backfill/Last depth cycle (try sched)"]
    plan = seen["Backfill/Last cycle"] / 1000 / max(1, planned)
    cluster.out("scancel", "-n", "bench")
    wait_for(lambda: have_nodes(cluster) == before, 60, "the gangs to go", every=0.3)
    return Cost(start, started, plan, planned)


class Small(NamedTuple):
    cycle: float  # milliseconds, the longest of the main scheduler and of backfill, of which one started them
    started: int
    whole: int    # units all of whose nodes are idle afterwards


def idle_by_unit(cluster):
    """By unit, how many of its nodes are idle."""
    idle = {node for node, state in cluster.node_states().items() if state.startswith("idle")}
    return [len(idle.intersection(unit)) for unit in cluster.units]


def small(cluster, flags, a_node):
    """Of jobs of one node. It leaves the cluster as it was."""
    before = have_nodes(cluster)
    count = min(SMALL, a_node * sum(idle for idle in idle_by_unit(cluster) if idle < UNIT))
    for partition in ("batch", "shared"):
        cluster.out("scontrol", "update", f"partition={partition}", "state=down")
    submit(cluster, [f"-J small -t 600 --array=0-{min(ARRAY, count - at) - 1} {flags}" for at in range(0, count, ARRAY)])
    cluster.out("sdiag", "-r")
    for partition in ("batch", "shared"):
        cluster.out("scontrol", "update", f"partition={partition}", "state=up")
    wait_for(lambda: have_nodes(cluster) > before, 120, "the first small job to start", every=0.3)
    seen = after_cycles(cluster, "Main", sdiag(cluster)["Main/Total cycles"] + 1)
    started = have_nodes(cluster) - before
    found = Small((seen["Main/Max cycle"] + seen.get("Backfill/Max cycle", 0)) / 1000, started,
                  idle_by_unit(cluster).count(UNIT))
    cluster.out("scancel", "-n", "small")
    wait_for(lambda: have_nodes(cluster) == before, 120, "the small jobs to go", every=0.3)
    return found


def memory(cluster):
    """MB resident."""
    status = Path(f"/proc/{cluster.daemons['ctl', 'slurmctld'].pid.pid}/status").read_text()
    return int(re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)[1]) / 1024


def measure(options, seed, which):
    """The costs of each kind of jobs, and the memory."""
    with Cluster.start(options) as cluster:
        fill(cluster, random.Random(seed))
        costs = [cost(cluster, seed, kind[which]) for kind in KINDS]
        used = memory(cluster)
    with Cluster.start(options) as cluster:
        occupy_units(cluster, random.Random(seed))
        return costs, used, [small(cluster, *kind[1:]) for kind in SMALL_KINDS]


def occupy_units(cluster, draw):
    """Every second unit has some busy nodes, the others none: what small jobs can spare."""
    groups = [sorted(draw.sample(unit, draw.randint(UNIT // 4, UNIT - 2))) for unit in cluster.units[1::2]]
    for index, group in enumerate(groups):
        (cluster.root / f"unit{index}").write_text("\n".join(group) + "\n")
    submit(cluster, [f"-J fill -N{len(group)} -w {cluster.root}/unit{index} -t 6000" for index, group in enumerate(groups)])
    have_started(cluster, len(groups))


def idle_memory(options):
    with Cluster.start(options) as cluster:
        submit(cluster, ["-N4 -t 60"] * 3)
        have_started(cluster, 3)
        return memory(cluster)


def options(build: Optional[Path], root: Optional[Path], plugins: str, nodes: int) -> Options:
    return Options(build=build, userland=root, plugins=plugins, cloud=True, pods=max(1, nodes // (UNIT * UNITS)), units=UNITS,
                   hosts_per_unit=UNIT, railyard={"placement.pack": '"all"'} if build else {},
                   settings={"SchedulerParameters": SCHEDULER, "SlurmctldDebug": "info", "PartitionName": PARTITIONS})


def ratio(ours, stock):
    return f"{ours / stock:5.2f}x" if stock else "    - "


def main():
    if reason := permitted():
        print(f"slurmctld_bench: skipped: {reason}")
        return SKIPPED
    build = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve()
    if not (build / "railtopo").exists():
        print(f"slurmctld_bench: {build} is no build folder: set RAIL_BENCH_BUILD", file=sys.stderr)
        return 2
    seed = int(os.environ.get("RAIL_BENCH_SEED", "1"))
    sizes = [int(word) for word in os.environ.get("RAIL_BENCH_NODES", "1024 10112").split()]
    memory_sizes = [int(word) for word in os.environ.get("RAIL_BENCH_MEMORY", "16384").split()]
    rows, small_rows, sizes_of_memory = [], [], []
    for release, root, plugins in releases_at_hand(build, lambda text: print(f"slurmctld_bench: {text}")):
        for nodes in sizes:
            stock, stock_memory, stock_small = measure(options(None, root, "", nodes), seed, 1)
            print(f"  {release}, {nodes} nodes: stock measured", flush=True)
            ours, our_memory, our_small = measure(options(build, root, plugins, nodes), seed, 2)
            print(f"  {release}, {nodes} nodes: Railyard measured", flush=True)
            rows += [(release, nodes, kind[0], *pair) for kind, pair in zip(KINDS, zip(stock, ours))]
            small_rows += [(release, nodes, kind[0], *pair) for kind, pair in zip(SMALL_KINDS, zip(stock_small, our_small))]
            sizes_of_memory.append((release, nodes, stock_memory, our_memory))
        for nodes in memory_sizes:
            sizes_of_memory.append((release, nodes, idle_memory(options(None, root, "", nodes)),
                                    idle_memory(options(build, root, plugins, nodes))))
    if not rows and not sizes_of_memory:
        print("slurmctld_bench: skipped: there is no release to measure")
        return SKIPPED
    print(f"\nslurmctld's time, in ms: start for all, plan for a gang; {os.cpu_count()} cores, seed {seed}; ratio: Railyard/stock tree")
    print(f"{'Slurm':6} {'nodes':>6}  {'gangs in':10} {'start: stock':>12} {'Railyard':>9} {'ratio':>6} {'started':>9} "
          f"{'plan: stock':>12} {'Railyard':>9} {'ratio':>6}")
    for release, nodes, kind, stock, ours in rows:
        print(f"{release:6} {nodes:6}  {kind:10} {stock.start:12.2f} {ours.start:9.2f} {ratio(ours.start, stock.start)} "
              f"{stock.started:4}/{ours.started:4} {stock.plan:12.2f} {ours.plan:9.2f} {ratio(ours.plan, stock.plan)}")
    print(f"\nJobs of one node at once, ms of the longest cycle for each that started; units left wholly free\n"
          f"{'Slurm':6} {'nodes':>6}  {'jobs of':11} {'started':>9} {'stock':>7} {'Railyard':>9} {'ratio':>6} {'whole: stock':>12} {'Railyard':>9}")
    for release, nodes, kind, stock, ours in small_rows:
        each = [one.cycle / max(one.started, 1) for one in (stock, ours)]
        print(f"{release:6} {nodes:6}  {kind:11} {stock.started:4}/{ours.started:4} {each[0]:7.2f} {each[1]:9.2f} "
              f"{ratio(each[1], each[0])} {stock.whole:12} {ours.whole:9}")
    print(f"\nslurmctld's memory, in MB\n{'Slurm':6} {'nodes':>6} {'stock':>8} {'Railyard':>9} {'more':>6}")
    for release, nodes, stock, ours in sizes_of_memory:
        print(f"{release:6} {nodes:6} {stock:8.1f} {ours:9.1f} {ours - stock:6.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
