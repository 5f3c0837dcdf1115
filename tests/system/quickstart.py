"""Watch a gang job take three faults, each the way it deserves, and finish without a human.

Usage: ./quickstart [--lsf] [--keep] [--build DIR]
       ./quickstart --down

As root on Debian 12: installs packages, builds what a cluster runs in build/ (all with --keep), starts a cluster of 16 hosts on this machine (real
slurmctld, slurmds, munged and opensm; hosts are namespaces, their InfiniBand and GPUs are simulated), and submits
heat2d under railrun on 5 hosts and a spare. The agent of one host dies: nothing is done. One host loses power: the step starts again on the
spare, inside the allocation. A GPU of another brakes: the job saves, and is moved through the queue, for no spare is left.
railctl explain gives the reasons of each. Exit status 0 only if all of that came about, the job stayed in one unit and ended with the
checksum of an undisturbed run.

--lsf takes the job through LSF instead: bsub, esub.rail, restartd's choice of hosts by bmod and bswitch, mpirun. LSF is not real there:
a double of an engine with LSF's commands stands for it (tests/doubles/lsf), held to what that engine wrote. All else is real, and a
host that loses power is survived by a requeue.

--keep leaves the cluster up and prints a line to source; --down ends it.
"""

import argparse
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))

from railcluster import build, lsf, page, shell  # noqa: E402
from railcluster.cluster import Cluster, Options  # noqa: E402
from railcluster.jobs import heat2d  # noqa: E402
from railcluster.process import Timeout, leave_on_sigterm, tail  # noqa: E402
from railcluster.story import Story  # noqa: E402

NODES = 6        # five with ranks, and a spare
STEPS = 2500
PACE_US = 10000  # each step also sleeps this long: 25 s of work, of which the last fault comes after 20 at most
BETWEEN = 1.0    # seconds from a checkpoint to the fault
OPTIONS = ("--rail-span=unit", "--no-kill", "--rail-spares=1")


def arguments():
    parser = argparse.ArgumentParser(prog="quickstart", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lsf", action="store_true", help="under a double of LSF instead of Slurm")
    parser.add_argument("--keep", action="store_true", help="leave the cluster up and print a line to source")
    parser.add_argument("--down", action="store_true", help="end the cluster that --keep left up")
    parser.add_argument("--build", type=Path, default=SOURCE / "build", metavar="DIR", help="build folder")
    return parser.parse_args()


def take_down(record):
    if not record.exists():
        print(f"quickstart: no cluster is up ({record} does not exist)", file=sys.stderr)
        return 1
    root = Path(record.read_text().strip())
    if root.exists():
        Cluster.attach(root).close()
    record.unlink()
    print(f"quickstart: the cluster in {root} is down")
    return 0


def build_it(folder, everything, say):
    """What a cluster runs; whoever plays in it later wants the other programs, too."""
    build.configure(folder, ["--enable-werror"], say)
    build.make(folder, ["all" if everything else "cluster"], say)


def submit_to_slurm(cluster, checkpoints, say):
    job = heat2d(cluster, NODES, STEPS, pace_us=PACE_US, ckpt=checkpoints, options=OPTIONS,
                 launcher="railrun srun --mpi=pmix --ntasks-per-node=1")
    say(f"job {job.number}: sbatch -N{NODES} {' '.join(OPTIONS)} --ckpt-dir={checkpoints} --restart=auto, in it railrun srun")
    return job


def submit_to_lsf(cluster, checkpoints, say):
    hosts = NODES - 1  # no spare: each fault is left through the queue, which takes longer, and so does the job
    job = lsf.heat2d(cluster, hosts, 2 * STEPS, pace_us=PACE_US, ckpt=checkpoints)
    say(f'job {job.number}: bsub -a rail -q gang -n {hosts * lsf.SLOTS} -R "span[ptile={lsf.SLOTS}]", RAIL_SPAN=unit '
        f"RAIL_CKPT_DIR={checkpoints} RAIL_RESTART=auto, in it mpirun")
    return job


def tell(cluster, say):
    """The job's life with three faults; returns whether everything held. Under LSF a lost host is left by a requeue."""
    inside = not cluster.lsf
    if cluster.lsf:
        say("LSF here is a double of an engine with LSF's commands; agents, restartd, esub.rail, mpirun and the job are real")
    say("an undisturbed run first, for its checksum")
    undisturbed = heat2d(cluster, 2, STEPS, n=512) if inside else lsf.heat2d(cluster, 2, 2 * STEPS, n=512)
    undisturbed.wait_state("COMPLETED", 120)
    say(f"undisturbed checksum {undisturbed.checksum()}")

    checkpoints = cluster.root / "scratch" / "checkpoints"
    checkpoints.mkdir(parents=True)
    job = (submit_to_slurm if inside else submit_to_lsf)(cluster, checkpoints, say)
    story = Story(cluster, job, say)
    story.until_running(0, 60)
    story.until_checkpoints(1, 60)

    say("--- 1. a fault that passes: nothing is done ---")
    missed = story.lose_agent()

    say("--- 2. a hard fault: " + ("the step starts again on the spare, inside the allocation ---" if inside else
                                   "the job starts again on other hosts, from its last checkpoint ---"))
    story.linger(BETWEEN)
    off = story.power_off()
    if inside:
        story.until_launched(2, 60)
    else:
        story.until_running(1, 90)
    story.until_checkpoints(1, 60)

    say("--- 3. a soft fault: the job saves, then moves ---")
    story.linger(BETWEEN)
    slow = story.power_brake(missed)
    story.until_running(1 if inside else 2, 90)
    story.until_completed(240)

    story.show(str(job.number))
    held = story.verdict(undisturbed.checksum(), missed, off, slow, inside)
    for what, good in held.items():
        print(f"    {'held  ' if good else 'FAILED'}  {what}", flush=True)
    return all(held.values())


def main():
    args = arguments()
    record = args.build / "quickstart.cluster"
    if args.down:
        return take_down(record)
    begin = time.monotonic()

    def say(text):
        print(f"[{time.monotonic() - begin:6.1f} s] {text}", flush=True)
    if record.exists() and Path(record.read_text().strip()).exists():
        print("quickstart: a kept cluster is up: end it with ./quickstart --down", file=sys.stderr)
        return 2
    leave_on_sigterm()
    cluster = None
    try:
        build_it(args.build, args.keep, say)
        cluster = Cluster.start(Options(build=args.build.resolve(), tied=not args.keep, lsf=args.lsf), say)
        good = tell(cluster, say)
        say("all of it held" if good else "not all of it held")
        if args.keep:
            record.write_text(f"{cluster.root}\n")
            print(f"\nThe cluster stays up; `./quickstart --down` ends it. To play in it:\n    . {shell.write(cluster)}")
            print("    power-off n005; power-on n005; power-brake n006 3 on; cable n007 down; on n008 ps ax; rails lay; slow-rail n010 1")
            print(f"Its fabric, jobs and incidents in a browser on this machine:\n    {page.serve(cluster)}")
            cluster = None
        return 0 if good else 1
    except KeyboardInterrupt:
        print("\nquickstart: interrupted", file=sys.stderr)
        return 130
    except (build.Failed, Timeout, RuntimeError, OSError) as error:
        print(f"quickstart: {error}", file=sys.stderr)
        if cluster:
            for log in (cluster.log("ctl", "restartd"), cluster.log("ctl", "slurmctld")):
                print(tail(log), file=sys.stderr)
        return 1
    finally:
        if cluster:
            cluster.close()


if __name__ == "__main__":
    sys.exit(main())
