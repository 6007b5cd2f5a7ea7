#!/bin/bash
# Runs a program on nodes with GPUs, one rank for each GPU:
#   sbatch gpu.sh                                    trains DLRM in device memory, on two nodes with four GPUs each
#   sbatch --nodes=4 gpu.sh tutti-commbench -o allreduce --memory device
#SBATCH --job-name=tutti-gpu
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --cpus-per-task=8
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out
set -euo pipefail
[ $# -gt 0 ] || set -- tutti-dlrm --preset adult --device

export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}

# Every rank sees all GPUs of its node and takes its own by its number on the node. With --gpus-per-task or --gpu-bind a
# rank would see one GPU only, and NCCL could not reach the others over NVLink.
# --kill-on-bad-exit: a rank that dies ends the job. Without it the others wait for that rank until the time is over,
# and a GPU that waits in NCCL is busy until then.
srun --mpi="${TUTTI_SLURM_MPI:-pmi2}" --kill-on-bad-exit=1 --cpu-bind=cores "$@"
