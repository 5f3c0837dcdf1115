#!/bin/sh
# PyTorch under torchrun that takes part in Railyard: one torchrun a node, one process a GPU. From a folder that all
# hosts see:
#
#     mkdir -p "$SCRATCH/run7"
#     sbatch --ckpt-dir="$SCRATCH/run7" job.sh
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time. See
# mpi/job.sh for what the flags mean. --max-restarts=0: a process that fails ends the job; it is Railyard that starts
# it again, elsewhere, when a host was at fault.
#
#SBATCH --job-name=torch
#SBATCH --nodes=4 --ntasks-per-node=1 --gpus-per-node=8
#SBATCH --time=24:00:00 --signal=USR1@300
#SBATCH --rail-span=unit --restart=auto
#SBATCH --open-mode=append --output=torch-%j.out
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export HEAD="$head"
# The signal is for the training processes; torchrun would die of it.
# shellcheck disable=SC2016 # each node's own shell knows how many GPUs it has
exec srun sh -c 'trap "" USR1
exec torchrun --nnodes="$SLURM_NNODES" --nproc-per-node="${SLURM_GPUS_ON_NODE:-1}" --max-restarts=0 \
    --rdzv-backend=c10d --rdzv-endpoint="$HEAD:29500" --rdzv-id="$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}" train.py "$@"' \
    torchrun "$@"
