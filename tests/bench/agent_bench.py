#!/usr/bin/env python3
"""What nodewatchd costs a host of 8 HCAs and up to 8 GPUs that reports every second, beside prometheus-node-exporter and
beside a bare loop over the same files at the same time, which is the least that reading them can cost.

The sysfs tree and the GPUs are the tests' doubles (the tree in memory, as sysfs is; calls of NVML take the time that they
took with an H100), restartd's end is restartd_bench --serve with a munged of its own. CPU is the kernel's count of time run,
of all threads (/proc/PID/task/*/schedstat); of the exporter a scrape of its InfiniBand collector alone. RAIL_BENCH_SECONDS
(20) is how long each runs; RAIL_BENCH_BUILD is the build folder (the current one).
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "doubles"))

import gen_sysfs  # noqa: E402

SECONDS = int(os.environ.get("RAIL_BENCH_SECONDS", "20"))


def cpu_ms(pid):
    """Of all threads that live."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e6


def naps(pid):
    """How often threads fell asleep so far, to be woken again; where another process took their turn they did not."""
    return sum(int(line.split()[1]) for status in Path(f"/proc/{pid}/task").glob("*/status")
               for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt_switches"))


def memory(pid):
    """Resident MB: its own and all. The code of a program that runs once counts as private of it, though it is the page cache's."""
    fields = {line.split(":")[0]: int(line.split()[1]) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]}
    return fields["Anonymous"] / 1e3, fields["Rss"] / 1e3


def agent(build, home, port, munge, nvml, gpus):
    """Milliseconds a report and of a bare loop over its files, wake-ups a second, threads, MB of its own, MB in all."""
    conf = home / "railyard.conf"
    conf.write_text(f'[restartd]\nurl = "http://127.0.0.1:{port}"\nuser = "root"\n[munge]\nsocket = "{munge}"\n'
                    f'[agent]\njob_socket = "{home}/job.sock"\nkmsg = ""\nnvml = "{nvml}"\nsysfs = "{home}/sys"\n'
                    '[placement]\nfabric = ""\n')
    process = subprocess.Popen([build / "nodewatchd", "--config", conf, "--host", "n00001"], stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "RAIL_NVML_COSTS": str(gpus)})
    try:
        for line in process.stderr:
            if "reports to http" in line and "every" not in line:
                break
        time.sleep(2)
        files = [os.readlink(link) for link in Path(f"/proc/{process.pid}/fd").iterdir()]
        bare = subprocess.Popen([build / "tests/bench/pread_bench", str(SECONDS)], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        bare.stdin.write("".join(f"{path}\n" for path in files if path.startswith(f"{home}/sys/")))
        bare.stdin.close()
        before, slept = cpu_ms(process.pid), naps(process.pid)
        time.sleep(SECONDS)
        took, woken = cpu_ms(process.pid) - before, naps(process.pid) - slept
        least = float(bare.stdout.read().split()[1])
        bare.wait()
        threads = len(os.listdir(f"/proc/{process.pid}/task"))
        return took / SECONDS, least, woken / SECONDS, threads, *memory(process.pid)
    finally:
        process.terminate()
        process.wait()


def exporter(program, home):
    """Milliseconds a scrape, MB of its own, MB in all."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen([program, f"--path.sysfs={home}/sys", "--collector.disable-defaults", "--collector.infiniband",
                                f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL)
    try:
        def scrape():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5) as page:
                return page.read()
        for _ in range(100):
            try:
                scrape()
                break
            except OSError:
                time.sleep(0.1)
        before = cpu_ms(process.pid)
        for _ in range(SECONDS):
            scrape()
            time.sleep(0.2)
        return (cpu_ms(process.pid) - before) / SECONDS, *memory(process.pid)
    finally:
        process.terminate()
        process.wait()


def main():
    build = Path(os.environ.get("RAIL_BENCH_BUILD", ".")).resolve()
    double = build / "tests" / "doubles" / "libnvidia-ml.so.1"
    if not double.exists():
        print(f"skipped: {double} is not built: make check TESTS=")
        return 77
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as folder:
        home = Path(folder)
        for n in range(8):
            gen_sysfs.make_hca(str(home / "sys"), n, "n00001", 400)
        server = subprocess.Popen([build / "tests/bench/restartd_bench", "--serve"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        try:
            words = server.stdout.readline().split()
            if len(words) != 2:
                print("skipped: no munged here")
                return 77
            print(f"{SECONDS} reports; wanted: 0.25 ms a report, 0.35 with a GPU, 0.8 with 8; 2 wake-ups/s, 3 threads, 4 MB of its own")
            for name, nvml, gpus in (("nodewatchd, 8 HCAs", "", 0), ("nodewatchd, 8 HCAs, 1 GPU (double)", double, 1),
                                     ("nodewatchd, 8 HCAs, 8 GPUs (double)", double, 8)):
                ms, bare, woken, threads, own, resident = agent(build, home, *words, nvml, gpus)
                print(f"  {name:42} {ms:6.2f} ms a report   {woken:5.1f} wake-ups/s   {threads:2} threads   {own:5.1f} MB of its own,"
                      f" {resident:5.1f} resident"
                      f"\n  {'a bare loop over its files meanwhile':42} {bare:6.2f} ms a sweep    {ms / bare:5.1f} times that", flush=True)
        finally:
            server.stdin.close()
            server.wait()
        program = shutil.which("prometheus-node-exporter")
        if program:
            ms, own, resident = exporter(program, home)
            print(f"  {'node_exporter, 8 HCAs':42} {ms:6.2f} ms a scrape   {'':29} {own:5.1f} MB of its own, {resident:5.1f} resident")
        else:
            print("  node_exporter is not installed (Debian: prometheus-node-exporter)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
