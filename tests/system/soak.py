#!/usr/bin/env python3
"""Thousands of jobs through Railyard's plugins inside slurmctld, under AddressSanitizer and UBSan.

Usage: soak.py [--build DIR] [--jobs N] [--release 22.05|24.11|both] [--seed N] [--no-sanitizers] [--minutes N]

The nodes are State=CLOUD without slurmds: scheduling is real, jobs end by scancel. Jobs of all shapes (spans, wishes,
segments, spares, orders, ranges of nodes, shared nodes, required and excluded ones, some impossible) come, wait, change,
are requeued and go, while nodes are drained, taken down and resumed, slurmctld is reconfigured, and the fabric file is
rewritten, broken, removed and put back. Held true: slurmctld lives, no sanitizer reports, a job with a hard span lies in
one unit or pod, and the resident memory of the second half grows by less than SLACK above the first half's (not judged
below SETTLED jobs: until then all is warming up).

The plugins with sanitizers are made in DIR-asan, as tests/run does; only slurmctld loads them, with the runtime
libraries preloaded, and clients have the plain ones of DIR. Exit status: 0 passed or skipped by name, 1 failed.
"""

import argparse
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple, Optional

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from railcluster import build as builder  # noqa: E402
from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.hosts import permitted  # noqa: E402
from railcluster.process import Pid, tail, wait_for  # noqa: E402
from railcluster.testing import Skip, check, need  # noqa: E402
from railcluster.userland import debian13  # noqa: E402

PODS, UNITS, UNIT = 6, 4, 16
SLACK = 12.0           # MB, and 5 % of what there was
SETTLED = 2000         # jobs
BATCH, QUEUE = 25, 120  # jobs a step, and how many may be there after it
LOOK_EVERY = 8         # steps from one look at spans and memory to the next
SETTINGS = {
    "SchedulerParameters": "bf_interval=1,bf_max_job_test=150,sched_interval=1,sched_min_interval=50000,"
                           "bf_max_time=3,batch_sched_delay=0",
    "SlurmctldDebug": "info", "MinJobAge": "2", "SuspendTimeout": "1", "PriorityType": "priority/basic",
}
SHARED = "PartitionName=shared Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=NO\n"


