#!/bin/sh
# DeepSpeed that takes part in Railyard: srun starts one process a GPU. From a folder that all hosts see:
#
#     mkdir -p "$SCRATCH/run7"
#     sbatch --ckpt-dir="$SCRATCH/run7" job.sh
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time. See
# mpi/job.sh for what the flags mean. Without the deepspeed launcher the processes hear Slurm's signal themselves.
#
#SBATCH --job-name=deepspeed
#SBATCH --nodes=4 --ntasks-per-node=8 --gpus-per-node=8
#SBATCH --time=24:00:00 --signal=USR1@300
#SBATCH --rail-span=unit --restart=auto
#SBATCH --open-mode=append --output=deepspeed-%j.out
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=29500
# shellcheck disable=SC2016 # each task has its own rank
exec srun sh -c 'export RANK="$SLURM_PROCID" LOCAL_RANK="$SLURM_LOCALID" WORLD_SIZE="$SLURM_NTASKS"
exec python3 train.py "$@"' task "$@"
