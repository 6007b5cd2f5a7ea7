#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random calls for hours: the memory and the descriptors of the ranks must not grow.

soak.py --launcher LINE --program tutti_fuzz [--ranks 2] [--minutes 120] [--hang 60]
The first tenth of the time is not counted. The memory that a rank keeps to itself varies with the sizes of the calls, so
the smallest of the second tenth is compared with the smallest of the last.
"""
import argparse
import os
import pathlib
import shlex
import subprocess
import sys
import time

MOST_GROWTH = 1024  # KiB
SAMPLES = 200


def ranks_of(program):
    """Private memory in KiB, shared memory in KiB and descriptors of each process of that program."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "exe") != program:
                continue
            status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            sizes = [int(status[name].split()[0]) for name in ("RssAnon", "RssShmem")]
            found[int(folder.name)] = (*sizes, len(list((folder / "fd").iterdir())))
        except (OSError, KeyError):
            continue
    return found


def judge(samples):
    """samples: by time, of one rank."""
    tenth = max(len(samples) // 10, 1)
    before, after = samples[tenth:2 * tenth], samples[-tenth:]
    problems = []
    for what, place, most in (("private memory, KiB", 0, MOST_GROWTH), ("descriptors", 2, 0)):
        growth = min(one[place] for one in after) - min(one[place] for one in before)
        print(f"  {what}: {min(one[place] for one in before)} before, {growth:+} in the end")
        if growth > most:
            problems.append(f"{what} grew by {growth}")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--hang", type=int, default=60, help="seconds without progress after which a rank hangs")
    options = parser.parse_args()
    program = os.path.realpath(options.program)
    command = [*shlex.split(options.launcher), "-n", str(options.ranks), program, "--seeds", "0", "--first",
               str(options.first), "--seconds", str(int(60 * options.minutes)), "--largest", "100000",
               "--hang", str(options.hang)]
    # One heap that gives memory back at once: otherwise the allocator's habits hide a loss.
    heap = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "131072"}
    begin = time.monotonic()
    job = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **heap})
    history = {}
    while job.poll() is None:
        for process, sizes in ranks_of(program).items():
            history.setdefault(process, []).append(sizes)
        if sys.stdout.isatty():
            print(f"\r{(time.monotonic() - begin) / 60:.1f} of {options.minutes:g} min", end="", flush=True)
        time.sleep(60 * options.minutes / SAMPLES)
    problems = [] if job.returncode == 0 else [f"the program ended with {job.returncode}"]
    for rank, samples in enumerate(history.values()):
        print(f"process {rank}: {len(samples)} samples")
        problems += judge(samples)
    for problem in problems:
        print(f"soak.py: {problem}", file=sys.stderr)
    return 1 if problems or len(history) != options.ranks else 0


if __name__ == "__main__":
    sys.exit(main())
