#!/usr/bin/env python3
"""Trains with DeepSpeed and takes part in Railyard: DeepSpeed's own checkpoints, taken when Railyard says so, published
whole or not at all.

    train.py [STEPS]      # started by srun, see job.sh

Written against DeepSpeed 0.19.6.
"""
import logging
import os
import signal
import sys

import deepspeed
import railckpt
import torch
import torch.distributed as dist

logging.basicConfig(format="train: %(message)s")  # a checkpoint that fails is logged, and the job goes on
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
leaving = []  # Slurm says that the time limit is near: sbatch --signal=USR1@300
signal.signal(signal.SIGUSR1, lambda number, frame: leaving.append(number))

deepspeed.init_distributed()
rank, local_rank = dist.get_rank(), int(os.environ["LOCAL_RANK"])
control = dist.new_group(backend="gloo")  # for words, beside what the GPUs do


def gather(value):
    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value, group=control)
    return values


torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024))
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="ds_config.json")
# What a decoupled engine writes is not all there when save_checkpoint returns, and must not be published then.
if engine.checkpoint_engine.is_decoupled():
    sys.exit("train: ds_config.json names a decoupled checkpoint engine: choose one that waits")


def batch(step):
    """What this rank learns from in this step: the same after a restart."""
    source = torch.Generator().manual_seed(step * dist.get_world_size() + rank)
    return torch.randn(engine.train_micro_batch_size_per_gpu(), 1024, generator=source).to(engine.device)


def save(path):
    """All ranks, each its part."""
    engine.save_checkpoint(str(path), tag="state", client_state={"steps": engine.global_steps})
    if local_rank == 0:  # one process a host flushes what that host wrote
        railckpt.fsync(path)
    leaving.clear()


with railckpt.open_group(rank, gather) as ck:
    last = ck.latest()
    if last and engine.load_checkpoint(str(last.path), tag="state")[0] is None:
        sys.exit(f"train: DeepSpeed cannot load {last.path}")
    if rank == 0:
        print(f"train: start step {last.step if last else 0} of {steps}", flush=True)
    for step in ck.steps(last.step if last else 0, steps, save, wanted=lambda: bool(leaving)):
        for _ in range(engine.gradient_accumulation_steps()):  # a step ends with the optimizer's: nothing is half done
            x = batch(step)
            loss = torch.nn.functional.mse_loss(engine(x), x)
            engine.backward(loss)
            engine.step()
if rank == 0:
    print("train: done", flush=True)
