#!/usr/bin/env python3
"""LSF's dispatcher beside name order and beside LSF without reservations (dispatch_bench.cpp), on recorded traces.

NASA's iPSC/860 of 1993 has sizes and times; Microsoft's Philly cluster of 2017 has GPUs and times, of which the jobs of two
GPUs and more count, a host for each GPU. Neither has run limits: each gets one to three times what it took, drawn with the seed,
one in ten none. Submissions are moved so that the work would keep so much of 128 hosts busy.

    RAIL_BENCH_BUILD   the build folder (the current one)
    RAIL_BENCH_DATA    where the traces are (shared/data beside the source)
    RAIL_BENCH_SEED    1
"""

import datetime
import lzma
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HOSTS = 128


def nasa(data):
    with lzma.open(data / "nasa-ipsc-1993-3.1-cln.swf.xz", "rt") as lines:
        for line in lines:
            if line.startswith(";") or not line.strip():
                continue
            words = line.split()
            yield float(words[1]), float(words[3]), int(words[4])


def philly(data):
    with lzma.open(data / "philly-2017-09-10.csv.xz", "rt") as lines:
        next(lines)
        for line in lines:
            when, run, gpus, *_ = line.split(",")
            if int(gpus) >= 2:
                moment = datetime.datetime.fromisoformat(when).replace(tzinfo=datetime.timezone.utc)
                yield moment.timestamp(), float(run), int(gpus)


def main():
    build = Path(os.environ.get("RAIL_BENCH_BUILD", "."))
    data = Path(os.environ.get("RAIL_BENCH_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
    seed = int(os.environ.get("RAIL_BENCH_SEED", "1"))
    status = 77
    for name, reader in ("NASA iPSC 1993", nasa), ("Philly 2017, 2 GPUs and more", philly):
        try:
            jobs = sorted(job for job in reader(data) if job[1] > 0 and 1 <= job[2] <= HOSTS)
        except FileNotFoundError as error:
            print(f"SKIP {name}: {error.filename} is not there: set RAIL_BENCH_DATA")
            continue
        draw = random.Random(seed)
        with tempfile.NamedTemporaryFile("w", suffix=".trace") as trace:
            for submit, run, hosts in jobs:
                limit = 0 if draw.random() < 0.1 else run * (1 + 2 * draw.random())
                trace.write(f"{submit} {run} {limit} {hosts}\n")
            trace.flush()
            for load in "70", "90":
                print(f"limits drawn with seed {seed}", flush=True)
                subprocess.run([build / "tests/bench/dispatch_bench", "--trace", trace.name, "--name", name,
                                "--hosts", str(HOSTS), "--load", load], check=True)
        status = 0
    sys.exit(status)


if __name__ == "__main__":
    main()
