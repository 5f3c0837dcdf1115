#!/bin/sh
# A Python program of one process that takes part in Railyard. From a folder that all hosts see:
#
#     mkdir -p "$SCRATCH/line"
#     sbatch --ckpt-dir="$SCRATCH/line" job.sh
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time: each task
# of an array needs one of its own (railckpt(1)). See mpi/job.sh for what the flags mean.
#
#SBATCH --job-name=line
#SBATCH --nodes=1 --ntasks=1
#SBATCH --time=04:00:00 --signal=USR1@120
#SBATCH --restart=auto
#SBATCH --open-mode=append --output=line-%j.out
exec srun python3 train.py "$@"
