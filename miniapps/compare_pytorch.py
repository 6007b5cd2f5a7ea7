#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the DLRM step, the embedding kernel, or data-parallel steps in turn with PyTorch scripts that do the same work,
and prints medians.

usage: compare_pytorch.py {kaggle|bench|bench-bf16|embedding|ddp} --peers DIR --python PYTHON [--build DIR] [--rounds N]

DIR holds torch_dlrm.py, torch_embedding.py and torch_ddp.py, which print "median X ms", "train ms bag X fbgemm Y" and
"none X, flat Y (exposed Z), ddp W (exposed V)"; PYTHON has torch and fbgemm-gpu-cpu. Everything runs once a round, one
after another, so that all see the same machine. bench-bf16: matrix products in bf16 on both sides. ddp: gradients of the shapes of --model over 2 ranks while a backward
of --backward-ms sleeps; what each way adds to the step without communication is exposed.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile


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


def dlrm_contestants(preset, options, bf16=False):
    program = options.build / "bin" / "tutti-dlrm"
    script = [options.python, options.peers / "torch_dlrm.py", "--preset", preset, "--engine", "fbgemm"]
    script += ["--bf16"] if bf16 else []

    def tutti(*flags):
        return number(r"median ([\d.]+) ms a step", output_of(launcher(2) + [program, "--preset", preset, *flags]))

    def torch_one_process(threads):
        return number(r"median ([\d.]+) ms", output_of(script + ["--threads", str(threads)]))

    def torch_two_processes():
        environment = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29531"}
        other = subprocess.Popen(script, env={**os.environ, **environment, "RANK": "1"}, stdout=subprocess.DEVNULL)
        text = output_of(script, **environment, RANK="0")
        other.wait()
        return number(r"median ([\d.]+) ms", text)

    own = {"tutti, 2 ranks": tutti}
    if bf16:
        own = {"tutti, 2 ranks": lambda: tutti("--compute-type=bf16"),
               "tutti, 2 ranks, bf16 tables too": lambda: tutti("--compute-type=bf16", "--table-type=bf16")}
    return {
        **own,
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


def tutti_ddp(options):
    """Milliseconds of steps and what is exposed in them, by mode."""
    program = options.build / "bin" / "tutti-sgd"
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "steps.json"
        output_of(launcher(2) + [program, f"--workload={options.model}", f"--backward-ms={options.backward_ms}",
                                 f"--study-steps={options.steps}", "--study-modes=none,flat,overlap",
                                 f"--json-file={document}"])
        modes = {mode["mode"]: mode for mode in json.loads(document.read_text(encoding="utf-8"))["modes"]}
    return {f"tutti {name}": (modes[name]["step_ms"], modes[name]["exposed_ms"]) for name in ("flat", "overlap")}


def torch_ddp(options):
    text = output_of([options.python, options.peers / "torch_ddp.py", "--model", options.model, "--backward-ms",
                      str(options.backward_ms), "--steps", str(options.steps)])
    if "averages right: True" not in text:
        sys.exit(f"PyTorch's averages are wrong: {text}")
    return {f"PyTorch {name}": (number(rf"\b{name} ([\d.]+)", text), number(rf"\b{name} [\d.]+ \(exposed (-?[\d.]+)", text))
            for name in ("flat", "ddp")}


def compare_ddp(options):
    rounds = []
    for _ in range(options.rounds):
        rounds.append({**tutti_ddp(options), **torch_ddp(options)})
    exposed = {name: statistics.median(r[name][1] for r in rounds) for name in rounds[0]}
    print(f"{options.model}, backward {options.backward_ms:g} ms, 2 ranks: medians of {options.rounds} rounds, ms")
    for name in rounds[0]:
        of = [r[name][1] for r in rounds]
        print(f"  {name:16} step {statistics.median(r[name][0] for r in rounds):9.2f}   exposed {exposed[name]:8.2f}"
              f"   (from {min(of):.2f} to {max(of):.2f})")
    share = statistics.median(r["tutti overlap"][1] / r["tutti flat"][1] for r in rounds)
    ratio = statistics.median(r["PyTorch ddp"][1] / max(r["tutti overlap"][1], 1e-3) for r in rounds)
    print(f"  overlap exposes {100 * share:.1f} % of flat; PyTorch DDP exposes {ratio:.2f} times as much as overlap")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["kaggle", "bench", "bench-bf16", "embedding", "ddp"])
    parser.add_argument("--peers", type=pathlib.Path, required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--model", default="resnet50", choices=["resnet18", "resnet50", "bert"], help="ddp")
    parser.add_argument("--backward-ms", type=float, help="ddp (resnet18 100, resnet50 400, bert 1500)")
    parser.add_argument("--steps", type=int, default=10, help="ddp: measured in each round")
    options = parser.parse_args()
    if options.what == "ddp":
        if options.backward_ms is None:
            options.backward_ms = {"resnet18": 100.0, "resnet50": 400.0, "bert": 1500.0}[options.model]
        return compare_ddp(options)
    if options.what == "embedding":
        contestants = embedding_contestants(options)
    else:
        preset, _, bf16 = options.what.partition("-")
        contestants = dlrm_contestants(preset, options, bf16 == "bf16")
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
    return None


if __name__ == "__main__":
    main()
