"""Doubles of the frameworks that the examples are written for and that cannot be installed here: one process, no GPU.

They are doubles: they show that the examples call what they mean to call, in the right order, and what is published,
not that a framework's files are right. Their signatures are the real ones: each function that has one in the real
source names it with @real, and tests/examples/against_sources compares the two where the sources are at hand.
"""
import concurrent.futures
import contextlib
import importlib.machinery
import json
import os
import pathlib
import sys
import time
import types

REAL = []  # (repository, file, qualified name, the double)


def real(repository, file, name):
    def mark(double):
        REAL.append((repository, file, name, double))
        return double
    return mark


def module(name, **members):
    """A module that `import name` finds, with its parents."""
    made = types.ModuleType(name)
    made.__spec__ = importlib.machinery.ModuleSpec(name, None)
    made.__path__ = []
    vars(made).update(members)
    sys.modules[name] = made
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules.get(parent) or module(parent), last, made)
    return made


def fault(step):
    """Dies as a host does, at the step that the test names."""
    if os.environ.get("FAULT_AT") == str(step):
        os._exit(9)


# --- torch: as much as the examples and railckpt's groups need, for one process ---

TORCH = "pytorch/pytorch"


@real(TORCH, "torch/distributed/distributed_c10d.py", "all_gather_object")
def all_gather_object(object_list, obj, group=None):
    assert group == "gloo", "words go over a group of their own"
    object_list[:] = [obj]


@real(TORCH, "torch/distributed/distributed_c10d.py", "new_group")
def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False, group_desc=None,
              device_id=None):
    return backend


class CheckpointException(BaseException):
    """As PyTorch's, which is no Exception."""


@real(TORCH, "torch/distributed/checkpoint/state_dict_saver.py", "async_save")
def async_save(state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, async_checkpointer_type=None,
               async_stager=None, no_dist=False, use_collectives=True):
    assert process_group == "gloo", "what is written beside the training has a group of its own"
    text = json.dumps(state_dict)  # copied, before it returns

    def write():
        pathlib.Path(checkpoint_id).mkdir(exist_ok=True)
        (pathlib.Path(checkpoint_id) / "__0_0.distcp").write_text(text)
        gate = os.environ.get("GATE")
        while gate and not os.path.exists(gate):
            time.sleep(0.01)
        if os.environ.get("FULL_AT") == text:
            raise CheckpointException("No space left on device")
        (pathlib.Path(checkpoint_id) / ".metadata").write_text("{}")
    return concurrent.futures.ThreadPoolExecutor(1).submit(write)


class Tensor:
    def __init__(self, *_, **__):
        pass

    def to(self, device):
        return self


def torch():
    anything = types.SimpleNamespace(parameters=list)
    functional = module("torch.nn.functional", mse_loss=lambda given, wanted: Tensor())
    module("torch.nn", functional=functional, Sequential=lambda *_: anything, Linear=lambda *_: anything, GELU=lambda: anything)
    generator = types.SimpleNamespace(manual_seed=lambda seed: generator)
    vars(sys.modules["torch"]).update(manual_seed=lambda seed: None, Generator=lambda: generator,
                                      randn=lambda *_, generator: Tensor())
    module("torch.distributed.checkpoint", async_save=async_save, CheckpointException=CheckpointException)
    vars(sys.modules["torch.distributed"]).update(all_gather_object=all_gather_object, new_group=new_group, get_rank=lambda: 0,
           get_world_size=lambda: 1, is_initialized=lambda: True)


# --- DeepSpeed: https://github.com/deepspeedai/DeepSpeed 0.19.6 ---

DEEPSPEED = "deepspeedai/DeepSpeed"


