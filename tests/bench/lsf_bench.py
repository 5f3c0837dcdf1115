#!/usr/bin/env python3
"""Gangs under LSF: from bsub to RUN, and from the loss of a host to RUN without it, by stage.

Usage: lsf_bench.py [--build DIR] [--runs N] [--seed N] [--only submit,other,first]

LSF is its double (tests/doubles/lsf) in real time with the recommended timing (railyard-lsf(7)); restartd, the agents and the
fabric are those of the system tests: 8 hosts in two units, a gang of 4. Times are this machine's one clock:
    submit   plan     from before bsub to the journal's action that places the job
             moved    until bmod and bswitch were done
             RUN      until bjobs shows it
    other    the power of a host that is not the job's first is cut; first: that of the first
             detect   from before the cut to the second witness in the journal
             decide   to the journal's first action
             PEND     until bjobs shows the requeued job waiting
             placed   until it was planned and moved again
             RUN      until bjobs shows it on other hosts
A run without an end counts as one and leaves its seconds out. --runs of submit is 20 by default, of other half as many, of
first a sixth. RAIL_BENCH_RUNS and RAIL_BENCH_BUILD set the defaults of --runs and --build. Needs root.
"""

import argparse
import os
import random
import statistics
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster import faults  # noqa: E402
from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.lsf import bsub  # noqa: E402
from railcluster.process import leave_on_sigterm, wait_for  # noqa: E402
from railcluster.testing import Skip  # noqa: E402
from railcluster.told import history  # noqa: E402

HOSTS = 4
POLL = 1.0      # s: restartd's poll_interval, its default
DISPATCH = 2.0  # s: MBD_SLEEP_TIME of the double
GRACE = 6.5     # s: restartd suspects nobody for twice [node_loss] silent after its start
LONGEST = 180   # s, of a recovery: more is none
EVERY = 0.05    # s between two looks at bjobs
LOSS = ("detect", "decide", "PEND", "placed", "RUN")
# name -> stages, share of --runs, target in s, and what the engine does by itself as measured on volclava 2.2
CASES = {"submit": (("plan", "moved", "RUN"), 1, 2 * POLL + DISPATCH, "no placement by rails"),
         "other": (LOSS, 2, 9.0, "never"),
         "first": (LOSS, 6, None, "39 s")}


def submit(cluster):
    return bsub(cluster, HOSTS, "sleep", "3600", env={"RAIL_RESTART": "auto", "RAIL_SPAN": "unit"})


def shown(job, state, without=""):
    """The moment at which bjobs shows the state, on other hosts than the one."""
    def there():
        now, _, hosts = job.bjobs()
        return now == state and without not in hosts
    wait_for(there, LONGEST, f"job {job.number} to be {state}", job.logs(), every=EVERY)
    return time.time()


def placed(told, job, since):
    """The last placing of the job: LSF may have refused one before."""
    mine = [one for one in told["actions"] if one["kind"] == "place_job" and one["created"] >= since and one["finished"]
            and one["text"].startswith(f"place job {job.number} ")]
    if not mine:
        raise RuntimeError("the journal tells of no placement")
    return max(mine, key=lambda one: one["created"])


def between(names, marks):
    """Seconds of each stage; one that was over before the one before it took none."""
    for index in range(1, len(marks)):
        marks[index] = max(marks[index - 1], marks[index])
    return {stage: later - before for stage, before, later in zip(names, marks, marks[1:])}


def start_once(cluster, dice):
    time.sleep(dice.random() * DISPATCH)  # at any moment of both periods
    since = time.time()
    job = submit(cluster)
    ran = shown(job, "RUN")
    plan = placed(history(cluster), job, since)
    return between(CASES["submit"][0], [since, plan["created"], plan["finished"], ran])


