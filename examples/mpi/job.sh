#!/bin/sh
# A plain MPI program that takes part in Railyard. From a folder that all hosts see:
#
#     mpicc -O2 -pthread -o waves waves.c -lrailckpt
#     mkdir -p "$SCRATCH/waves"
#     sbatch --ckpt-dir="$SCRATCH/waves" job.sh
#
# The checkpoint directory must exist on a file system that all hosts see, and belongs to one job at a time. Submitted
# again with the same directory, the job goes on from its last checkpoint.
#
# --rail-span=unit      all nodes in one unit of the fabric; --rail-span=unit@2h to wait no longer than that for it
# --restart=auto        when a host fails, Railyard requeues the job without it (--requeue is not needed)
# --signal=USR1@120     two minutes before the time limit the program saves once more
# --open-mode=append    one output file for all lives of the job
#
#SBATCH --job-name=waves
#SBATCH --nodes=4 --ntasks-per-node=1
#SBATCH --time=04:00:00 --signal=USR1@120
#SBATCH --rail-span=unit --restart=auto
#SBATCH --open-mode=append --output=waves-%j.out
exec srun --mpi=pmix ./waves "$@"
