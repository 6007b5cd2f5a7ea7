#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# throws.sh launcher...: rank 0 of the job throws. The job must fail within 20 seconds, and its output must have the text.
output=$(timeout 20 "$@" 2>&1)
code=$?
echo "$output"
echo "exit code $code"
[ $code -ne 0 ] && [ $code -ne 124 ] || exit 1
for text in "lifetime: the beam went out" "tutti: rank 0: an exception left the scope of tutti::Environment"; do
  echo "$output" | grep -qF "$text" || exit 1
done
