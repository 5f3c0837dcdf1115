#!/usr/bin/env python3
"""Pretrains Llama 3 8B with NeMo 2.6's recipe and takes part in Railyard.

    pretrain.py      # started by srun, see job.sh

railcallbacks.lightning() asks after each step; the recipe saves asynchronously, beside the training. A program of plain
Lightning 2.6 does the same: Trainer(callbacks=[railcallbacks.lightning()]), trainer.fit(model,
ckpt_path=railcallbacks.resume_from()). NeMo's own checkpoints (ModelCheckpoint) may stay for those that are to be kept for
good: they go to `dir`.
"""
import logging
import os

import nemo.lightning as nl
import nemo_run as run
from nemo.collections import llm

import railcallbacks

if __name__ == "__main__":
    logging.basicConfig(format="railckpt: %(message)s")  # a checkpoint that fails is logged, and the job goes on
    recipe = llm.llama3_8b.pretrain_recipe(
        dir=os.environ["RESULTS"], name="llama3_8b", num_nodes=int(os.environ["SLURM_NNODES"]),
        num_gpus_per_node=int(os.environ["SLURM_NTASKS_PER_NODE"]))
    recipe.trainer.callbacks.append(run.Config(railcallbacks.lightning))
    last = railcallbacks.resume_from()
    if last:
        recipe.resume = run.Config(nl.AutoResume, resume_from_path=last)
    run.run(recipe, direct=True)
