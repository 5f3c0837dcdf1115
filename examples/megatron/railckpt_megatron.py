#!/usr/bin/env python3
"""Runs a training script of Megatron-LM and lets Railyard say when to checkpoint:

    railckpt_megatron.py pretrain_gpt.py ARGUMENTS OF pretrain_gpt.py

Written against Megatron-LM 0.20 (commit d98e8a64dd). Its training loop calls checkpoint_and_decide_exit after each
iteration; in front of that stands here: when a checkpoint is due, Megatron's own save_checkpoint_and_time writes one
into railckpt's staging directory in place of --save, and it is published whole or not at all. --save and
--save-interval may stay for checkpoints that are to be kept for good. With --exit-signal-handler (SIGTERM, see
--signal in job.sh) one more is written before Megatron exits. --load is for the job script to name.
"""
import runpy
import sys

import megatron.training.training as training
import railckpt
import torch.distributed as dist


def gather_words():
    """A function that gathers a value of every rank in all of them, beside what the GPUs do."""
    control = dist.new_group(backend="gloo")

    def gather(value):
        values = [None] * dist.get_world_size()
        dist.all_gather_object(values, value, group=control)
        return values
    return gather


class Checkpoints:
    """Stands in front of Megatron's checkpoint_and_decide_exit, with the same arguments."""

    def __init__(self):
        self.decide = training.checkpoint_and_decide_exit
        self.ck = None  # opened when torch.distributed is there

    def __call__(self, model, optimizer, opt_param_scheduler, iteration, num_floating_point_operations_so_far,
                 checkpointing_context, train_data_iterator):
        args = training.get_args()
        if self.ck is None:
            if args.async_save:
                sys.exit("railckpt_megatron: --async-save goes on writing after the save: what is published must be whole")
            self.ck = railckpt.open_group(dist.get_rank(), gather_words())
        leaving = args.exit_signal_handler and any(training.get_signal_handler().signals_received())
        if self.ck.due(wanted=leaving):
            self.save(args, iteration, model, optimizer, opt_param_scheduler, num_floating_point_operations_so_far,
                      checkpointing_context, train_data_iterator)
        return self.decide(model, optimizer, opt_param_scheduler, iteration, num_floating_point_operations_so_far,
                           checkpointing_context, train_data_iterator)

    def save(self, args, iteration, model, optimizer, opt_param_scheduler, operations, context, train_data_iterator):
        kept = args.save
        try:
            with self.ck.write(iteration) as path:
                args.save = str(path)
                training.save_checkpoint_and_time(iteration, model, optimizer, opt_param_scheduler, operations, context,
                                                  train_data_iterator=train_data_iterator)
                if args.local_rank == 0:  # one process a host flushes what that host wrote
                    railckpt.fsync(path)
        except railckpt.FencedError:
            raise  # the job was restarted elsewhere: this one must end
        except (railckpt.Error, OSError) as error:
            print(f"railckpt_megatron: no checkpoint of iteration {iteration}, the job goes on: {error}", flush=True)
        finally:
            args.save = kept


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: railckpt_megatron.py SCRIPT ARGUMENT ...")
    training.checkpoint_and_decide_exit = Checkpoints()
    del sys.argv[0]
    sys.path.insert(0, sys.argv[0].rpartition("/")[0] or ".")
    runpy.run_path(sys.argv[0], run_name="__main__")
