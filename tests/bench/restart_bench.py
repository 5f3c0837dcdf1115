#!/usr/bin/env python3
"""From a fault to the job RUNNING on new nodes: Railyard beside stock Slurm, in this machine's own clusters.

    node loss     power-off of one of a 6-node job's hosts; stock Slurm with SlurmdTimeout=10 and cred_expire=5,
                  its quickest sound setting, does the same with --requeue
    power brake   of one GPU, with Railyard's 5 s window; stock Slurm does not look at GPUs

RAIL_BENCH_RUNS (10) runs each; RAIL_BENCH_BUILD is the build folder (the current one). Needs root.
"""

import os
import statistics
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster import faults  # noqa: E402
from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.jobs import Job, heat2d  # noqa: E402

NODES = 6
WORDS = ("sbatch", "--parsable", f"-N{NODES}", "--exclusive", "--requeue", "--output=/dev/null")


def submit(cluster):
    """A gang that runs as long as it is wanted: the checkpointing solver, or beside stock Slurm a plain one."""
    if cluster.agents:
        folder = cluster.root / "scratch" / f"ckpt-{time.monotonic_ns()}"
        folder.mkdir(parents=True)
        job = heat2d(cluster, NODES, 10**6, n=64, pace_us=50000, ckpt=folder, options=("--rail-span=unit",))
        job.wait_checkpoint(60)
        return job
    number = cluster.out(*WORDS, "--wrap", "srun --mpi=none sleep 3600")
    return Job(cluster, int(number), cluster.root / "none")


def run_once(cluster, fault):
    """Seconds from the fault to RUNNING."""
    faults.restore(cluster)
    job = submit(cluster)
    nodes = job.wait_state("RUNNING", 60).nodes
    time.sleep(1)
    begin = time.monotonic()
    if fault == "power-off":
        cluster.power_off(nodes[2])
    else:
        cluster.power_brake(nodes[4], 3, True)
    job.wait_state("RUNNING", 180, 1)
    return time.monotonic() - begin


def measure(name, options, fault, runs):
    seconds = []
    with Cluster.start(options) as cluster:
        for run in range(runs):
            seconds.append(run_once(cluster, fault))
            print(f"  {name}: run {run + 1} of {runs}: {seconds[-1]:.1f} s", flush=True)
    return name, seconds


def main():
    if os.geteuid() != 0:
        print("restart_bench: skipped: not root")
        return 0
    runs = int(os.environ.get("RAIL_BENCH_RUNS", "10"))
    build = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve()
    if not (build / "restartd").exists():
        print(f"restart_bench: {build} is no build folder: set RAIL_BENCH_BUILD", file=sys.stderr)
        return 2
    rows = [measure("node loss, stock Slurm", Options(build=None, slurmd_timeout=10, cred_expire=5), "power-off", runs),
            measure("node loss, Railyard", Options(build=build), "power-off", runs),
            measure("power brake, Railyard", Options(build=build), "power-brake", runs)]
    peer = statistics.median(rows[0][1])
    print(f"\nfault to RUNNING on new nodes, {runs} runs each, {os.cpu_count()} cores")
    print(f"{'':24} {'p50':>8} {'min':>8} {'max':>8} {'stock/this':>11}")
    for name, seconds in rows:
        middle = statistics.median(seconds)
        ratio = f"{peer / middle:10.1f}x" if name.startswith("node loss, R") else ""
        print(f"{name:24} {middle:6.1f} s {min(seconds):6.1f} s {max(seconds):6.1f} s {ratio:>11}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