class Report(NamedTuple):
    jobs: int
    refused: int
    started: int
    looked: int            # times that a job with a hard span was looked at
    events: dict[str, int]
    memory: list[float]    # MB, in order of time
    seconds: float

    def growth(self) -> float:
        """MB from the end of the first half to the end, each the median of some samples; the start is warming up."""
        half = len(self.memory) // 2
        share = max(1, len(self.memory) // 8)
        return statistics.median(self.memory[-share:]) - statistics.median(self.memory[half - share // 2:half + share])


class Soak:
    def __init__(self, cluster: Cluster, seed: int, sanitized: Optional[Path]):
        self.cluster, self.draw, self.sanitized = cluster, random.Random(seed), sanitized
        self.folder = cluster.root / "etc"
        self.pid_file = cluster.root / "run" / "slurmctld.pid"
        self.fabric = cluster.agents.fabric
        self.good = self.fabric.read_bytes()
        self.flags: dict[str, str] = {}       # of accepted jobs
        self.seen: set[str] = set()           # jobs that had nodes at a look
        self.exempt: set[str] = set()         # started while slurmctld had no fabric
        self.out_of_use: list[str] = []       # drained and down nodes
        self.blind = 0                        # looks until the fabric is known to be in use again
        self.broken = False
        self.refused = self.looked = 0
        self.events: dict[str, int] = {}
        self.memory: list[float] = []
        self.unit_of = {node: index for index, unit in enumerate(cluster.units) for node in unit}

    # --- slurmctld ---

    def begin(self) -> None:
        """slurmctld again, with the other partition, and with the plugins under test."""
        daemon = self.cluster.daemons["ctl", "slurmctld"]
        daemon.kill(signal.SIGTERM)
        wait_for(lambda: not daemon.alive(), 90, "slurmctld to stop", [daemon.log])
        # A node that was powered down is looked up by its name again, and slurmctld holds locks meanwhile.
        with open(self.folder / "hosts", "a", encoding="utf-8") as hosts:
            hosts.writelines(f"127.0.0.1 {node}\n" for node in self.cluster.nodes)
        conf = self.folder / "slurm.conf"
        conf.write_text(conf.read_text() + SHARED)
        if not self.sanitized:
            self.cluster.start_slurmctld()
            return
        own = self.cluster.root / "sanitized"
        shutil.copytree(self.folder, own)
        plugins = own / "plugins"
        plugins.mkdir()
        for plugin in (self.cluster.root / "plugins").iterdir():
            relative = plugin.resolve().relative_to(self.cluster.options.build.resolve())
            (plugins / plugin.name).symlink_to(self.sanitized / relative)
        text = (own / "slurm.conf").read_text()
        (own / "slurm.conf").write_text(text.replace(f"PluginDir={self.cluster.root}/plugins", f"PluginDir={plugins}"))
        libraries = []
        for name in ("libasan.so", "libubsan.so"):
            found = subprocess.run(["gcc", f"-print-file-name={name}"], stdout=subprocess.PIPE, text=True, check=True)
            # Under the name that the plugins ask for, where another Debian's programs find it too.
            library = Path(found.stdout.strip()).resolve()
            libraries.append(own / f"{name}.{library.name.split('.so.')[1].split('.')[0]}")
            shutil.copy(library, libraries[-1])
        reports = self.cluster.root / "log" / "sanitizer"
        env = {"SLURM_CONF": str(own / "slurm.conf"), "LD_PRELOAD": ":".join(map(str, libraries)),
               # Slurm's own memory is none of ours to judge; what is freed must come back soon, or memory never is flat.
               "ASAN_OPTIONS": f"log_path={reports}:detect_leaks=0:quarantine_size_mb=4:malloc_context_size=6:"
                               "detect_odr_violation=0:alloc_dealloc_mismatch=0:allocator_release_to_os_interval_ms=500",
               "UBSAN_OPTIONS": f"log_path={reports}:print_stacktrace=1"}
        daemon = self.cluster.spawn("ctl", "slurmctld", self.cluster.slurm.slurmctld(), env=env, own_log=True)
        wait_for(lambda: "UP" in self.cluster.run("scontrol", "ping", timeout=5).stdout, 60, "slurmctld with sanitizers",
                 [daemon.log.with_suffix(".err"), daemon.log], needs=daemon.pid)
        maps = Path(f"/proc/{daemon.pid.pid}/maps").read_text()
        check("libasan" in maps and "sanitized" not in self.cluster.options.build.name, "slurmctld has no sanitizer")

    def slurmctld(self) -> Pid:
        """The one that runs: 24.11 reconfigures by starting a new one."""
        daemon = self.cluster.daemons["ctl", "slurmctld"]
        if not daemon.pid.alive():
            def successor():
                for entry in Path("/proc").iterdir():
                    if entry.name.isdigit() and entry.joinpath("comm").read_text().startswith("slurmctld") and \
                            entry.joinpath("root").exists() and str(self.cluster.root) in entry.joinpath("environ").read_text():
                        return Pid.of(int(entry.name))
                return None
            daemon.pid = wait_for(successor, 20, "slurmctld, which has died", [daemon.log.with_suffix(".err"), daemon.log])
        return daemon.pid

    def healthy(self) -> None:
        pid = self.slurmctld()
        reports = sorted(self.cluster.root.glob("log/sanitizer*"))
        check(not reports, "a sanitizer reports:\n" + "\n".join(path.read_text(errors="replace")[:6000] for path in reports))
        check(pid.alive(), "slurmctld has died")

    def rss(self) -> float:
        status = Path(f"/proc/{self.slurmctld().pid}/status").read_text()
        return int(re.search(r"^VmRSS:\s+(\d+)", status, re.MULTILINE)[1]) / 1024

    # --- jobs ---

    def shape(self) -> str:
        """The flags of one job. Some ask for what never fits, and are to be refused."""
        draw = self.draw
        nodes = draw.choice([1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24, 32, 48])
        flags = [f"-t {draw.choice([5, 30, 60, 300, 1440])}"]
        kind = draw.random()
        if kind < 0.12:
            flags += ["-p shared", f"-n {draw.randint(1, 40)}", f"-c {draw.choice([1, 2, 4])}"]
        elif kind < 0.3:
            flags.append(f"-N{nodes}-{nodes + draw.randint(0, 12)}")
        else:
            flags.append(f"-N{nodes}")
        if draw.random() < 0.6:
            span = draw.choice(["unit", "unit", "pod", "fabric"])
            flags.append(f"--rail-span={span}{draw.choice(['', '', '', '@2s', '@1m', '@2h'])}")
        if nodes > 1 and draw.random() < 0.2:
            flags.append(f"--rail-segment={draw.choice([size for size in (2, 3, 4, 8, 16) if nodes % size == 0] or [2])}")
        if nodes > 2 and draw.random() < 0.2:
            flags.append(f"--rail-spares={draw.randint(1, 3)}")
        if draw.random() < 0.2:
            flags.append(f"--rail-order={draw.choice(['ring', 'tree', 'none'])}")
        if draw.random() < 0.15:
            flags.append(f"-x {','.join(draw.sample(self.cluster.nodes, draw.randint(1, 20)))}")
        if draw.random() < 0.08:
            flags.append(f"-w {draw.choice(self.cluster.nodes)}")
        if draw.random() < 0.15:
            flags.append("--gres=gpu:8")
        if draw.random() < 0.1:
            flags.append(f"--begin=now+{draw.randint(1, 20)}")
        if draw.random() < 0.1:
            flags.append("--restart=auto")
        if draw.random() < 0.05:
            flags.append("--test-only")
        return " ".join(flags)

    def submit(self, count: int) -> None:
        shapes = [self.shape() for _ in range(count)]
        lines = "".join(f"sbatch --parsable -o /dev/null {flags} --wrap true 2>/dev/null || echo no\n" for flags in shapes)
        # --test-only prints nothing here
        script = lines.replace("--test-only --wrap true 2>/dev/null || echo no", "--test-only --wrap true 2>/dev/null; echo asked")
        answers = self.cluster.out("sh", "-s", stdin=script, timeout=300).split()
        check(len(answers) == count, f"{count} jobs were submitted, and sbatch said {answers}")
        for flags, answer in zip(shapes, answers):
            if answer == "no":
                self.refused += 1
            elif answer != "asked":
                self.flags[answer] = flags

    def queue(self) -> dict[str, tuple[str, str]]:
        """State and nodes of each job there is."""
        lines = self.cluster.out("squeue", "-h", "-o", "%i %t %N").splitlines()
        return {words[0]: (words[1], words[2] if len(words) > 2 else "") for words in map(str.split, lines)}

    def retire(self) -> None:
        """Cancels running and waiting jobs until as many are left as may be."""
        jobs = self.queue()
        having = [job for job, (state, _) in jobs.items() if state in ("R", "CF")]
        waiting = [job for job, (state, _) in jobs.items() if state == "PD"]
        gone = self.draw.sample(having, int(len(having) * self.draw.uniform(0.2, 0.9)))
        excess = max(0, len(jobs) - len(gone) - QUEUE)
        gone += self.draw.sample(waiting, min(excess, len(waiting)))
        if gone:
            self.cluster.run("scancel", *gone, timeout=60)

    def look(self) -> None:
        """The spans of what has nodes. A moment may lie between what squeue says of two jobs, never within one."""
        jobs = self.queue()
        for job, (state, nodes) in jobs.items():
            flags = self.flags.get(job, "")
            if state not in ("R", "CF") or not nodes:
                continue
            if job not in self.seen:
                self.seen.add(job)
                if self.blind:
                    self.exempt.add(job)
            span = re.search(r"--rail-span=(unit|pod)(?:$| )", flags)
            if not span or job in self.exempt:
                continue
            self.looked += 1
            units = {self.unit_of[node] for node in _expand(nodes)}
            parts = units if span[1] == "unit" else {unit // UNITS for unit in units}
            check(len(parts) == 1, f"job {job} ({flags}) lies in {len(parts)} {span[1]}s: {nodes}")
        self.memory.append(self.rss())
        if self.blind and not self.broken:
            self.blind -= 1

    # --- what happens meanwhile ---

    def event(self, name: str) -> None:
        self.events[name] = self.events.get(name, 0) + 1
        getattr(self, name)()

    def drain(self) -> None:
        nodes = self.draw.sample(self.cluster.nodes, self.draw.randint(1, 6))
        self.cluster.run("scontrol", "update", f"nodename={','.join(nodes)}", "state=drain", "reason=soak")
        self.out_of_use += nodes

    def fail(self) -> None:
        node = self.draw.choice(self.cluster.nodes)
        self.cluster.run("scontrol", "update", f"nodename={node}", "state=down", "reason=soak")
        self.out_of_use.append(node)

    def resume(self) -> None:
        nodes, self.out_of_use = self.out_of_use, []
        for node in set(nodes):
            self.cluster.run("scontrol", "update", f"nodename={node}", "state=resume")

    def requeue(self) -> None:
        having = [job for job, (state, _) in self.queue().items() if state in ("R", "CF")]
        if having:
            self.cluster.run("scontrol", "requeue", self.draw.choice(having))

    def change(self) -> None:
        waiting = [job for job, (state, _) in self.queue().items() if state == "PD"]
        if waiting:
            what = self.draw.choice(["numnodes=6", "timelimit=17", f"excnodelist={self.draw.choice(self.cluster.nodes)}",
                                     "admincomment=soaked", "nice=3", "numnodes=40"])
            self.cluster.run("scontrol", "update", f"jobid={self.draw.choice(waiting)}", what)

    def ask(self) -> None:
        for command in (("squeue", "--start"), ("sinfo", "-N"), ("scontrol", "show", "job"), ("scontrol", "show", "config")):
            self.cluster.out(*command)

    def rewrite(self) -> None:
        """The same fabric with another number of rails."""
        shape = f"pods={PODS} units={UNITS} hosts={UNIT} rails={self.draw.choice([1, 2, 4, 8])} rate=4xHDR"
        new = self.fabric.with_suffix(".new")
        subprocess.run([self.cluster.options.build / "railtopo", "synth", shape, "--out", new], check=True,
                       stdout=subprocess.DEVNULL)
        new.rename(self.fabric)
        self.broken = False

    def corrupt(self) -> None:
        text = bytearray(self.good)
        how = self.draw.randrange(3)
        if how == 0:
            del text[self.draw.randrange(len(text) - 2):]
        elif how == 1:
            for _ in range(200):
                text[self.draw.randrange(len(text))] = self.draw.randrange(256)
        else:
            text = bytearray(b"")
        self.fabric.write_bytes(text)
        self.broken = True

    def remove(self) -> None:
        self.fabric.unlink(missing_ok=True)
        self.broken = True

    def restore(self) -> None:
        self.fabric.write_bytes(self.good)
        self.broken = False

    def recycle(self) -> None:
        """Idle nodes are powered down and up: without a slurmd, one that was down or is reconfigured never boots."""
        idle = self.cluster.out("sinfo", "-h", "-p", "batch", "-t", "idle", "-o", "%N")
        if idle:
            self.cluster.run("scontrol", "update", f"nodename={idle}", "state=power_down_force")

    def reconfigure(self) -> None:
        """With jobs that have nodes; only then do these go, as their nodes have to be powered down."""
        if self.broken:
            self.blind = 3
        self.cluster.run("scontrol", "reconfigure", timeout=60)
        log = [self.cluster.log("ctl", "slurmctld")]
        wait_for(lambda: "UP" in self.cluster.run("scontrol", "ping", timeout=5).stdout, 60, "slurmctld to answer", log)
        self.look()
        having = [job for job, (state, _) in self.queue().items() if state in ("R", "CF")]
        if having:
            self.cluster.run("scancel", *having, timeout=60)
        self.resume()
        self.recycle()
        wait_for(lambda: "~" in self.cluster.out("sinfo", "-h", "-p", "batch", "-o", "%T"), 90, "nodes to be powered down", log,
                 every=0.5)

    def run(self, jobs: int, say, minutes: float) -> Report:
        self.begin()
        chances = {"drain": 0.25, "fail": 0.15, "resume": 0.25, "requeue": 0.4, "change": 0.5, "ask": 0.1, "rewrite": 0.12,
                   "corrupt": 0.08, "remove": 0.05, "restore": 0.12, "recycle": 0.03, "reconfigure": 0.015}
        begin = time.monotonic()
        steps = -(-jobs // BATCH)
        done = 0
        for step in range(steps):
            done += BATCH
            self.submit(BATCH)
            for name, chance in chances.items():
                if self.draw.random() < chance:
                    self.event(name)
            time.sleep(0.3)  # some scheduling between coming and going
            self.retire()
            self.healthy()
            if (step + 1) % max(1, min(LOOK_EVERY, steps // 10)) == 0:
                self.look()
            if step % 40 == 39:
                say(f"{done} jobs, {time.monotonic() - begin:.0f} s, {self.memory[-1]:.1f} MB")
            if time.monotonic() - begin > minutes * 60:
                say(f"{minutes:g} minutes are over")
                break
        self.healthy()
        log = self.cluster.log("ctl", "slurmctld").read_text(errors="replace")
        started = len(re.findall(r"sched: Allocate JobId=|_start_job: Started JobId=", log))
        return Report(done, self.refused, started, self.looked, self.events, self.memory, time.monotonic() - begin)


def _expand(text: str) -> list[str]:
    """The nodes of n[001-004,007]; one prefix, as here."""
    prefix, _, rest = text.partition("[")
    if not rest:
        return text.split(",")
    nodes = []
    for part in rest.rstrip("]").split(","):
        low, _, high = part.partition("-")
        nodes += [f"{prefix}{number:0{len(low)}d}" for number in range(int(low), int(high or low) + 1)]
    return nodes


def soak(build: Path, root: Optional[Path], sanitized: Optional[Path], jobs: int, seed: int = 1,
         say=lambda text: None, minutes: float = 60) -> Report:
    """Fails with an exception that tells what was wrong."""
    options = Options(build=build, userland=root, cloud=True, pods=PODS, units=UNITS, hosts_per_unit=UNIT,
                      slurmd_timeout=0, settings=SETTINGS)
    with Cluster.start(options) as cluster:
        try:
            report = Soak(cluster, seed, sanitized).run(jobs, say, minutes)
        except Exception as error:
            log = cluster.log("ctl", "slurmctld")
            raise type(error)(f"{error}\n{tail(log.with_suffix('.err'))}\n{tail(log, 40)}") from error
        log = cluster.log("ctl", "slurmctld").read_text(errors="replace")
        check("took nodes it was not offered" not in log, "select_cons_tres left what it was offered")
        grown, allowed = report.growth(), SLACK + 0.05 * report.memory[0]
        check(grown <= allowed or report.jobs < SETTLED, f"the second half took {grown:.1f} MB more, {allowed:.1f} are allowed: "
              + " ".join(f"{size:.0f}" for size in report.memory))
        return report


def tell(release: str, report: Report) -> str:
    happened = ", ".join(f"{name} {count}" for name, count in sorted(report.events.items()))
    return (f"{release}: {report.jobs} jobs in {report.seconds:.0f} s, {report.refused} refused, "
            f"{report.started} starts, {report.looked} looks at a hard span; {happened}\n{release}: memory {report.memory[0]:.1f} MB at first, "
            f"{report.memory[len(report.memory) // 2]:.1f} half way, {report.memory[-1]:.1f} at the end, most "
            f"{max(report.memory):.1f}; the second half grew by {report.growth():.1f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path(__file__).resolve().parents[2] / "build", metavar="DIR")
    parser.add_argument("--jobs", type=int, default=10000, metavar="N")
    parser.add_argument("--release", choices=("22.05", "24.11", "both"), default="both")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--minutes", type=float, default=60, metavar="N", help="end early after so long, for each release")
    parser.add_argument("--no-sanitizers", action="store_true", help="the plain plugins")
    args = parser.parse_args()

    def say(text: str) -> None:
        print(f"soak: {text}", flush=True)
    if reason := permitted():
        say(f"skipped: {reason}")
        return 0
    build = args.build.resolve()
    sanitized = None if args.no_sanitizers else build.with_name(build.name + "-asan")
    if sanitized:
        builder.configure(sanitized, builder.SANITIZED, say, ("", "trixie"))
        builder.make(sanitized, ["plugins"], say, "make plugins with sanitizers")
    failed = False
    for release, plugin in (("22.05", ".libs/select_rail.so"), ("24.11", "second/.libs/topology_rail.so")):
        if args.release not in (release, "both"):
            continue
        try:
            need(build, [plugin])
            root = debian13().root if release == "24.11" else None
            report = soak(build, root, sanitized, args.jobs, args.seed, lambda text: say(f"{release}: {text}"), args.minutes)
            print(tell(release, report), flush=True)
        except Skip as reason:
            say(f"{release} skipped: {reason}")
        except Exception as error:  # noqa: BLE001: the other release is run all the same
            say(f"{release} failed: {error}")
            failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())