class Engine:
    """Counts its steps; that is its state."""

    def __init__(self):
        self.global_steps, self.device, self._micro, self._being_written = 0, "cpu", 0, None
        self.checkpoint_engine = types.SimpleNamespace(is_decoupled=lambda: "DECOUPLED" in os.environ,
                                                       get_commit_info=lambda: self._being_written)

    def __call__(self, x):
        return x

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.train_micro_batch_size_per_gpu")
    def train_micro_batch_size_per_gpu(self):
        return 8

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.gradient_accumulation_steps")
    def gradient_accumulation_steps(self):
        return 2

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.backward")
    def backward(self, loss, retain_graph=False, scale_wrt_gas=True):
        fault(self.global_steps)

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.step")
    def step(self, lr_kwargs=None):
        self._micro += 1
        if self._micro % 2 == 0:
            if self.checkpoint_engine.is_decoupled():
                self._commit_decoupled_checkpoint()
            self.global_steps += 1

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine._commit_decoupled_checkpoint")
    def _commit_decoupled_checkpoint(self):
        if self._being_written:
            folder, text = self._being_written
            (folder / "mp_rank_00_model_states.pt").write_text(text)
            (folder.parent / "latest").write_text(folder.name)
        self._being_written = None

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.save_checkpoint")
    def save_checkpoint(self, save_dir, tag=None, client_state={}, save_latest=True, exclude_frozen_parameters=False):
        folder = pathlib.Path(save_dir) / tag
        folder.mkdir()
        assert self._micro % 2 == 0, "saved in the middle of an accumulation"
        text = json.dumps([self.global_steps, client_state])
        if self.checkpoint_engine.is_decoupled():
            assert self._being_written is None, "one at a time"
            self._being_written = folder, text
            return True
        (folder / "mp_rank_00_model_states.pt").write_text(text)
        if os.environ.get("FULL_AT") == str(self.global_steps):
            raise OSError(28, "No space left on device")
        (pathlib.Path(save_dir) / "latest").write_text(tag)
        return True

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.load_checkpoint")
    def load_checkpoint(self, load_dir, tag=None, load_module_strict=True, load_optimizer_states=True,
                        load_lr_scheduler_states=True, load_module_only=False, custom_load_fn=None):
        path = pathlib.Path(load_dir) / tag / "mp_rank_00_model_states.pt"
        if not path.exists():
            return None, {}
        self.global_steps, client_state = json.loads(path.read_text())
        return str(path), client_state


@real(DEEPSPEED, "deepspeed/__init__.py", "initialize")
def initialize(args=None, model=None, optimizer=None, model_parameters=None, training_data=None, lr_scheduler=None,
               distributed_port=29500, mpu=None, dist_init_required=None, collate_fn=None, config=None, mesh_param=None,
               config_params=None):
    with open(config, encoding="utf-8") as file:
        assert json.load(file)["gradient_accumulation_steps"] == 2
    return Engine(), None, None, None


@real(DEEPSPEED, "deepspeed/comm/comm.py", "init_distributed")
def init_distributed(dist_backend=None, auto_mpi_discovery=True, distributed_port=29500, verbose=True, timeout=None,
                     init_method=None, dist_init_required=None, config=None, rank=-1, world_size=-1):
    assert os.environ["RANK"] == "0" and os.environ["WORLD_SIZE"] == "1", "it reads these"


# --- Megatron-LM: https://github.com/NVIDIA/Megatron-LM commit d98e8a64dd ---

MEGATRON = "NVIDIA/Megatron-LM"
args = types.SimpleNamespace(save="kept", async_save=False, exit_signal_handler=True, rank=0, local_rank=0, load=None, train_iters=6)
being_written = []  # by --async-save: what is left to do


class SignalHandler:
    @real(MEGATRON, "megatron/training/dist_signal_handler.py", "DistributedSignalHandler.signals_received")
    def signals_received(self):
        return [args.iteration == int(os.environ.get("SIGNAL_AT", -1))]


@real(MEGATRON, "megatron/training/training.py", "save_checkpoint_and_time")
def save_checkpoint_and_time(iteration, model, optimizer, opt_param_scheduler, num_floating_point_operations_so_far,
                             checkpointing_context, non_persistent_ckpt=False, train_data_iterator=None):
    folder = pathlib.Path(args.save) / f"iter_{iteration:07d}"
    folder.mkdir(parents=True)
    save_dir = pathlib.Path(args.save)

    def finalize():
        (folder / "common.pt").write_text(str(iteration))
        if os.environ.get("FULL_AT") == str(iteration):
            raise OSError(28, "No space left on device")
        (save_dir / "latest_checkpointed_iteration.txt").write_text(str(iteration))
    if args.async_save:
        assert not being_written, "one at a time"
        being_written.append(finalize)
    else:
        finalize()


@real(MEGATRON, "megatron/training/async_utils.py", "is_empty_async_queue")
def is_empty_async_queue():
    return not being_written


@real(MEGATRON, "megatron/training/async_utils.py", "maybe_finalize_async_save")
def maybe_finalize_async_save(blocking=False, terminate=False):
    while being_written:
        being_written.pop()()


@real(MEGATRON, "megatron/training/training.py", "checkpoint_and_decide_exit")
def checkpoint_and_decide_exit(model, optimizer, opt_param_scheduler, iteration, num_floating_point_operations_so_far,
                               checkpointing_context, train_data_iterator):
    assert args.save == "kept", "--save is not what it was"
    return args.exit_signal_handler and any(SignalHandler().signals_received())


