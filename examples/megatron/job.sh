#!/bin/sh
# Megatron-LM that takes part in Railyard: srun starts one process a GPU. From Megatron-LM's folder, with
# railckpt_megatron.py beside its pretrain_gpt.py and a model's and data's arguments in place of the line below:
#
#     mkdir -p "$SCRATCH/gpt"
#     sbatch --ckpt-dir="$SCRATCH/gpt" job.sh --tensor-model-parallel-size 8 ...
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time. See
# mpi/job.sh for what the flags mean. --rail-segment: nodes of one pipeline group stay within a unit. Five minutes before
# the time limit Slurm sends SIGTERM, for which Megatron's --exit-signal-handler is there: it would reach torchrun, too,
# which kills its processes within 30 s, so that srun starts them here.
#
#SBATCH --job-name=megatron
#SBATCH --nodes=16 --ntasks-per-node=8 --gpus-per-node=8
#SBATCH --time=24:00:00 --signal=TERM@300
#SBATCH --rail-span=pod --rail-segment=4 --restart=auto
#SBATCH --open-mode=append --output=megatron-%j.out
last=$(railckpt latest --verify)
[ $? -le 1 ] || exit 1 # fenced off, or the directory cannot be read
if [ -n "$last" ]; then
    set -- --load "$last" --exit-on-missing-checkpoint "$@"
fi
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=29500 CUDA_DEVICE_MAX_CONNECTIONS=1
# shellcheck disable=SC2016 # each task has its own rank
exec srun sh -c 'export RANK="$SLURM_PROCID" LOCAL_RANK="$SLURM_LOCALID" WORLD_SIZE="$SLURM_NTASKS"
exec python3 railckpt_megatron.py pretrain_gpt.py --exit-signal-handler "$@"' task "$@"
