#!/usr/bin/env python3
"""Heat that flows around a ring of ranks: an example of a parallel Python program that takes part in Railyard, over
mpi4py.

    ring.py [STEPS [PACE]]      # PACE: seconds to sleep after each step, to watch a restart at leisure

Written against mpi4py 3.1. All ranks take part in each call of the group; rank 0 alone holds the handle.
"""
import logging
import pickle
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import railckpt
from mpi4py import MPI

logging.basicConfig(format="ring: %(message)s")  # a checkpoint that fails is logged, and the job goes on
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
pace = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

leaving = []  # Slurm says that the time limit is near: sbatch --signal=USR1@120
signal.signal(signal.SIGUSR1, lambda number, frame: leaving.append(number))

comm = MPI.COMM_WORLD
before, after = (comm.rank - 1) % comm.size, (comm.rank + 1) % comm.size
heat = [float(comm.rank)] * 1000


writer = ThreadPoolExecutor(1)


def write(part, copy):
    part.write_bytes(copy)
    railckpt.fsync(part)  # on a network file system each host must do so for what it wrote


def save(path):
    leaving.clear()
    if comm.rank == 0:
        print("ring: checkpoint", flush=True)
    return writer.submit(write, path / f"part-{comm.rank}", pickle.dumps(heat))  # beside the next steps


with railckpt.open_group(comm.rank, comm.allgather) as ck:
    last = ck.latest()
    if last:
        heat = pickle.loads((last.path / f"part-{comm.rank}").read_bytes())
    if comm.rank == 0:
        print(f"ring: start step {last.step if last else 0} of {steps}, {comm.size} ranks", flush=True)
    for step in ck.steps(last.step if last else 0, steps, save, wanted=lambda: bool(leaving)):
        first = comm.sendrecv(heat[-1], dest=after, source=before)
        heat = [(one + other) / 2 for one, other in zip([first, *heat], heat)]
        time.sleep(pace)
everything = comm.reduce(sum(heat[::7]))
if comm.rank == 0:
    print(f"ring: done, {everything!r}", flush=True)
