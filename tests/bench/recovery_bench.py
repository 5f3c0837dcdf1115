#!/usr/bin/env python3
"""From a fault to the job's first instruction elsewhere, by stage: Railyard beside stock Slurm and a health check every 5 min.

Usage: recovery_bench.py [--build DIR] [--runs N] [--faults NAME,…] [--railrun NAME,…] [--railrun-runs N] [--seed N]
                         [--watch SECONDS] [--no-stock]

Each run puts one fault into a running gang of six nodes on a simulated cluster (16 hosts in two units, 8 rails on ibsim
and opensm, real Slurm, doubles of GPUs, kernel log and sysfs). Times are this machine's one clock:
    detect   from before the fault was made to the journal's note that it holds: of a lost host its second witness
    decide   to the journal's first action on the host; a job that is asked to save does so in this time
    drain    until that action was done
    requeue  until the last action on the job was done before its start; without one: 0
    first    until the job's first rank says on its first line that it starts
Faults that are none (an agent killed, a link that flaps, a management switch that fails) must lead to no action: the job
is watched for --watch seconds (15), and what was done all the same is counted.

Beside it, in the same run: stock Slurm with SlurmdTimeout=10 and cred_expire=5, its quickest sound setting, and a health
check as NHC's every 5 min on the same stock Slurm. Of the latter what it does (drain, requeue) is measured; when it looks
is not waited for but computed, since a fault comes at any moment of the period: p50 150 s, p99 297 s.

A second table has faults of which the job recovers inside its allocation (--railrun, by default power-off; --railrun-runs,
by default as many as --runs): the same gang under railrun with a seventh host as its spare, beside the same fault met by a
requeue. It has instead of drain and requeue, which railrun does not wait for:
    decide    to the journal's note that the step is to start again inside its allocation
    relaunch  until railrun said that it starts the next launch

RAIL_BENCH_RUNS and RAIL_BENCH_BUILD set the defaults of --runs (20) and --build (the current folder). Needs root. All
faults with 20 runs take about two hours; --runs 3 --faults power-off,gpu-lost a few minutes.
"""

import argparse
import math
import os
import random
import signal
import statistics
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "system"))

from railcluster import faults  # noqa: E402
from railcluster.agents import LINK_GBPS, gen_sysfs  # noqa: E402
from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.jobs import AGAIN, START, Job, heat2d  # noqa: E402
from railcluster.process import leave_on_sigterm, wait_for  # noqa: E402
from railcluster.told import history  # noqa: E402

NODES = 6
STAGES = ("detect", "decide", "drain", "requeue", "first")
INSIDE_STAGES = ("detect", "decide", "relaunch", "first")  # under railrun
GRACE = 6.5        # s: restartd suspects nobody for twice [node_loss] silent after its start
SWITCH_RESTART = 10  # s, [topology] switch_restart here: a leaf is waited for as long, which is 3 min by default
NHC_PERIOD = 300.0
LONGEST = 180      # s, of a recovery: more is none
XID = "4,1530,76421863,-;NVRM: Xid (PCI:0000:14:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.\n"


class Fault:
    """What is done to a cluster and its job; `expect` is moved, noted or nothing."""

    expect = "moved"
    lost = False  # detected when a second witness has spoken

    @staticmethod
    def choose(nodes, dice):
        """The victim: not the first host, where the batch script and srun run."""
        return dice.choice(nodes[1:])

    def make(self, cluster, nodes, victim, dice):
        raise NotImplementedError

    def undo(self, cluster, victim):
        pass


class PowerOff(Fault):
    lost = True

    def make(self, cluster, nodes, victim, dice):
        cluster.power_off(victim)


class BatchHostOff(PowerOff):
    """The daemons of the job's other hosts then wait for an srun that does not answer."""

    @staticmethod
    def choose(nodes, dice):
        return nodes[0]


class AgentKilled(Fault):
    expect = "nothing"

    def make(self, cluster, nodes, victim, dice):
        cluster.daemons[victim, "nodewatchd"].kill(signal.SIGKILL)


class KernelHung(Fault):
    """Every process of the host stops; the kernel answers pings and takes connections, and the links stay up."""

    lost = True

    def make(self, cluster, nodes, victim, dice):
        cluster.hang(victim)

    def undo(self, cluster, victim):
        cluster.power_off(victim)


