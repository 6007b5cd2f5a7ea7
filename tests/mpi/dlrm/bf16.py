# SPDX-License-Identifier: BSD-3-Clause
"""Products in bf16 train as those in fp32, to within their rounding: losses to 1 %, the test AUC to 0.002."""
import support


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    flags = ["--preset=adult", "--nepochs=1", "--num-batches=100", "--print-freq=10"]
    for ranks in map(int, args.ranks.split(",")):
        exact = runner.train(ranks, flags)
        probe = runner.start(ranks, flags + ["--compute-type=bf16"])
        if probe.returncode != 0 and "--compute-type=bf16: " in probe.stderr:
            print(probe.stderr)
            return support.SKIPPED
        rounded = runner.train(ranks, flags + ["--compute-type=bf16"])
        for a, b in zip(support.losses(rounded), support.losses(exact)):
            support.expect_close(f"loss on {ranks} ranks", [a], [b], 0.01 * b)
        support.expect("bf16 changes nothing", support.losses(rounded) != support.losses(exact))
        support.expect_close(f"AUC on {ranks} ranks", [rounded["test"]["auc"]], [exact["test"]["auc"]], 2e-3)
        print(f"{ranks} ranks: AUC {exact['test']['auc']:.6f} in fp32, {rounded['test']['auc']:.6f} in bf16")
    return 0


support.run(main)
