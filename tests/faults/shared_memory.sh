#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shared_memory.sh CASE PROGRAM LAUNCHER...: runs two ranks of PROGRAM where shared memory fails, and looks at what they
# say and leave behind. Ends with 77 where the system does not allow it.
set -u
case=$1 program=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
within=()
case $case in
full | readonly | absent)
  unshare --mount true 2>/dev/null || { echo "SKIPPED: no mount namespaces without privileges"; exit 77; }
  within=(unshare --mount --propagation private)
  ;;
esac

names() { find /dev/shm -maxdepth 1 -name 'tutti-*' | sort; }

before=$(names)
TUTTI_LOG=1 "${within[@]}" "$@" -n 2 "$program" "$case" >"$log" 2>&1
status=$?
cat "$log"
[ $status -ne 77 ] || exit 77
left=$(comm -13 <(echo "$before") <(names))
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
case $case in
*killed)
  [ $status -ne 0 ] || { echo "the launcher saw no failure"; exit 1; }
  ;;
*)
  [ $status -eq 0 ] || { echo "ended with $status"; exit 1; }
  # Once, by one rank, though two communicators met it.
  [ "$(grep -c '^tutti: shared memory: ' "$log")" -eq 1 ] || { echo "not one message"; exit 1; }
  ;;
esac
