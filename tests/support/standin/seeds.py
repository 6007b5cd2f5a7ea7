#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of device memory with the stand-ins' chance (tests/support/standin/chance.hpp), seed after seed.

    tests/support/standin/seeds.py build/release --seeds 1000             each program on 1 to 4 ranks in turn
    tests/support/standin/seeds.py build/release --first 77 --seeds 1 --programs nccl_streams --ranks 3
    tests/support/standin/seeds.py build/release --threads --seeds 20     a thread for each stream

A failure prints its seed, its program and what the program said; the run goes on.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

PROGRAMS = ["nccl_streams", "nccl_collectives", "nccl_graphs", "nccl_comm", "device_staged", "device_schedule",
            "device_point_to_point", "device_calls", "gradient_reducer_device"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--programs", nargs="+", default=PROGRAMS)
    parser.add_argument("--threads", action="store_true", help="a thread for each stream")
    parser.add_argument("--filter", default="*", help="of GoogleTest")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--launcher", default="mpiexec.mpich")
    return parser.parse_args()


def main():
    args = arguments()
    failures, begin = 0, time.monotonic()
    for seed in range(args.first, args.first + args.seeds):
        program = args.programs[seed % len(args.programs)]
        ranks = args.ranks[seed // len(args.programs) % len(args.ranks)]
        environment = dict(os.environ, TUTTI_TEST_SEED=str(seed), TUTTI_TEST_THREADS="multiple")
        if program == "device_calls":
            environment["TUTTI_NCCL"] = "0"
        if args.threads:
            environment["TUTTI_TEST_STREAM_THREADS"] = "1"
        command = [args.launcher, "-n", str(ranks), str(args.build / "tests" / f"mpi_{program}"),
                   f"--gtest_filter={args.filter}"]
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=args.limit)
            said, failed = done.stdout + done.stderr, done.returncode not in (0, 77)
        except subprocess.TimeoutExpired as expired:
            said, failed = (expired.stdout or b"").decode(errors="replace") + "\nran for too long", True
        if failed:
            failures += 1
            print(f"seed {seed}: {program} on {ranks} ranks failed\n{said[-3000:]}", flush=True)
    print(f"{args.seeds} seeds, {failures} failures, {time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
