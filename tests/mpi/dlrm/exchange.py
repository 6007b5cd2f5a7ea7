# SPDX-License-Identifier: BSD-3-Clause
"""Vectors and gradients that travel in 16 bits: losses within 1 % of those in fp32, but on several ranks not the same;
the planner predicts a shorter exchange."""
import re

import support

FLAGS = ["--preset=adult", "--nepochs=1", "--num-batches=100", "--print-freq=10"]


def exchange_of(printed):
    """The predicted times of the ranks' exchanges, in ms."""
    lines = printed[printed.index("exchange ms"):].splitlines()[1:]
    rows = [line.split() for line in lines if re.match(r"\d+ +[\d.]+ [KMG]B ", line)]
    return [float(row[-2]) for row in rows]


def losses(runner, ranks):
    for sharding in ("auto", "row-wise", "mixed"):
        flags = FLAGS + ["--sharding=" + sharding]
        exact = support.losses(runner.train(ranks, flags))
        for kind in ("bf16", "fp16"):
            what = f"{kind}, {sharding} on {ranks} ranks"
            results = runner.train(ranks, flags + ["--exchange-type=" + kind])
            got = support.losses(results)
            for a, b in zip(got, exact):
                support.expect_close(what, [a], [b], 0.01 * b)
            support.expect(f"{what}: the losses are{'' if got == exact else ' not'} those in fp32",
                           (got == exact) == (ranks == 1))
            support.expect(f"configuration: {results['configuration']}", kind in results["configuration"]["exchange"])
    print(f"{ranks} ranks: losses within 1 % of those in fp32")


def predictions(runner):
    flags = ["--arch-embedding-size=50000-50000", "--arch-sparse-feature-size=64", "--arch-mlp-bot=4-64",
             "--mini-batch-size=4096", "--num-batches=1", "--no-test-at-end", "--sharding=row-wise"]
    wide = exchange_of(runner.start(2, flags).stdout)
    narrow = exchange_of(runner.start(2, flags + ["--exchange-type=bf16"]).stdout)
    support.expect(f"predicted exchanges: {narrow} ms in bf16, {wide} ms in fp32",
                   len(wide) == 2 and all(0 < a < 0.7 * b for a, b in zip(narrow, wide)))
    print(f"predicted exchanges: {narrow} ms in bf16, {wide} ms in fp32")


def refusal(runner):
    done = runner.start(2, FLAGS + ["--exchange-type=int8"])
    support.expect(f"int8: {done.returncode}, {done.stderr}", done.returncode != 0 and "--exchange-type" in done.stderr
                   and "bf16" in done.stderr)


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    for ranks in map(int, args.ranks.split(",")):
        losses(runner, ranks)
    predictions(runner)
    refusal(runner)


support.run(main)
