#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# run.sh PREFIX RANKS LIBRARY PROGRAM ARGUMENT...: runs a program that was built against the ABI of MPI 5 on the MPI of a
# prefix (bin/mpiexec, lib/libmpi_abi.so.1), with a library preloaded (-: none). Ends with 77 where there is no such MPI,
# and with an error if the program would load another one.
prefix=$1 ranks=$2 library=$3 program=$4
shift 4
if ! [ -e "$prefix/lib/libmpi_abi.so.1" ] || ! [ -x "$prefix/bin/mpiexec" ]; then
  echo "SKIPPED: $prefix has no lib/libmpi_abi.so.1 with a bin/mpiexec"
  exit 77
fi
loads=$(LD_LIBRARY_PATH=$prefix/lib ldd "$program" | sed -n 's/.*libmpi_abi.so.1 => \(.*\) (.*/\1/p')
if [ "$loads" != "$prefix/lib/libmpi_abi.so.1" ]; then
  echo "$program would load '$loads', not the MPI of $prefix"
  exit 1
fi
[ "$library" = - ] || set -- "LD_PRELOAD=$library" "$program" "$@"
[ "$library" != - ] || set -- "$program" "$@"
# One machine; Open MPI counts its cores and asks who is root.
export I_MPI_FABRICS=shm OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 \
  PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe \
  PRTE_MCA_hwloc_default_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
exec "$prefix/bin/mpiexec" -n "$ranks" env "LD_LIBRARY_PATH=$prefix/lib" "$@"
