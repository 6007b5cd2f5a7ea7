#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the tests of device memory with the stand-ins' chance (tests/support/standin/chance.hpp), seed after seed. A seed
also says on how many hardware queues the streams are, and whether NCCL's communicators block.

    tests/support/standin/seeds.py build/release --seeds 1000             each program on 1 to 4 ranks in turn
    tests/support/standin/seeds.py build/release --first 77 --seeds 1 --programs mpi_nccl_streams --ranks 3
    tests/support/standin/seeds.py build/release --threads --seeds 20     a thread for each stream

A failure prints its seed, its program, the variables that say the same, and what the program said; the run goes on.
"""
import argparse
import os
import pathlib
import random
import subprocess
import sys
import time

# What a program needs beside its seed.
PROGRAMS = {
    "mpi_nccl_streams": {},
    "mpi_nccl_collectives": {},
    "mpi_nccl_graphs": {},
    "mpi_nccl_comm": {},
    "mpi_nccl_comm_failures": {},
    "mpi_nccl_failures": {},
    "mpi_nccl_first_launches": {},
    "mpi_nccl_parts": {},
    "mpi_device_staged": {},
    "mpi_device_schedule": {},
    "mpi_device_point_to_point": {},
    "mpi_device_calls": {"TUTTI_NCCL": "0"},
    "mpi_device_cuda_aware": {},
    "mpi_device_memory": {"TUTTI_NCCL_REGISTER": "1"},
    "mpi_gradient_reducer_device": {},
    "mpi_embedding_device": {},
    "mpi_dlrm_device": {},
    "gpu_all_standin": {},
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new seed after so long")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4])
    parser.add_argument("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--threads", action="store_true", help="a thread for each stream")
    parser.add_argument("--filter", default="*", help="of GoogleTest")
    parser.add_argument("--limit", type=float, default=300, help="seconds of one run")
    parser.add_argument("--launcher", default="mpiexec.mpich")
    return parser.parse_args()


def variables(args, seed, program):
    chance = random.Random(seed)
    chosen = {
        "TUTTI_TEST_SEED": str(seed),
        "TUTTI_TEST_THREADS": "multiple",
        "TUTTI_TEST_HARDWARE_QUEUES": str(chance.choice([4, 8, 32])),
        "TUTTI_NCCL_BLOCKING": str(chance.randrange(2)),
    }
    if args.threads:
        chosen["TUTTI_TEST_STREAM_THREADS"] = "1"
    return chosen | PROGRAMS[program]


def run(args, ranks, program, chosen):
    """What the program said, and whether it failed."""
    command = [args.launcher, "-n", str(ranks), str(args.build / "tests" / program), f"--gtest_filter={args.filter}"]
    try:
        done = subprocess.run(command, env=os.environ | chosen, capture_output=True, text=True, timeout=args.limit)
        return done.stdout + done.stderr, done.returncode not in (0, 77)
    except subprocess.TimeoutExpired as expired:
        return (expired.stdout or b"").decode(errors="replace") + "\nran for too long", True


def main():
    args = arguments()
    failures, done, begin = 0, 0, time.monotonic()
    for seed in range(args.first, args.first + args.seeds):
        if time.monotonic() - begin > args.seconds:
            break
        program = args.programs[seed % len(args.programs)]
        ranks = args.ranks[seed // len(args.programs) % len(args.ranks)]
        chosen = variables(args, seed, program)
        said, failed = run(args, ranks, program, chosen)
        done += 1
        if failed:
            failures += 1
            text = " ".join(f"{name}={value}" for name, value in chosen.items())
            print(f"seed {seed}: {program} on {ranks} ranks failed, {text}\n{said[-3000:]}", flush=True)
    print(f"{done} seeds from {args.first} on, {failures} failures, {time.monotonic() - begin:.0f} s")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
