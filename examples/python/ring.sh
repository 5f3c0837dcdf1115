#!/bin/sh
# A parallel Python program, over mpi4py, that takes part in Railyard. From a folder that all hosts see:
#
#     mkdir -p "$SCRATCH/ring"
#     sbatch --ckpt-dir="$SCRATCH/ring" ring.sh
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time. See
# mpi/job.sh for what the flags mean.
#
#SBATCH --job-name=ring
#SBATCH --nodes=4 --ntasks-per-node=1
#SBATCH --time=04:00:00 --signal=USR1@120
#SBATCH --rail-span=unit --restart=auto
#SBATCH --open-mode=append --output=ring-%j.out
exec srun --mpi=pmix python3 ring.py "$@"