class GpuLost(Fault):
    def make(self, cluster, nodes, victim, dice):
        with open(cluster.agents.hardware(victim) / "kmsg", "a") as log:
            log.write(XID)
        cluster.agents.set_gpu(victim, 0, lost=1)


class PowerBrake(Fault):
    def make(self, cluster, nodes, victim, dice):
        cluster.power_brake(victim, dice.randrange(8), True)


class PcieDowngrade(Fault):
    expect = "noted"

    def make(self, cluster, nodes, victim, dice):
        cluster.agents.set_gpu(victim, dice.randrange(8), pcie_width=8)


class Cables(Fault):
    """Cables of rails, at the fabric's end and in the hosts' own view; ports are plugged in again at the end."""

    def __init__(self):
        self.pulled = []

    def pull(self, cluster, host, rail):
        self.pulled.append((host, rail))
        cluster.fabric.console(f'Unlink "{cluster.fabric.hcas[host][rail]}"[1]')
        self.show(cluster, host, rail, "down")

    def plug(self, cluster, host, rail):
        cluster.fabric.console(f'ReLink "{cluster.fabric.hcas[host][rail]}"[1]')
        self.show(cluster, host, rail, "up")

    @staticmethod
    def show(cluster, host, rail, state):
        cluster.agents._faulty.add(host)  # its agent starts anew: a finding outlasts its cause
        gen_sysfs.assign(str(cluster.agents.hardware(host) / "sys"), f"mlx5_{rail}.link={state}", LINK_GBPS)

    def undo(self, cluster, victim):
        while self.pulled:
            self.plug(cluster, *self.pulled.pop())


class LinkFlap(Cables):
    expect = "nothing"

    def make(self, cluster, nodes, victim, dice):
        rail = dice.randrange(8)
        self.pull(cluster, victim, rail)
        time.sleep(0.5)  # the flap itself
        self.plug(cluster, *self.pulled.pop())


class HcaPortDead(Cables):
    def make(self, cluster, nodes, victim, dice):
        self.pull(cluster, victim, dice.randrange(8))


class LeafDead(Cables):
    def make(self, cluster, nodes, victim, dice):
        rail = dice.randrange(8)
        for host in next(unit for unit in cluster.units if victim in unit):
            self.pull(cluster, host, rail)


class ManagementSwitchDead(Fault):
    """No host reaches the controller or another by Ethernet; the fabric is as before."""

    expect = "nothing"

    def make(self, cluster, nodes, victim, dice):
        for node in cluster.nodes:
            cluster.yard.cable(node, False)

    def undo(self, cluster, victim):
        for node in cluster.nodes:
            cluster.yard.cable(node, True)


FAULTS = {"power-off": PowerOff, "batch-host-off": BatchHostOff, "kernel-hung": KernelHung, "gpu-lost": GpuLost, "power-brake": PowerBrake,
          "hca-port-dead": HcaPortDead, "leaf-dead": LeafDead, "pcie-downgrade": PcieDowngrade,
          "agent-killed": AgentKilled, "link-flap": LinkFlap, "switch-dead": ManagementSwitchDead}

MOVED = [name for name, fault in FAULTS.items() if fault.expect == "moved"]
INSIDE = [name for name in MOVED if name != "batch-host-off"]  # which railrun does not outlive
LOSSES = [name for name, fault in FAULTS.items() if fault.lost]  # which stock Slurm sees, too


def first_line(job, count, limit=LONGEST):
    """The moment at which the job has said so many times that it starts."""
    wait_for(lambda: len(job.lines(START)) >= count, limit, f"job {job.number} to start the {count}. time", every=0.005)
    return time.time()


def submit(cluster, inside=False):
    """A running gang with a checkpoint and its hosts; `inside`: under railrun, with one host more as its spare."""
    folder = cluster.root / "scratch" / f"ckpt-{time.monotonic_ns()}"
    folder.mkdir(parents=True)
    flags, launcher = ("--rail-span=unit",), "srun --mpi=pmix --ntasks-per-node=1"
    if inside:
        flags, launcher = (*flags, "--no-kill", "--rail-spares=1"), f"railrun {launcher}"
    job = heat2d(cluster, NODES + inside, 10**6, n=64, pace_us=20000, ckpt=folder, options=flags, launcher=launcher)
    job.wait_checkpoint(60)
    job.wait_state("RUNNING", 30)
    return job, job.ranks()