def lose_once(cluster, dice, first):
    ready = time.monotonic() + GRACE
    job = submit(cluster)
    hosts = job.wait("RUN", queue="gang")
    time.sleep(max(0.0, ready - time.monotonic()) + dice.random() * DISPATCH)
    victim = hosts[0] if first else dice.choice(hosts[1:])
    since = time.time()
    cluster.power_off(victim)
    waits = shown(job, "PEND")
    ran = shown(job, "RUN", victim)
    told = history(cluster)
    found = next((note["time"] for note in told["timeline"] if note["kind"] == "signal" and note["time"] >= since
                  and note["host"] == victim and "second witness" in note["text"]), None)
    acted = [one["created"] for one in told["actions"] if one["created"] >= since and one["kind"] in ("down_host", "requeue_job")]
    if found is None or not acted:
        raise RuntimeError(f"the journal does not tell that {victim} was lost")
    return between(LOSS, [since, found, min(acted), waits, placed(told, job, since)["finished"], ran])


def measure(cluster, name, runs, dice):
    samples = []
    for run in range(runs):
        try:
            faults.restore(cluster)
            cluster.agents.wait_heard()
            samples.append(start_once(cluster, dice) if name == "submit" else lose_once(cluster, dice, name == "first"))
            told = " ".join(f"{stage} {value:.2f}" for stage, value in samples[-1].items())
        except Exception as error:  # noqa: BLE001: a run without an end is one of the results
            samples.append(None)
            told = f"no end: {str(error).splitlines()[0]}"
        print(f"  {name}: run {run + 1} of {runs}: {told}", flush=True)
    return samples


def pair(values):
    return f"{statistics.median(values):.2f}/{max(values):.2f}" if values else "-"


def table(results, seed):
    print(f"\nseconds, p50/max; seed {seed}, {os.cpu_count()} cores; LSF is its double")
    for name, samples in results.items():
        stages, _, target, alone = CASES[name]
        good = [sample for sample in samples if sample]
        totals = [sum(sample.values()) for sample in good]
        cells = "  ".join(f"{stage} {pair([sample[stage] for sample in good])}" for stage in stages)
        line = f"{name:7} {len(good)}/{len(samples)} runs  {cells}  all {pair(totals)}"
        if target:
            line += f"  target {target:g}: {sum(total <= target for total in totals)} of {len(samples)} met it"
        if name == "first" and totals:
            line += f"  alone/this {39 / statistics.median(totals):.1f}x"
        print(f"{line}  LSF alone: {alone}", flush=True)
    print("LSF alone is quoted from railyard-lsf(7), volclava 2.2 with the recommended timing; it was not measured in this run.")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("RAIL_BENCH_BUILD", ".")))
    parser.add_argument("--runs", type=int, default=int(os.environ.get("RAIL_BENCH_RUNS", "20")), metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of victims and moments")
    parser.add_argument("--only", default=",".join(CASES), metavar="NAME,…", help=", ".join(CASES))
    args = parser.parse_args()
    args.names = [name for name in args.only.split(",") if name]
    if unknown := [name for name in args.names if name not in CASES]:
        parser.error(f"--only: {unknown[0]} is none of {', '.join(CASES)}")
    if not args.names or args.runs < 1:
        parser.error("--runs: at least 1; --only: at least one name")
    return args


def main():
    args = arguments()
    if os.geteuid() != 0:
        print("lsf_bench: skipped: not root")
        return 77
    build = args.build.resolve()
    if not (build / "restartd").exists():
        print(f"lsf_bench: {build} is no build folder: name it with --build", file=sys.stderr)
        return 2
    leave_on_sigterm()
    dice = random.Random(args.seed)
    try:
        with Cluster.start(Options(build=build, hosts_per_unit=HOSTS, lsf=True)) as cluster:
            results = {name: measure(cluster, name, max(1, args.runs // CASES[name][1]), dice) for name in args.names}
    except Skip as reason:
        print(f"lsf_bench: skipped: {reason}")
        return 77
    table(results, args.seed)
    return 0 if all(any(samples) for samples in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
