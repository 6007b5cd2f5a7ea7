#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the DLRM step, or the embedding kernel, in turn with PyTorch scripts that do the same work, and prints medians.

usage: compare_pytorch.py {kaggle|bench|embedding} --peers DIR --python PYTHON [--build DIR] [--rounds N]

DIR holds torch_dlrm.py and torch_embedding.py, which print "median X ms" and "train ms bag X fbgemm Y"; PYTHON has
torch and fbgemm-gpu-cpu. Everything runs once a round, one after another, so that all see the same machine.
"""
import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys


def output_of(command, **environment):
    run = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment}, check=False)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{run.stdout}{run.stderr}")
    return run.stdout


def number(pattern, text):
    found = re.search(pattern, text)
    if not found:
        sys.exit(f"no '{pattern}' in:\n{text}")
    return float(found.group(1))


def launcher(ranks):
    return ["mpiexec.mpich", "-bind-to", "core", "-n", str(ranks)]


def dlrm_contestants(preset, options):
    program = options.build / "bin" / "tutti-dlrm"
    script = [options.python, options.peers / "torch_dlrm.py", "--preset", preset, "--engine", "fbgemm"]

    def tutti():
        return number(r"median ([\d.]+) ms a step", output_of(launcher(2) + [program, "--preset", preset]))

    def torch_one_process(threads):
        return number(r"median ([\d.]+) ms", output_of(script + ["--threads", str(threads)]))

    def torch_two_processes():
        environment = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29531"}
        other = subprocess.Popen(script, env={**os.environ, **environment, "RANK": "1"}, stdout=subprocess.DEVNULL)
        text = output_of(script, **environment, RANK="0")
        other.wait()
        return number(r"median ([\d.]+) ms", text)

    return {
        "tutti, 2 ranks": tutti,
        "PyTorch + fbgemm, 1 thread": lambda: torch_one_process(1),
        "PyTorch + fbgemm, 2 threads": lambda: torch_one_process(2),
        "PyTorch + fbgemm, 2 processes (gloo)": torch_two_processes,
    }


def embedding_contestants(options):
    program = options.build / "bin" / "tutti-kernelbench"
    script = [options.python, options.peers / "torch_embedding.py"]
    memo = {}

    def tutti(ranks):
        batch = 8192 // ranks
        command = launcher(ranks) + [program, "embedding", "--batch", str(batch), "--rounds", "11"]
        return number(r"forward_backward_update_ms: ([\d.]+)", output_of(command))

    def torch(threads, engine):
        # One run of the script measures both engines.
        if engine == "bag":
            memo[threads] = output_of(script + ["--threads", str(threads)])
        return number(rf"train ms.*\b{engine} ([\d.]+)", memo[threads])

    contestants = {"tutti, 1 process": lambda: tutti(1), "tutti, 2 processes, half the batch each": lambda: tutti(2)}
    for threads in (1, 2):
        for engine in ("bag", "fbgemm"):
            contestants[f"PyTorch {engine}, {threads} threads"] = lambda t=threads, e=engine: torch(t, e)
    return contestants


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kaggle", "bench", "embedding"])
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    contestants = embedding_contestants(options) if options.what == "embedding" else dlrm_contestants(options.what, options)
    times = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, run in contestants.items():
            times[name].append(run())
    best_peer = min(statistics.median(t) for name, t in times.items() if not name.startswith("tutti"))
    print(f"{options.what}: medians of {options.rounds} rounds, in milliseconds")
    for name, t in times.items():
        median = statistics.median(t)
        ratio = f"  {best_peer / median:.2f} times the best PyTorch" if name.startswith("tutti") else ""
        print(f"  {name:42} {median:9.2f}   (from {min(t):.2f} to {max(t):.2f}){ratio}")


if __name__ == "__main__":
    main()
