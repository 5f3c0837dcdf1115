# SPDX-License-Identifier: GPL-2.0-or-later
"""railckpt in the loops of training frameworks: a callback, or a save function, for each. See railckpt.py(3).

    Trainer(callbacks=[railcallbacks.lightning()])                     # Lightning 2.6, NeMo 2.6
    Trainer(callbacks=[railcallbacks.trainer()])                       # Hugging Face's Trainer
    railcallbacks.megatron()                                           # Megatron-LM 0.20, before its pretrain()
    ck.steps(first, end, railcallbacks.deepspeed(engine))              # DeepSpeed 0.19
    ck.steps(first, end, railcallbacks.dcp(state), failures=railcallbacks.dcp_failures())    # PyTorch 2.6
    ck.steps(first, end, railcallbacks.orbax(state))                   # Orbax, of all of its processes

Each saves as the framework itself does, beside the training where that can, into a staging directory of railckpt's, and
publishes what is whole in all ranks. They need railckpt.py and railsave.py beside them, and the framework.
"""
from __future__ import annotations

import os
import pathlib
import pickle
import shutil
from typing import Any, Callable, List, Optional, Tuple

import railckpt
from railsave import Pending, Saver

__all__ = ["dcp", "dcp_failures", "deepspeed", "gather_jax", "gather_torch", "lightning", "megatron", "orbax", "resume_from", "trainer"]

NAME = "state"  # of what the framework writes, within the checkpoint


def resume_from() -> Optional[str]:
    """What the job script found with `railckpt latest --verify` and put into RAIL_RESUME; None at the beginning."""
    found = os.environ.get("RAIL_RESUME")
    return str(pathlib.Path(found) / NAME) if found else None


def gather_torch() -> Callable[[Any], List[Any]]:
    """For open_group(): gathers a value of every rank of torch.distributed, beside what the GPUs do."""
    import torch.distributed as dist
    if not dist.is_initialized():
        return lambda value: [value]
    control = dist.new_group(backend="gloo")

    def gather(value: Any) -> List[Any]:
        values = [None] * dist.get_world_size()
        dist.all_gather_object(values, value, group=control)
        return values
    return gather


def gather_jax(value: Any) -> List[Any]:
    """For open_group(): gathers a value of every process of JAX."""
    import numpy
    from jax.experimental import multihost_utils
    raw = numpy.frombuffer(pickle.dumps(value), dtype=numpy.uint8)
    sizes = numpy.ravel(multihost_utils.process_allgather(numpy.array([raw.size])))
    padded = numpy.zeros(int(sizes.max()), dtype=numpy.uint8)
    padded[:raw.size] = raw
    rows = numpy.reshape(multihost_utils.process_allgather(padded), (sizes.size, -1))
    return [pickle.loads(row[:size].tobytes()) for row, size in zip(rows, sizes)]


def flush(path: pathlib.Path, local_rank: Any) -> None:
    """One process a host flushes what that host wrote."""
    if int(local_rank or 0) == 0:
        railckpt.fsync(path)


def megatron() -> None:
    """Asks after each iteration, in front of Megatron-LM's own decision; --save and --save-interval may stay for what is
    to be kept for good. --async-save is heeded. --load is for the job script to name."""
    import megatron.training.async_utils as queue
    import megatron.training.training as training
    decide, held = training.checkpoint_and_decide_exit, []

    def decide_and_save(*loop):
        model, optimizer, scheduler, iteration, operations, context, data = loop
        args = training.get_args()
        if not held:  # torch.distributed is there now
            held.append(Saver(railckpt.open_group(args.rank, gather_torch())))

        def save(path):
            kept, args.save = args.save, str(path)
            try:
                training.save_checkpoint_and_time(iteration, model, optimizer, scheduler, operations, context, train_data_iterator=data)
            finally:
                args.save = kept
            return Pending(queue.is_empty_async_queue,
                           lambda: (queue.maybe_finalize_async_save(blocking=True), flush(path, args.local_rank)))
        leaving = args.exit_signal_handler and any(training.get_signal_handler().signals_received())
        held[0].after(iteration, save, wanted=leaving)
        leaves = decide(*loop)
        if leaves or iteration == args.train_iters:
            held[0].finish(iteration, save)
        return leaves
    training.checkpoint_and_decide_exit = decide_and_save


