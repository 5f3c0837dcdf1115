#!/usr/bin/env python3
"""Fits a line through noisy points by stochastic descent: an example of a Python program that takes part in Railyard
with nothing but the module railckpt, see railckpt.py(3).

    train.py [STEPS [PACE]]      # PACE: seconds to sleep after each step, to watch a restart at leisure

Its state is what it has learnt and where its random numbers are, so that the result does not depend on how often the
job was restarted.
"""
import logging
import pickle
import random
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import railckpt

logging.basicConfig(format="train: %(message)s")  # a checkpoint that fails is logged, and the job goes on
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
pace = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

leaving = []  # Slurm says that the time limit is near: sbatch --signal=USR1@120
signal.signal(signal.SIGUSR1, lambda number, frame: leaving.append(number))

random.seed(1)
slope, offset = 0.0, 0.0


writer = ThreadPoolExecutor(1)


def save(path):
    copy = pickle.dumps((slope, offset, random.getstate()))  # the loop stands still for this, not for the disk
    leaving.clear()
    print("train: checkpoint", flush=True)
    return writer.submit((path / "state").write_bytes, copy)


with railckpt.open() as ck:
    last = ck.latest()
    if last:
        slope, offset, numbers = pickle.loads((last.path / "state").read_bytes())
        random.setstate(numbers)
    print(f"train: start step {last.step if last else 0} of {steps}", flush=True)
    for step in ck.steps(last.step if last else 0, steps, save, wanted=lambda: bool(leaving)):
        x = random.uniform(-1, 1)
        error = slope * x + offset - (3 * x + 1 + random.gauss(0, 0.1))
        slope -= 0.01 * error * x
        offset -= 0.01 * error
        time.sleep(pace)
print(f"train: done, {slope!r} {offset!r}")
