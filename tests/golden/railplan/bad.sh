#!/bin/sh
#SBATCH -N 4
#SBATCH -J "never closed