def detected(told, since, fault):
    """The first signal of an incident after the fault; of a lost host the one that confirms it."""
    for note in told["timeline"]:
        if note["kind"] == "signal" and note["time"] >= since and (not fault.lost or "second witness" in note["text"]):
            return note["time"]
    return None


def stages(told, job, victim, fault, since, first):
    """Seconds of each stage; None: nothing was told of it."""
    found = detected(told, since, fault)
    actions = sorted((one for one in told["actions"] if one["created"] >= since and one["finished"]), key=lambda one: one["created"])
    mine = [one for one in actions if one["kind"] in ("requeue_job", "update_job") and one["finished"] <= first]
    drains = [one for one in actions if one["kind"] in ("drain_host", "down_host") and one["created"] <= first]
    marks = [since, found or since,
             actions[0]["created"] if actions else found or since,
             drains[0]["finished"] if drains else None,
             max((one["finished"] for one in mine), default=None), first]
    return between(STAGES, marks)


def between(names, marks):
    """Seconds of each stage, from its mark to the next: one that was not, or was over before the one before it, took none."""
    for index in range(1, len(marks)):
        marks[index] = max(marks[index - 1], marks[index] or 0)
    return {stage: later - before for stage, before, later in zip(names, marks, marks[1:])}


def inside_stages(told, fault, since, again, first):
    """Likewise under railrun, which said at `again` that it starts the step once more."""
    found = detected(told, since, fault)
    decided = next((note["time"] for note in told["timeline"]
                    if note["time"] >= since and "start its step again inside its allocation" in note["text"]), None)
    return between(INSIDE_STAGES, [since, found or since, decided, again, first])


def launched_again(job):
    wait_for(lambda: job.lines(AGAIN), LONGEST, f"job {job.number} to start again inside its allocation", every=0.005)
    return time.time()


def run_once(cluster, name, dice, watch, inside=False):
    """Seconds by stage of one fault; or how many actions it led to where it must lead to none."""
    fault = FAULTS[name]()
    faults.restore(cluster)
    ready = time.monotonic() + GRACE
    job, nodes = submit(cluster, inside)
    time.sleep(max(0.0, ready - time.monotonic()) + dice.random())  # at any moment between two heartbeats
    victim = fault.choose(nodes, dice)
    since = time.time()
    try:
        fault.make(cluster, nodes, victim, dice)
        if inside:
            again = launched_again(job)
            first = first_line(job, 2)
            if job.seen().restarts:
                raise RuntimeError("it was requeued")
            return inside_stages(history(cluster), fault, since, again, first)
        if fault.expect == "moved":
            first = first_line(job, 2)
            return stages(history(cluster), job, victim, fault, since, first)
        if fault.expect == "noted":
            wait_for(lambda: detected(history(cluster), since, fault), LONGEST, f"{name} to be noted", every=0.05)
            return {"detect": detected(history(cluster), since, fault) - since}
        time.sleep(watch)
        acted = [action["kind"] for action in history(cluster)["actions"]]
        seen = job.seen()
        moved = (seen.state, seen.restarts) != ("RUNNING", 0)
        return {"acted": len(acted) + moved}
    finally:
        fault.undo(cluster, victim)


def measure(cluster, name, runs, dice, watch, inside=False):
    samples = []
    for run in range(runs):
        try:
            samples.append(run_once(cluster, name, dice, watch, inside))
            told = " ".join(f"{stage} {value:.2f}" for stage, value in samples[-1].items())
        except Exception as error:  # noqa: BLE001: a run without an end is one of the results
            samples.append(None)
            told = f"no end: {str(error).splitlines()[0]}"
        print(f"  {name}{', railrun' if inside else ''}: run {run + 1} of {runs}: {told}", flush=True)
    return samples


# --- beside it ---

def stock_submit(cluster, build):
    folder = cluster.root / "scratch"
    folder.mkdir(exist_ok=True)
    output = folder / f"stock-{time.monotonic_ns()}.out"
    output.touch()
    script = ("#!/bin/sh\nexec srun --mpi=pmix --ntasks-per-node=1 "
              f"{build}/tests/apps/heat2d --n 64 --steps 1000000 --pace-us 20000\n")
    number = cluster.out("sbatch", "--parsable", f"-N{NODES}", "--exclusive", "--requeue", "--open-mode=append",
                         f"--output={output}", stdin=script)
    job = Job(cluster, int(number), output)
    first_line(job, 1)
    return job, job.wait_state("RUNNING", 30).nodes


