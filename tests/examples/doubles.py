"""Doubles of the frameworks that the examples are written for and that cannot be installed here: one process, no GPU.

They are doubles: they show that the examples call what they mean to call, in the right order, and what is published,
not that a framework's files are right. Their signatures are the real ones: each function that has one in the real
source names it with @real, and tests/examples/against_sources compares the two where the sources are at hand.
"""
import contextlib
import importlib.machinery
import json
import os
import pathlib
import sys
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
    module("torch.distributed", all_gather_object=all_gather_object, new_group=new_group, get_rank=lambda: 0,
           get_world_size=lambda: 1, is_initialized=lambda: True)


# --- DeepSpeed: https://github.com/deepspeedai/DeepSpeed 0.19.6 ---

DEEPSPEED = "deepspeedai/DeepSpeed"


class Engine:
    """Counts its steps; that is its state."""

    def __init__(self):
        self.global_steps, self.device, self._micro = 0, "cpu", 0
        self.checkpoint_engine = types.SimpleNamespace(is_decoupled=lambda: "DECOUPLED" in os.environ)

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
        self.global_steps += self._micro % 2 == 0

    @real(DEEPSPEED, "deepspeed/runtime/engine.py", "DeepSpeedEngine.save_checkpoint")
    def save_checkpoint(self, save_dir, tag=None, client_state={}, save_latest=True, exclude_frozen_parameters=False):
        folder = pathlib.Path(save_dir) / tag
        folder.mkdir()
        assert self._micro % 2 == 0, "saved in the middle of an accumulation"
        (folder / "mp_rank_00_model_states.pt").write_text(json.dumps([self.global_steps, client_state]))
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
args = types.SimpleNamespace(save="kept", async_save=False, exit_signal_handler=True, local_rank=0, load=None, iterations=0)


class SignalHandler:
    @real(MEGATRON, "megatron/training/dist_signal_handler.py", "DistributedSignalHandler.signals_received")
    def signals_received(self):
        return [args.iteration == int(os.environ.get("SIGNAL_AT", -1))]


@real(MEGATRON, "megatron/training/training.py", "save_checkpoint_and_time")
def save_checkpoint_and_time(iteration, model, optimizer, opt_param_scheduler, num_floating_point_operations_so_far,
                             checkpointing_context, non_persistent_ckpt=False, train_data_iterator=None):
    folder = pathlib.Path(args.save) / f"iter_{iteration:07d}"
    folder.mkdir(parents=True)
    (folder / "common.pt").write_text(str(iteration))
    if os.environ.get("FULL_AT") == str(iteration):
        raise OSError(28, "No space left on device")
    (pathlib.Path(args.save) / "latest_checkpointed_iteration.txt").write_text(str(iteration))


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
    while args.iteration < 6:
        fault(args.iteration)
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

    @real(LIGHTNING, "src/lightning/pytorch/callbacks/callback.py", "Callback.teardown")
    def teardown(self, trainer, pl_module, stage):
        pass


class Trainer:
    """Two batches a step, as with accumulate_grad_batches=2."""

    global_rank = local_rank = global_step = 0

    def __init__(self, callbacks, steps=6):
        self.callbacks, self.steps = callbacks, steps
        self.strategy = types.SimpleNamespace(async_save="ASYNC" in os.environ)
        self.batches = 0

    @real(LIGHTNING, "src/lightning/pytorch/trainer/trainer.py", "Trainer.save_checkpoint")
    def save_checkpoint(self, filepath, weights_only=None, storage_options=None):
        assert self.batches % 2 == 0, "saved in the middle of an accumulation"
        weights = pathlib.Path(filepath) / "weights"  # as NeMo's strategy does; Lightning's own writes one file
        weights.mkdir(parents=True)
        (weights / "common.pt").write_text(str(self.global_step))
        if os.environ.get("FULL_AT") == str(self.global_step):
            raise OSError(28, "No space left on device")

    def fit(self, ckpt_path=None):
        if ckpt_path:
            self.global_step = int((pathlib.Path(ckpt_path) / "weights/common.pt").read_text())
        print(f"fit: start step {self.global_step}", flush=True)
        each = contextlib.ExitStack()
        for callback in self.callbacks:
            callback.on_train_start(self, None)
            each.callback(callback.teardown, self, None, "fit")
        with each:
            while self.global_step < self.steps:
                fault(self.global_step)
                self.batches += 1
                self.global_step += self.batches % 2 == 0
                for callback in self.callbacks:
                    callback.on_train_batch_end(self, None, None, None, self.batches)
        print(f"fit: done, step {self.global_step}", flush=True)


@real(NEMO, "nemo/collections/llm/recipes/llama3_8b.py", "pretrain_recipe")
def pretrain_recipe(dir=None, name="default", num_nodes=1, num_gpus_per_node=8, performance_mode=False, fn=None):
    assert (num_nodes, num_gpus_per_node) == (4, 8)
    strategy = types.SimpleNamespace(ckpt_async_save=True)
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
    assert direct and fn_or_script.trainer.strategy.ckpt_async_save is False
    trainer = Trainer([make() for make in fn_or_script.trainer.callbacks])
    trainer.fit(fn_or_script.resume and fn_or_script.resume().path)


def install():
    """Puts the doubles where `import` finds them."""
    torch()
    module("deepspeed", initialize=initialize, init_distributed=init_distributed)
    module("megatron.training.training", get_args=lambda: args, get_signal_handler=SignalHandler,
           save_checkpoint_and_time=save_checkpoint_and_time, checkpoint_and_decide_exit=checkpoint_and_decide_exit)
    module("lightning.pytorch.callbacks", Callback=Callback)
    module("nemo.lightning", AutoResume=AutoResume)
    module("nemo.collections.llm", llama3_8b=types.SimpleNamespace(pretrain_recipe=pretrain_recipe))
    module("nemo_run", run=run, Config=lambda kind, **given: lambda: kind(**given))