def pretrain():
    """The loop of megatron.training.training.train: it finds the decision by its name in that module."""
    training = sys.modules["megatron.training.training"]
    args.async_save = "--async-save" in sys.argv
    args.iteration = 0
    if "--load" in sys.argv:
        folder = pathlib.Path(sys.argv[sys.argv.index("--load") + 1])
        args.iteration = int((folder / "latest_checkpointed_iteration.txt").read_text())
        assert (folder / f"iter_{args.iteration:07d}/common.pt").read_text() == str(args.iteration)
    print(f"pretrain: start iteration {args.iteration}, arguments {sys.argv[1:]}", flush=True)
    while args.iteration < args.train_iters:
        fault(args.iteration)
        maybe_finalize_async_save(blocking=False)
        args.iteration += 1
        if training.checkpoint_and_decide_exit("model", "optimizer", "scheduler", args.iteration, 0, {}, None):
            print("pretrain: leaves", flush=True)
            return
    print(f"pretrain: done, iteration {args.iteration}", flush=True)


# --- Lightning 2.6.2 and NeMo 2.6 ---

LIGHTNING, NEMO, RUN = "Lightning-AI/pytorch-lightning", "NVIDIA/NeMo", "NVIDIA-NeMo/Run"


class Callback:
    @real(LIGHTNING, "src/lightning/pytorch/callbacks/callback.py", "Callback.on_train_start")
    def on_train_start(self, trainer, pl_module):
        pass

    @real(LIGHTNING, "src/lightning/pytorch/callbacks/callback.py", "Callback.on_train_batch_end")
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        pass

    @real(LIGHTNING, "src/lightning/pytorch/callbacks/callback.py", "Callback.on_train_end")
    def on_train_end(self, trainer, pl_module):
        pass


class AsyncFinalizableCheckpointIO:
    """Of NeMo: what is being written is whole when it is finalized, which its own callback does after each batch."""

    def __init__(self):
        self.left = []
        self.async_calls_queue = types.SimpleNamespace(get_num_unfinalized_calls=lambda: len(self.left))

    @real("NVIDIA/NeMo", "nemo/utils/callbacks/dist_ckpt_io.py", "AsyncFinalizableCheckpointIO.maybe_finalize_save_checkpoint")
    def maybe_finalize_save_checkpoint(self, blocking=False):
        while self.left:
            self.left.pop()()


class Trainer:
    """Two batches a step, as with accumulate_grad_batches=2."""

    global_rank = local_rank = global_step = 0

    def __init__(self, callbacks, steps=6, async_save=False):
        self.callbacks, self.steps = callbacks, steps
        self.strategy = types.SimpleNamespace(async_save=async_save, checkpoint_io=AsyncFinalizableCheckpointIO() if async_save else None)
        self.batches = 0

    @real(LIGHTNING, "src/lightning/pytorch/trainer/trainer.py", "Trainer.save_checkpoint")
    def save_checkpoint(self, filepath, weights_only=None, storage_options=None):
        assert self.batches % 2 == 0, "saved in the middle of an accumulation"
        weights = pathlib.Path(filepath) / "weights"  # as NeMo's strategy does; Lightning's own writes one file
        weights.mkdir(parents=True)
        step = self.global_step

        def finalize():
            (weights / "common.pt").write_text(str(step))
            if os.environ.get("FULL_AT") == str(step):
                raise OSError(28, "No space left on device")
        if self.strategy.async_save:
            self.strategy.checkpoint_io.left.append(finalize)
        else:
            finalize()

    def fit(self, ckpt_path=None):
        if ckpt_path:
            self.global_step = int((pathlib.Path(ckpt_path) / "weights/common.pt").read_text())
        print(f"fit: start step {self.global_step}", flush=True)
        for callback in self.callbacks:
            callback.on_train_start(self, None)
        while self.global_step < self.steps:
            fault(self.global_step)
            if self.strategy.async_save:  # of the batch before
                with contextlib.suppress(OSError):
                    self.strategy.checkpoint_io.maybe_finalize_save_checkpoint()
            self.batches += 1
            self.global_step += self.batches % 2 == 0
            for callback in self.callbacks:
                callback.on_train_batch_end(self, None, None, None, self.batches)
        for callback in self.callbacks:
            callback.on_train_end(self, None)
        print(f"fit: done, step {self.global_step}", flush=True)


@real(NEMO, "nemo/collections/llm/recipes/llama3_8b.py", "pretrain_recipe")
def pretrain_recipe(dir=None, name="default", num_nodes=1, num_gpus_per_node=8, performance_mode=False, fn=None):
    assert (num_nodes, num_gpus_per_node) == (4, 8)
    strategy = types.SimpleNamespace(ckpt_async_save="SYNC" not in os.environ)
    return types.SimpleNamespace(trainer=types.SimpleNamespace(strategy=strategy, callbacks=[]), resume=None)