def deepspeed(engine: Any) -> Callable[[pathlib.Path], Any]:
    """Saves DeepSpeed's engine. A decoupled checkpoint engine goes on in a process of its own until the optimizer's next
    step."""
    def save(path: pathlib.Path) -> Pending:
        engine.save_checkpoint(str(path), tag=NAME, client_state={"steps": engine.global_steps})
        writer, decoupled = engine.checkpoint_engine, engine.checkpoint_engine.is_decoupled()

        def result() -> None:
            if decoupled:
                engine._commit_decoupled_checkpoint()  # nothing where the engine has done so
            flush(path, os.environ.get("LOCAL_RANK"))
        return Pending(lambda: not decoupled or writer.get_commit_info() is None, result)
    return save


def dcp(state: Callable[[], Any]) -> Callable[[pathlib.Path], Any]:
    """Saves what state() returns by torch.distributed.checkpoint, which copies it and writes beside the training."""
    import torch.distributed as dist
    import torch.distributed.checkpoint as checkpoint
    group = dist.new_group(backend="gloo")  # its own: it is used beside all others

    def save(path: pathlib.Path) -> Any:
        return checkpoint.async_save(state(), checkpoint_id=path, process_group=group)
    return save


def dcp_failures() -> Tuple[type, ...]:
    """How saving fails there, which is no Exception."""
    import torch.distributed.checkpoint as checkpoint
    return (checkpoint.CheckpointException,)


def lightning() -> Any:
    """A callback of Lightning and NeMo; ckpt_async_save of NeMo's strategy is heeded."""
    from lightning.pytorch.callbacks import Callback

    class RailCheckpoint(Callback):
        def on_train_start(self, trainer, pl_module):
            self.saver = Saver(railckpt.open_group(trainer.global_rank, gather_torch()))
            self.seen = trainer.global_step

        def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
            if trainer.global_step != self.seen:  # else gradients are being accumulated: they are in no checkpoint
                self.seen = trainer.global_step
                self.saver.after(self.seen, lambda path: self.save(trainer, path))

        def on_train_end(self, trainer, pl_module):
            self.saver.finish(trainer.global_step, lambda path: self.save(trainer, path))

        def save(self, trainer, path):
            trainer.save_checkpoint(path / NAME)
            writer = trainer.strategy.checkpoint_io
            queue = getattr(writer, "async_calls_queue", None)
            return Pending(lambda: queue is None or queue.get_num_unfinalized_calls() == 0,
                           lambda: (queue and writer.maybe_finalize_save_checkpoint(blocking=True), flush(path, trainer.local_rank)))
    return RailCheckpoint()


def trainer() -> Any:
    """A callback of Hugging Face's Trainer: it saves, when railckpt says so as well, and what it saves is published.
    trainer.train(resume_from_checkpoint=railcallbacks.resume_from())"""
    from transformers import TrainerCallback

    class RailCheckpoint(TrainerCallback):
        def on_train_begin(self, args, state, control, **kwargs):
            self.ck = railckpt.open_group(args.process_index, gather_torch())

        def on_step_end(self, args, state, control, **kwargs):
            control.should_save = self.ck.due() or control.should_save
            return control

        def on_save(self, args, state, control, **kwargs):
            folder = pathlib.Path(args.output_dir) / f"checkpoint-{state.global_step}"

            def save(path):
                if args.process_index == 0:
                    shutil.copytree(folder, path / NAME, copy_function=_link)
            Saver(self.ck).now(state.global_step, save)
    return RailCheckpoint()


def _link(source: str, target: str) -> None:
    """The same file where that can be, as the Trainer does not write to it again."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def orbax(state: Callable[[], Any]) -> Callable[[pathlib.Path], Any]:
    """Saves what state() returns, a tree of arrays, by Orbax's asynchronous checkpointer."""
    from concurrent.futures import ThreadPoolExecutor

    import orbax.checkpoint as ocp
    writer, waiting = ocp.StandardCheckpointer(), ThreadPoolExecutor(1)

    def save(path: pathlib.Path) -> Any:
        writer.save(path / NAME, state())
        return waiting.submit(writer.wait_until_finished)
    return save
