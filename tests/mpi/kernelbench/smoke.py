# SPDX-License-Identifier: BSD-3-Clause
"""Runs tutti-kernelbench on small sizes: its figures follow from one another, and wrong use ends with one line."""
import argparse
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile

LIMITS = ["--peak-rows=64", "--copy-bytes=64K", "--rounds=3"]


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


class Runner:
    def __init__(self, options):
        self.command = shlex.split(options.launcher) + ["-n", str(options.ranks), options.program]
        self.ranks = options.ranks
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-kernelbench-")

    def start(self, flags):
        return subprocess.run(self.command + flags, capture_output=True, text=True, timeout=60, check=False)

    def measure(self, flags):
        """What --json-file got; none where this build or processor lacks the type."""
        out = os.path.join(self.folder.name, "out.json")
        done = self.start(flags + ["--json-file", out])
        if done.returncode and "--type bfloat16: " in done.stderr:
            print(f"skipped: {' '.join(flags)}: {done.stderr.splitlines()[0]}")
            return None
        expect(done.returncode == 0, f"{flags}: {done.stdout}{done.stderr}")
        with open(out, encoding="utf-8") as file:
            found = json.load(file)
        expect(found["processes"] == self.ranks, found)
        return found


def check_rates(found, name, operations, moved):
    """Rates are work over time, and the limit is the later of the two that were measured."""
    seconds = found[f"{name}_ms"] / 1e3
    expect(math.isclose(found[f"{name}_gflop_per_s"], operations / seconds / 1e9, rel_tol=1e-9), found)
    expect(math.isclose(found[f"{name}_gb_per_s"], moved / seconds / 1e9, rel_tol=1e-9), found)
    limits = {"products": operations / found["peak_gflop_per_s"] / 1e6, "copies": moved / found["copy_gb_per_s"] / 1e6}
    limit = max(limits.values())
    expect(math.isclose(found[f"{name}_limit_ms"], limit, rel_tol=1e-9), found)
    expect(math.isclose(limits[found[f"{name}_limited_by"]], limit, rel_tol=1e-9), found)
    expect(math.isclose(found[f"{name}_over_limit"], limit / found[f"{name}_ms"], rel_tol=1e-9), found)


def gemm(runner):
    for kind, size in (("float32", 4), ("bfloat16", 2)):
        for m, n, k in ((1, 1, 1), (7, 33, 65), (128, 64, 100)):
            found = runner.measure(["gemm", f"--m={m}", f"--n={n}", f"--k={k}", "--type", kind] + LIMITS)
            if found:
                check_rates(found, "gemm", 2 * m * n * k, size * (m * k + n * k) + 4 * m * n)


def mlp(runner):
    for kind, size in (("float32", 4), ("bfloat16", 2)):
        widths, batch = [20, 30, 30, 10], 17
        found = runner.measure(["mlp", "--layers=3", "--input=20", "--hidden=30", "--output=10", f"--batch={batch}",
                                "--type", kind] + LIMITS)
        if not found:
            continue
        layers = list(zip(widths, widths[1:]))
        operations = [2 * batch * a * b for a, b in layers]
        moved = [size * (a * b + batch * (a + b)) for a, b in layers]
        check_rates(found, "forward", sum(operations), sum(moved))
        check_rates(found, "backward", 2 * sum(operations) - operations[0], 2 * sum(moved) - moved[0])


def embedding(runner):
    for kind in ("float32", "bfloat16"):
        found = runner.measure(["embedding", "--tables=2", "--rows=1000", "--dim=8", "--bag=3", "--batch=50", "--zipf=1.05",
                                "--rounds=3", "--type", kind])
        expect(found["type"] == kind and found["forward_gb_per_s"] > 0 and found["forward_backward_update_ms"] > 0, found)


def errors(runner):
    for flags, words in ((["gemm", "--device"], ["gemm", "leave out --device"]), (["mlp", "--layers=0"], ["--layers", "'0'"]),
                         (["gemm", "--type=int8"], ["--type", "float32, bfloat16"]), ([], ["name a command", "gemm, mlp"])):
        done = runner.start(flags)
        expect(done.returncode != 0 and all(word in done.stderr for word in words), f"{flags}: {done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--launcher", required=True, help="launcher and its flags, one string")
    parser.add_argument("--ranks", type=int, required=True)
    runner = Runner(parser.parse_args())
    for case in (gemm, mlp, embedding, errors):
        case(runner)


main()
