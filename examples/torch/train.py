#!/usr/bin/env python3
"""Trains with PyTorch's DistributedDataParallel under torchrun and takes part in Railyard.

    torchrun --nproc-per-node=2 train.py [STEPS [PACE]]

Written against PyTorch 2.6 (torch.distributed.checkpoint of 2.4 or newer). Model and optimizer are saved by
torch.distributed.checkpoint, beside the training (async_save), and so is a model that FSDP has sharded.
"""
import logging
import os
import signal
import sys
import time

import railcallbacks
import railckpt
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.nn.parallel import DistributedDataParallel

logging.basicConfig(format="train: %(message)s")  # a checkpoint that fails is logged, and the job goes on
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
pace = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

leaving = []  # Slurm says that the time limit is near: sbatch --signal=USR1@120
signal.signal(signal.SIGUSR1, lambda number, frame: leaving.append(number))

gpu = torch.cuda.is_available()
device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if gpu else torch.device("cpu")
if gpu:
    torch.cuda.set_device(device)
dist.init_process_group("nccl" if gpu else "gloo")
rank = dist.get_rank()
torch.manual_seed(1)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.Tanh(), torch.nn.Linear(64, 1)).to(device))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


def batch(step):
    """What this rank learns from in this step: the same after a restart."""
    source = torch.Generator().manual_seed(step * dist.get_world_size() + rank)
    x = torch.randn(32, 16, generator=source)
    return x.to(device), x.sum(dim=1, keepdim=True).sin().to(device)


def state():
    weights, moments = get_state_dict(model, optimizer)
    return {"model": weights, "optimizer": moments}


write = railcallbacks.dcp(state)


def save(path):
    leaving.clear()
    written = write(path)
    if rank == 0:
        print("train: checkpoint", flush=True)
    return written


def load(path):
    saved = state()
    dcp.load(saved, checkpoint_id=path)
    set_state_dict(model, optimizer, model_state_dict=saved["model"], optim_state_dict=saved["optimizer"])


with railckpt.open_group(rank, railcallbacks.gather_torch()) as ck:
    last = ck.latest()
    if last:
        load(last.path)
    if rank == 0:
        print(f"train: start step {last.step if last else 0} of {steps}, {dist.get_world_size()} ranks", flush=True)
    first, failures = last.step if last else 0, railcallbacks.dcp_failures()
    for step in ck.steps(first, steps, save, wanted=lambda: bool(leaving), failures=failures):
        x, y = batch(step)
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(pace)
total = sum(parameter.detach().double().sum() for parameter in model.parameters()).item()
if rank == 0:
    print(f"train: done, {total!r}", flush=True)
dist.destroy_process_group()
