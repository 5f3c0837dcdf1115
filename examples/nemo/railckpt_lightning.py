"""A callback for PyTorch Lightning and NeMo: checkpoints when Railyard says so, published whole or not at all.

    trainer = Trainer(callbacks=[RailCheckpoint()], ...)
    trainer.fit(model, ckpt_path=resume_from())

Written against Lightning 2.6.2 and NeMo 2.6 (pretrain.py beside this file).
"""
import os
import pathlib

import railckpt
import torch.distributed as dist
from lightning.pytorch.callbacks import Callback

NAME = "lightning"  # of what Lightning writes, within the checkpoint


def resume_from():
    """What the job script found with `railckpt latest --verify` and put into RAIL_RESUME; None at the beginning."""
    found = os.environ.get("RAIL_RESUME")
    return str(pathlib.Path(found) / NAME) if found else None


class RailCheckpoint(Callback):
    """Asks after each step of the optimizer; all ranks save together."""

    def __init__(self):
        self.ck = None
        self.seen = -1  # the step that was asked about last

    def on_train_start(self, trainer, pl_module):
        # Asynchronous saving goes on after save_checkpoint has returned: what is published must be whole.
        if getattr(trainer.strategy, "async_save", False):
            raise railckpt.UsageError("set ckpt_async_save=False in the strategy")
        gather = gather_alone
        if dist.is_initialized():
            gather = gather_words(dist.new_group(backend="gloo"))
        self.ck = railckpt.open_group(trainer.global_rank, gather)
        self.seen = trainer.global_step

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        step = trainer.global_step
        if step == self.seen:  # gradients are being accumulated: they are in no checkpoint
            return
        self.seen = step
        if not self.ck.due():
            return
        try:
            with self.ck.write(step) as path:
                trainer.save_checkpoint(path / NAME)
                if trainer.local_rank == 0:  # one process a host flushes what that host wrote
                    railckpt.fsync(path)
        except railckpt.FencedError:
            raise  # the job was restarted elsewhere: this one must end
        except (railckpt.Error, OSError) as error:
            if trainer.global_rank == 0:
                print(f"railckpt: no checkpoint of step {step}, the job goes on: {error}", flush=True)

    def teardown(self, trainer, pl_module, stage):
        if self.ck is not None:
            self.ck.close()


def gather_alone(value):
    return [value]


def gather_words(control):
    """Gathers a value of every rank in all of them, beside what the GPUs do."""
    def gather(value):
        values = [None] * dist.get_world_size()
        dist.all_gather_object(values, value, group=control)
        return values
    return gather