class AutoResume:
    @real(NEMO, "nemo/lightning/resume.py", "AutoResume")
    def __init__(self, restore_config=None, resume_from_directory=None, resume_from_path=None, resume_if_exists=False,
                 resume_past_end=False, resume_ignore_no_checkpoint=False):
        assert (pathlib.Path(resume_from_path) / "weights").is_dir(), "AutoResume looks for this folder"
        self.path = resume_from_path


@real(RUN, "nemo_run/run/api.py", "run")
def run(fn_or_script, executor=None, plugins=None, name=None, dryrun=False, direct=False, detach=False, tail_logs=True,
        log_level="INFO"):
    assert direct
    trainer = Trainer([make() for make in fn_or_script.trainer.callbacks], async_save=fn_or_script.trainer.strategy.ckpt_async_save)
    trainer.fit(fn_or_script.resume and fn_or_script.resume().path)


# --- Hugging Face's Trainer ---

TRANSFORMERS = "huggingface/transformers"


class TrainerCallback:
    @real(TRANSFORMERS, "src/transformers/trainer_callback.py", "TrainerCallback.on_train_begin")
    def on_train_begin(self, args, state, control, **kwargs):
        pass

    @real(TRANSFORMERS, "src/transformers/trainer_callback.py", "TrainerCallback.on_step_end")
    def on_step_end(self, args, state, control, **kwargs):
        pass

    @real(TRANSFORMERS, "src/transformers/trainer_callback.py", "TrainerCallback.on_save")
    def on_save(self, args, state, control, **kwargs):
        pass


def train(callback, output_dir, steps, resume_from_checkpoint=None):
    """The loop of transformers.Trainer, which saves each fourth step itself and keeps the last one."""
    args, state = types.SimpleNamespace(output_dir=output_dir, process_index=0), types.SimpleNamespace(global_step=0)
    if resume_from_checkpoint:
        state.global_step = json.loads((pathlib.Path(resume_from_checkpoint) / "trainer_state.json").read_text())
    print(f"trainer: start step {state.global_step}", flush=True)
    control, last = types.SimpleNamespace(should_save=False), None
    callback.on_train_begin(args, state, control)
    while state.global_step < steps:
        fault(state.global_step)
        state.global_step += 1
        control.should_save = state.global_step % 4 == 0
        control = callback.on_step_end(args, state, control) or control
        if control.should_save:
            folder = pathlib.Path(output_dir) / f"checkpoint-{state.global_step}"
            folder.mkdir(parents=True)
            (folder / "trainer_state.json").write_text(json.dumps(state.global_step))
            callback.on_save(args, state, control)
            if last:
                (last / "trainer_state.json").unlink()
            last = folder
    print("trainer: done", flush=True)


# --- Orbax, and JAX of one process ---


class StandardCheckpointer:
    def __init__(self):
        self._writing = None

    @real("google/orbax", "checkpoint/orbax/checkpoint/_src/checkpointers/standard_checkpointer.py", "StandardCheckpointer.save")
    def save(self, directory, state, *, save_args=None, force=False, custom_metadata=None):
        self._writing = async_save(state, checkpoint_id=directory, process_group="gloo")

    @real("google/orbax", "checkpoint/orbax/checkpoint/_src/checkpointers/async_checkpointer.py", "AsyncCheckpointer.wait_until_finished")
    def wait_until_finished(self):
        self._writing.result()


def install():
    """Puts the doubles where `import` finds them."""
    torch()
    module("deepspeed", initialize=initialize, init_distributed=init_distributed)
    module("megatron.training.training", get_args=lambda: args, get_signal_handler=SignalHandler,
           save_checkpoint_and_time=save_checkpoint_and_time, checkpoint_and_decide_exit=checkpoint_and_decide_exit)
    module("megatron.training.async_utils", is_empty_async_queue=is_empty_async_queue, maybe_finalize_async_save=maybe_finalize_async_save)
    module("transformers", TrainerCallback=TrainerCallback)
    module("orbax.checkpoint", StandardCheckpointer=StandardCheckpointer)
    module("lightning.pytorch.callbacks", Callback=Callback)
    module("nemo.lightning", AutoResume=AutoResume)
    module("nemo.collections.llm", llama3_8b=types.SimpleNamespace(pretrain_recipe=pretrain_recipe))
    module("nemo_run", run=run, Config=lambda kind, **given: lambda: kind(**given))
