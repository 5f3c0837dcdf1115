#!/bin/bash
#SBATCH -N 4 -J "train 7"  # four nodes
#SBATCH --rail-span=unit@2h --rail-order=tree
#SBATCH --time=2-0:00 --partition=batch -C 'h100&ib' --gres=gpu:8
#SBATCHX is a comment
##SBATCH -N 99

#SBATCH -x n[025-026] --exclusive -o train-%j.out
srun hostname
#SBATCH -N 99
