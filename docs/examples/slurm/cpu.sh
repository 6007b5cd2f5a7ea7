#!/bin/bash
# Runs a program on nodes without GPUs, one rank for each group of cores:
#   sbatch cpu.sh                                    trains DLRM on the Adult census data, on two nodes
#   sbatch --nodes=8 cpu.sh tutti-sgd --model mlp    another program on other numbers of nodes
#   sbatch cpu.sh tutti run -- ./heat --steps 100    a program that calls MPI only, with Tutti's collectives
#SBATCH --job-name=tutti
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:30:00
#SBATCH --output=%x-%j.out
set -euo pipefail
[ $# -gt 0 ] || set -- tutti-dlrm --preset adult

# Since Slurm 22.05, srun takes the number of cores of a rank from its own option or variable, no longer from the job.
export SRUN_CPUS_PER_TASK=${SLURM_CPUS_PER_TASK:-1}

# pmi2: MPICH, Intel MPI, MVAPICH; pmix: Open MPI (`srun --mpi=list` names what is installed).
# --kill-on-bad-exit: a rank that dies ends the job. Without it the others wait for that rank until the time is over,
# unless the administrator has set KillOnBadExit=1.
srun --mpi="${TUTTI_SLURM_MPI:-pmi2}" --kill-on-bad-exit=1 --cpu-bind=cores "$@"
