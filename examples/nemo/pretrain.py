#!/usr/bin/env python3
"""Pretrains Llama 3 8B with NeMo 2.6's recipe and takes part in Railyard.

    pretrain.py      # started by srun, see job.sh

NeMo's own checkpoints (ModelCheckpoint) may stay for those that are to be kept for good: they go to `dir`.
"""
import os

import nemo.lightning as nl
import nemo_run as run
from nemo.collections import llm

from railckpt_lightning import RailCheckpoint, resume_from

if __name__ == "__main__":
    recipe = llm.llama3_8b.pretrain_recipe(
        dir=os.environ["RESULTS"], name="llama3_8b", num_nodes=int(os.environ["SLURM_NNODES"]),
        num_gpus_per_node=int(os.environ["SLURM_NTASKS_PER_NODE"]))
    recipe.trainer.strategy.ckpt_async_save = False
    recipe.trainer.callbacks.append(run.Config(RailCheckpoint))
    last = resume_from()
    if last:
        recipe.resume = run.Config(nl.AutoResume, resume_from_path=last)
    run.run(recipe, direct=True)
