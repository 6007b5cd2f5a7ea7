#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpiexec of this machine for programs of another: the first argument that is a program runs under qemu-user, on the root
# that AARCH64_ROOT names.
set -euo pipefail

words=()
while [ $# -gt 0 ]; do
  if [[ $1 == /* && -f $1 && -x $1 ]]; then
    words+=(qemu-aarch64-static -L "$AARCH64_ROOT")
    break
  fi
  words+=("$1")
  shift
done
exec mpiexec.mpich "${words[@]}" "$@"
