#!/usr/bin/env python3
"""Runs a training script of Megatron-LM and lets Railyard say when to checkpoint:

    railckpt_megatron.py pretrain_gpt.py ARGUMENTS OF pretrain_gpt.py

Written against Megatron-LM 0.20 (commit d98e8a64dd). Its training loop calls checkpoint_and_decide_exit after each
iteration; in front of that stands railcallbacks.megatron(): when a checkpoint is due, Megatron's own
save_checkpoint_and_time writes one into railckpt's staging directory in place of --save, and it is published whole or
not at all; with --async-save it is written beside the training. --save and --save-interval may stay for checkpoints that
are to be kept for good. With --exit-signal-handler (SIGTERM, see --signal in job.sh) one more is written before Megatron
exits. --load is for the job script to name.
"""
import logging
import runpy
import sys

import railcallbacks

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: railckpt_megatron.py SCRIPT ARGUMENT ...")
    logging.basicConfig(format="railckpt_megatron: %(message)s")  # a checkpoint that fails is logged, and the job goes on
    railcallbacks.megatron()
    del sys.argv[0]
    sys.path.insert(0, sys.argv[0].rpartition("/")[0] or ".")
    runpy.run_path(sys.argv[0], run_name="__main__")
