# Examples for users to copy, with the documents.
examplesdir = $(docdir)
nobase_dist_examples_DATA = \
	%D%/README \
	%D%/deepspeed/ds_config.json \
	%D%/deepspeed/job.sh \
	%D%/deepspeed/train.py \
	%D%/grafana/railyard-cluster.json \
	%D%/grafana/railyard-fabric.json \
	%D%/grafana/railyard-host.json \
	%D%/megatron/job.sh \
	%D%/megatron/railckpt_megatron.py \
	%D%/mpi/job.sh \
	%D%/mpi/waves.c \
	%D%/nemo/job.sh \
	%D%/nemo/pretrain.py \
	%D%/prometheus/prometheus.yml \
	%D%/prometheus/railyard.rules.yml \
	%D%/python/job.sh \
	%D%/python/ring.py \
	%D%/python/ring.sh \
	%D%/python/train.py \
	%D%/torch/job.sh \
	%D%/torch/train.py