def stock_loss(cluster, build, name, dice):
    """Slurm's own: its ping, DOWN, requeue."""
    fault = FAULTS[name]()
    faults.restore(cluster)
    job, nodes = stock_submit(cluster, build)
    time.sleep(dice.random())
    victim = fault.choose(nodes, dice)
    since = time.time()
    try:
        fault.make(cluster, nodes, victim, dice)
        wait_for(lambda: "down" in cluster.node_states()[victim], LONGEST, f"{victim} to be down", every=0.05)
        down = time.time()
        return {"detect": down - since, "first": first_line(job, 2) - down}
    finally:
        fault.undo(cluster, victim)


def stock_check(cluster, build, dice):
    """What a health check does once it has found something."""
    faults.restore(cluster)
    job, nodes = stock_submit(cluster, build)
    victim = Fault.choose(nodes, dice)
    since = time.time()
    cluster.out("scontrol", "update", f"nodename={victim}", "state=drain", "reason=NHC")
    drained = time.time()
    cluster.out("scontrol", "requeue", str(job.number))
    requeued = time.time()
    return {"drain": drained - since, "requeue": requeued - drained, "first": first_line(job, 2) - requeued}


def beside(build, names, runs, dice):
    """Samples of stock Slurm by fault, and of a health check's own work."""
    samples = {}
    with Cluster.start(Options(build=None, slurmd_timeout=10, cred_expire=5)) as cluster:
        for name, once in [*((name, lambda name=name: stock_loss(cluster, build, name, dice))
                             for name in LOSSES if name in names),
                           ("check", lambda: stock_check(cluster, build, dice))]:
            for run in range(runs):
                try:
                    samples.setdefault(name, []).append(once())
                    told = " ".join(f"{stage} {value:.2f}" for stage, value in samples[name][-1].items())
                except Exception as error:  # noqa: BLE001
                    samples.setdefault(name, []).append(None)
                    told = f"no end: {str(error).splitlines()[0]}"
                print(f"  stock Slurm, {name}: run {run + 1} of {runs}: {told}", flush=True)
    return samples


# --- the table ---

def part(values, share):
    """The value that so large a share of them does not exceed: the largest, of fewer than a hundred, for 0.99."""
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)]


def pair(values):
    return f"{statistics.median(values):6.2f}/{part(values, 0.99):6.2f}" if values else f"{'-':>13}"


def row(label, samples, peer=None, offset=(0.0, 0.0), names=STAGES):
    """A line of the table. `offset`: computed seconds of detection, at p50 and p99."""
    good = [sample for sample in samples if sample]
    cells = [pair([sample[stage] for sample in good if stage in sample]) for stage in names]
    if any(offset):
        cells[0] = f"{offset[0]:6.1f}/{offset[1]:6.1f}"
    totals = [sum(sample.values()) for sample in good]
    total = [statistics.median(totals) + offset[0], part(totals, 0.99) + offset[1]] if totals else None
    ratio = f"{peer / total[0]:8.1f}x" if peer and total else ""
    print(f"{label:26} {len(good):3}/{len(samples):<3} {' '.join(cells)}  "
          f"{f'{total[0]:6.2f}/{total[1]:6.2f}' if total else '-':>13} {ratio}", flush=True)
    return total and total[0]


def table(results, peers, seed):
    print(f"\nseconds from the fault, p50/p99 (of fewer than 100 runs the slowest); seed {seed}, {os.cpu_count()} cores\n"
          f"{'':26} {'runs':>7} {' '.join(f'{stage:>13}' for stage in STAGES)}  {'all':>13} {'peer/this':>9}")
    stock = {}
    for name in LOSSES:
        if peers.get(name):
            stock[name] = row(f"{name}, stock Slurm", peers[name])
    check = None
    if peers.get("check"):
        check = row("any finding, 5 min check", peers["check"], offset=(0.5 * NHC_PERIOD, 0.99 * NHC_PERIOD))
    for name, samples in results.items():
        expect = FAULTS[name].expect
        if expect == "nothing":
            acted = sum(1 for sample in samples if sample is None or sample["acted"])
            print(f"{name + ', Railyard':26} {len(samples):3}     must do nothing: acted in {acted} of {len(samples)} runs")
        else:
            row(f"{name}, Railyard", samples, stock.get(name) or (check if expect == "moved" else None))
    if check:
        print("the check's detect is computed from its period of 5 min, the rest of it is measured; it is the peer of findings,\n"
              "stock Slurm that of lost hosts. power-brake, hca-port-dead and leaf-dead wait for their rule's window of 5 and 10 s,\n"
              "pcie-downgrade for 60 s, leaf-dead then for a leaf that restarts, "
              f"{SWITCH_RESTART} s here ([topology] switch_restart, by default 3 min).")


