#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# shared_memory.sh CASE PROGRAM LAUNCHER...: runs two ranks of PROGRAM where shared memory fails, and looks at what they
# say and leave behind. Ends with 77 where the system does not allow it. Only names that these ranks made count: other
# programs of the machine may use /dev/shm meanwhile.
set -u
case=$1 program=$2
shift 2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
within=()
case $case in
full | readonly | absent)
  within=(unshare --mount --propagation private)
  "${within[@]}" true 2>/dev/null || within=(unshare --user --map-root-user --mount --propagation private)
  "${within[@]}" true 2>/dev/null || { echo "SKIPPED: no mount namespaces without privileges"; exit 77; }
  ;;
esac

# Prints the path of a new file like that of a segment.
segment() {
  local path=/dev/shm/tutti-$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  (umask 077 && truncate -s 4096 "$path") && echo "$path"
}

# Names that killed jobs have left, one in use, and a file of the user's own.
if [ "$case" = abandoned ]; then
  left=$(segment) used=$(segment) young=$(segment) own=$(mktemp /dev/shm/tutti-results-XXXXXX.csv) || exit 77
  touch -d '1 minute ago' "$left" "$used" "$own"
  exec 9<"$used"
  flock -s 9
  "$@" -n 2 "$program" abandoned 9<&- >"$log" 2>&1
  status=$?
  cat "$log"
  [ $status -eq 0 ] || echo "ended with $status"
  [ ! -e "$left" ] || { echo "an abandoned name is still there"; status=1; }
  [ -e "$used" ] || { echo "a name in use has gone"; status=1; }
  [ -e "$young" ] || { echo "a young name has gone"; status=1; }
  [ -e "$own" ] || { echo "a file of the user's own has gone"; status=1; }
  rm -f "$left" "$used" "$young" "$own"
  exit $status
fi

TUTTI_TEST_SHOW_NAMES=1 TUTTI_LOG=1 "${within[@]}" "$@" -n 2 "$program" "$case" >"$log" 2>&1
status=$?
cat "$log"
[ $status -ne 77 ] || exit 77
made=$(sed -n 's|^.*made in /dev/shm: \(tutti-[0-9a-f]*\)$|\1|p' "$log")
for name in $made; do
  [ ! -e "/dev/shm/$name" ] || { echo "left behind: $name"; exit 1; }
done
case $case in
filesize | *killed)
  [ -n "$made" ] || { echo "no name was made, so none can be left behind"; exit 1; }
  ;;
esac
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
