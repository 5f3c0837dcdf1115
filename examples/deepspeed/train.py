#!/usr/bin/env python3
"""Trains with DeepSpeed and takes part in Railyard: DeepSpeed's own checkpoints, taken when Railyard says so, published
whole or not at all.

    train.py [STEPS]      # started by srun, see job.sh

Written against DeepSpeed 0.19.6. With "checkpoint": {"writer": {"type": "FAST", "decoupled": true}} in ds_config.json,
where DeepSpeed's async_io is built, a process of its own writes beside the training.
"""
import logging
import signal
import sys

import deepspeed
import railcallbacks
import railckpt
import torch
import torch.distributed as dist

logging.basicConfig(format="train: %(message)s")  # a checkpoint that fails is logged, and the job goes on
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
leaving = []  # Slurm says that the time limit is near: sbatch --signal=USR1@300
signal.signal(signal.SIGUSR1, lambda number, frame: leaving.append(number))

deepspeed.init_distributed()
rank = dist.get_rank()
torch.manual_seed(1)
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024))
engine, _, _, _ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="ds_config.json")
save_engine = railcallbacks.deepspeed(engine)  # beside the training, where ds_config.json has a decoupled checkpoint engine


def batch(step):
    """What this rank learns from in this step: the same after a restart."""
    source = torch.Generator().manual_seed(step * dist.get_world_size() + rank)
    return torch.randn(engine.train_micro_batch_size_per_gpu(), 1024, generator=source).to(engine.device)


def save(path):
    """All ranks, each its part."""
    leaving.clear()
    return save_engine(path)


with railckpt.open_group(rank, railcallbacks.gather_torch()) as ck:
    last = ck.latest()
    if last and engine.load_checkpoint(str(last.path), tag=railcallbacks.NAME)[0] is None:
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