def inside_table(results, requeued, seed):
    """`requeued`: samples of the same faults without railrun; its drain and requeue stand together under relaunch."""
    print(f"\nrecovered inside the allocation by railrun, and by a requeue: seconds from the fault, p50/p99; seed {seed}\n"
          f"{'':26} {'runs':>7} {' '.join(f'{stage:>13}' for stage in INSIDE_STAGES)}  {'all':>13} {'peer/this':>9}")
    for name, samples in results.items():
        joined = [sample and {"detect": sample["detect"], "decide": sample["decide"],
                              "relaunch": sample["drain"] + sample["requeue"], "first": sample["first"]}
                  for sample in requeued[name]]
        peer = row(f"{name}, requeue", joined, names=INSIDE_STAGES)
        row(f"{name}, railrun", samples, peer, names=INSIDE_STAGES)
    print("relaunch of a requeue: its drain and its requeue.")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=Path(os.environ.get("RAIL_BENCH_BUILD", ".")))
    parser.add_argument("--runs", type=int, default=int(os.environ.get("RAIL_BENCH_RUNS", "20")), metavar="N")
    parser.add_argument("--faults", default=",".join(FAULTS), metavar="NAME,…", help=", ".join(FAULTS))
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of victims and moments")
    parser.add_argument("--watch", type=float, default=15, metavar="SECONDS", help="how long nothing must happen")
    parser.add_argument("--railrun", default="power-off", metavar="NAME,…",
                        help=f"faults recovered inside the allocation, too: {', '.join(INSIDE)}; '' for none")
    parser.add_argument("--railrun-runs", type=int, metavar="N", help="of these; as many as --runs by default")
    parser.add_argument("--no-stock", action="store_true", help="Railyard alone")
    args = parser.parse_args()
    args.names = [name for name in args.faults.split(",") if name]
    args.inside = [name for name in args.railrun.split(",") if name]
    if unknown := [name for name in args.names if name not in FAULTS]:
        parser.error(f"no fault is called {unknown[0]}: {', '.join(FAULTS)}")
    if unfit := [name for name in args.inside if name not in INSIDE]:
        parser.error(f"--railrun: {unfit[0]} is none of {', '.join(INSIDE)}")
    if args.railrun_runs is None:
        args.railrun_runs = args.runs
    if min(args.runs, args.railrun_runs) < 1:
        parser.error("--runs and --railrun-runs: at least 1")
    return args


def main():
    args = arguments()
    if os.geteuid() != 0:
        print("recovery_bench: skipped: not root")
        return 77
    build = args.build.resolve()
    if not (build / "restartd").exists():
        print(f"recovery_bench: {build} is no build folder: name it with --build", file=sys.stderr)
        return 2
    leave_on_sigterm()
    dice = random.Random(args.seed)
    results = {}
    with Cluster.start(Options(build=build, railyard={"topology.switch_restart": f'"{SWITCH_RESTART}s"'})) as cluster:
        if not cluster.yard.namespaces:
            print("recovery_bench: skipped: hosts are plain processes here, which have no power switch")
            return 77
        for name in args.names:
            results[name] = measure(cluster, name, args.runs, dice, args.watch)
        requeued = {name: results.get(name) or measure(cluster, name, args.railrun_runs, dice, args.watch)
                    for name in args.inside}
        inside = {name: measure(cluster, name, args.railrun_runs, dice, args.watch, inside=True) for name in args.inside}
    peers = {} if args.no_stock or not args.names else beside(build, args.names, args.runs, dice)
    if args.names:
        table(results, peers, args.seed)
    if inside:
        inside_table(inside, requeued, args.seed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
