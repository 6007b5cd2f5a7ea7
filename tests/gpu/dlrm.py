# SPDX-License-Identifier: BSD-3-Clause
"""tutti-dlrm --device has the golden losses of the reference, and those of the host on a larger model."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MPI_TESTS = os.path.join(HERE, "..", "mpi", "dlrm")
sys.path.insert(0, MPI_TESTS)

import support  # noqa: E402

LARGER = ["--data-generation=bench", "--arch-sparse-feature-size=64", "--arch-embedding-size=10000-500-70-20000-3",
          "--arch-mlp-bot=13-128-64", "--arch-mlp-top=256-128-1", "--num-indices-per-lookup=5", "--loss-function=bce",
          "--round-targets", "--learning-rate=0.1", "--mini-batch-size=512", "--num-batches=20", "--print-freq=1"]


def why_no_gpu(commbench):
    listed = subprocess.run([commbench, "--list"], capture_output=True, text=True, check=False).stdout
    if "this build has no kernels for the device" in listed:
        return "no device kernels: this build had no nvcc"
    lines = [line.split(None, 1) for line in listed.splitlines() if line.startswith("  device ")]
    return lines[0][1].strip().removeprefix("no: ") if lines and not lines[0][1].startswith("yes") else ""


def golden(runner, ranks):
    with open(os.path.join(MPI_TESTS, "golden_losses.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    for case in cases:
        results = runner.train(ranks, case["flags"].split() + ["--print-freq=1", "--device"])
        support.expect_close(f"{case['name']} on {ranks} ranks", support.losses(results), case["losses"], 1e-5)
    print(f"{len(cases)} golden cases agree on {ranks} ranks")


def larger(runner, ranks):
    for optimizer in ("sgd", "rwsadagrad"):
        for tables in ("fp32", "bf16"):
            flags = LARGER + [f"--optimizer={optimizer}", f"--table-type={tables}"]
            want = support.losses(runner.train(ranks, flags))
            got = support.losses(runner.train(ranks, flags + ["--device"]))
            support.expect_close(f"{optimizer}, {tables} tables on {ranks} ranks", got, want, 1e-4)
    print(f"the larger model agrees with the host on {ranks} ranks")


def main():
    args = support.arguments(__doc__)
    why = why_no_gpu(os.path.join(os.path.dirname(args.program), "tutti-commbench"))
    if why:
        print(f"skipped: {why}")
        return support.SKIPPED
    runner = support.Runner(args)
    for ranks in map(int, args.ranks.split(",")):
        golden(runner, ranks)
        larger(runner, ranks)
    return 0


support.run(main)
