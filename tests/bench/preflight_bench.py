#!/usr/bin/env python3
"""How long a job of 16 hosts waits for its quick preflight, in the cluster of namespaces on this machine, whose cores all hosts
share: railrun's own count, from the step's start to the last host's end, and beside it what an empty step takes.

Rails are cables between the namespaces. RAIL_BENCH_RUNS (5) jobs each; RAIL_BENCH_BUILD is the build folder (the current one).
"""

import os
import re
import statistics
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.process import leave_on_sigterm  # noqa: E402
from railcluster.queue import output_of  # noqa: E402
from railcluster.rails import Rails, measure_by  # noqa: E402

RUNS = int(os.environ.get("RAIL_BENCH_RUNS", "5"))
HOSTS, RAILS, MBIT, WANTED = 16, 2, 200, 3.0
TOOK = re.compile(r"preflight of (\d+) hosts took ([\d.]+) s: (.*)")


def preflight(cluster, words):
    text = output_of(cluster, f"-N{HOSTS}", f"--rail-preflight={words}", script="true")
    found = TOOK.search(text)
    if found is None or int(found[1]) != HOSTS:
        raise RuntimeError(f"no preflight of {HOSTS} hosts: {text}")
    return float(found[2]), found[3]


def empty_step(cluster):
    text = output_of(cluster, f"-N{HOSTS}", script="date +%s.%N; srun --overlap --ntasks-per-node=1 true; date +%s.%N")
    begin, end = (float(line) for line in text.split())
    return end - begin


def main():
    if os.geteuid() != 0:
        print("skipped: hosts as namespaces need root")
        return 77
    build = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve()
    leave_on_sigterm()
    with Cluster.start(Options(build=build)) as cluster:
        if not cluster.yard.namespaces:
            print("skipped: rails are cables between namespaces, which this machine does not permit")
            return 77
        measure_by(cluster, Rails(cluster, RAILS, MBIT).lay())
        print(f"{HOSTS} hosts, {RAILS} rails of {MBIT} Mbit/s, {os.cpu_count()} cores for all, {RUNS} jobs each; wanted: {WANTED:.0f} s")
        plain = statistics.median(empty_step(cluster) for _ in range(RUNS))
        print(f"  {'an empty step':16} {plain:5.2f} s")
        for words in ("quick", "quick,net"):
            took, said = zip(*(preflight(cluster, words) for _ in range(RUNS)))
            middle = statistics.median(took)
            print(f"  {words:16} {middle:5.2f} s   {min(took):.1f} to {max(took):.1f} s, {middle / plain:.1f} times an empty step; "
                  f"it says: {', '.join(sorted(set(said)))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
