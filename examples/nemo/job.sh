#!/bin/sh
# NeMo 2 that takes part in Railyard: srun starts one process a GPU. From a folder that all hosts see:
#
#     mkdir -p "$SCRATCH/llama"
#     sbatch --ckpt-dir="$SCRATCH/llama" job.sh
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time. See
# mpi/job.sh for what the flags mean. No --signal=USR1: Lightning would requeue the job itself, beside Railyard.
#
#SBATCH --job-name=nemo
#SBATCH --nodes=4 --ntasks-per-node=8 --gpus-per-node=8
#SBATCH --time=24:00:00
#SBATCH --rail-span=unit --restart=auto
#SBATCH --open-mode=append --output=nemo-%j.out
RAIL_RESUME=$(railckpt latest --verify)
[ $? -le 1 ] || exit 1 # fenced off, or the directory cannot be read
export RAIL_RESUME RESULTS="${RESULTS:-$PWD/results}"
exec srun python3 pretrain.py "$@"
