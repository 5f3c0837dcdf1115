"""A whole cluster on one machine: hosts as namespaces, real Slurm, munge, InfiniBand fabric and Railyard."""
