#!/usr/bin/env python3
"""fabricwatchd's sweep over the counters of all ports beside a bare loop of libibmad over the same ports, on one
ibsim that carries 1,024 hosts of 8 HCAs, 49,152 ports in all, with addresses from opensm. They take turns; the best of
RAIL_BENCH_RUNS (3) counts. The simulator's own work is in both.

Usage: counters_bench.py [SPEC]; a spec of railtopo synth. RAIL_BENCH_BUILD is the build folder (the current one).
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster.fabric import umad2sim  # noqa: E402

RUNS = os.environ.get("RAIL_BENCH_RUNS", "3")
SPEC = sys.argv[1] if len(sys.argv) > 1 else "pods=8 units=4 hosts=32 rails=8 rate=4xHDR"


def main():
    for program in ("ibsim", "opensm"):
        if shutil.which(program) is None:
            print(f"SKIP counters of the fabric: {program} is not installed")
            sys.exit(77)
    build = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve()
    with tempfile.TemporaryDirectory(prefix="counters_bench.") as folder:
        scratch = Path(folder)
        net = scratch / "fabric.net"
        subprocess.run([build / "railtopo", "synth", SPEC, "--out", scratch / "made.json", "--ibsim", net], check=True)
        text = net.read_text(encoding="ascii")
        limits = text.partition("\n")[0].partition("start ibsim with ")[2].split()
        seat = [line.split('"')[1] for line in text.splitlines() if line.startswith("Switch")][-1]
        name = {"IBSIM_SOCKNAME": scratch.name}
        with open(scratch / "ibsim.log", "wb") as log:
            ibsim = subprocess.Popen(["ibsim", "-s", *limits, net], env={**os.environ, **name}, stdin=subprocess.PIPE,
                                     stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 120
            while b"Network simulator ready" not in (scratch / "ibsim.log").read_bytes():
                if ibsim.poll() is not None or time.monotonic() > deadline:
                    sys.exit("counters_bench: ibsim does not carry the fabric:\n" +
                             (scratch / "ibsim.log").read_text(errors="replace")[-2000:])
                time.sleep(0.05)
            env = {**os.environ, **name, "LD_PRELOAD": str(umad2sim()), "SIM_HOST": seat,
                   "OSM_TMP_DIR": f"{scratch}/", "OSM_CACHE_DIR": f"{scratch}/"}
            subprocess.run(["opensm", "-o", "-g", "0x" + seat[2:], "-f", scratch / "osm.log"], env=env, check=True,
                           timeout=1200, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            print(f"{SPEC}: ", end="", flush=True)
            subprocess.run([build / "tests/bench/mad_counters_bench", RUNS], env=env, check=True, timeout=1200)
        finally:
            ibsim.terminate()
            ibsim.wait()


main()
