#!/usr/bin/env python3
"""Live discovery beside the real ibnetdiscover, on one ibsim that carries 1,024 hosts of 8 HCAs (8,192 HCAs, 640
switches): `railtopo discover`, which also finds hosts, rails, units and pods and writes fabric.json, and
`ibnetdiscover`, which prints. They take turns; the best of RAIL_BENCH_RUNS (3) counts. Also the speed of
`railtopo discover --from` with the text ibnetdiscover printed.

Usage: topo_live_bench.py [SPEC]; a spec of railtopo synth. RAIL_BENCH_BUILD is the build folder (the current one).
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

RUNS = int(os.environ.get("RAIL_BENCH_RUNS", "3"))
SPEC = sys.argv[1] if len(sys.argv) > 1 else "pods=8 units=4 hosts=32 rails=8"


def timed(command, env, out):
    start = time.monotonic()
    with open(out, "wb") as file:
        subprocess.run(command, env=env, stdout=file, check=True, timeout=600)
    return time.monotonic() - start


def main():
    for program in ("ibsim", "ibnetdiscover"):
        if shutil.which(program) is None:
            print(f"SKIP live discovery: {program} is not installed")
            return
    railtopo = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve() / "railtopo"
    with tempfile.TemporaryDirectory(prefix="topo_live_bench.") as folder:
        scratch = Path(folder)
        net = scratch / "fabric.net"
        subprocess.run([railtopo, "synth", SPEC, "--out", scratch / "made.json", "--ibsim", net], check=True)
        with open(net, encoding="ascii") as file:
            limits = file.readline().partition("start ibsim with ")[2].split()
        name = {"IBSIM_SOCKNAME": scratch.name}
        log = open(scratch / "ibsim.log", "wb")
        ibsim = subprocess.Popen(["ibsim", "-s", *limits, net], env={**os.environ, **name}, stdin=subprocess.PIPE,
                                 stdout=log, stderr=log)
        try:
            deadline = time.monotonic() + 120
            while b"Network simulator ready" not in (scratch / "ibsim.log").read_bytes():
                if ibsim.poll() is not None or time.monotonic() > deadline:
                    sys.exit("topo_live_bench: ibsim does not carry the fabric:\n" +
                             (scratch / "ibsim.log").read_text(errors="replace")[-2000:])
                time.sleep(0.05)
            env = {**os.environ, **name, "LD_PRELOAD": str(umad2sim())}
            text = scratch / "ibnetdiscover.txt"
            ours, theirs = [], []
            for _ in range(RUNS):
                theirs.append(timed(["ibnetdiscover"], env, text))
                ours.append(timed([railtopo, "discover", "--out", scratch / "found.json", "--force"], env,
                                  scratch / "said"))
        finally:
            ibsim.terminate()
            ibsim.wait()
            log.close()
        again = min(timed([railtopo, "discover", "--from", text, "--out", scratch / "text.json"], dict(os.environ),
                          scratch / "said") for _ in range(RUNS))
        size = text.stat().st_size / 1e6
        print(f"B3 discovery of {SPEC}, best of {RUNS}")
        print(f"{'':32}{'s':>8}{'x ibnetdiscover':>18}")
        print(f"{'ibnetdiscover':32}{min(theirs):8.2f}{1:18.2f}")
        print(f"{'railtopo discover':32}{min(ours):8.2f}{min(ours) / min(theirs):18.2f}")
        print(f"railtopo discover --from: {size:.1f} MB of text in {again:.3f} s, process and fabric.json included")


main()
