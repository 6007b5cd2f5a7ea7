# SPDX-License-Identifier: BSD-3-Clause
"""The cross network of DCNv2: losses do not depend on the number of ranks, and a saved run goes on the same."""
import support

MODEL = ["--arch-interaction-op=dcn", "--dcn-num-layers=2", "--dcn-low-rank-dim=3", "--arch-embedding-size=10-20-30",
         "--arch-sparse-feature-size=4", "--arch-mlp-bot=5-8-4", "--arch-mlp-top=4-1", "--mini-batch-size=8",
         "--data-size=85", "--num-indices-per-lookup=3", "--loss-function=bce", "--round-targets",
         "--learning-rate=0.1", "--no-test-at-end"]


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    folder = runner.path("checkpoint")
    for optimizer in ("sgd", "adagrad"):
        flags = MODEL + ["--optimizer=" + optimizer]
        first = None
        for ranks in map(int, args.ranks.split(",")):
            losses = support.losses(runner.train(ranks, flags))
            first = first or losses
            support.expect_close(f"{optimizer} on {ranks} ranks", losses, first, 1e-5)
            runner.train(ranks, flags + ["--max-steps=4", "--checkpoint-dir=" + folder])
            rest = support.losses(runner.train(ranks, flags + ["--load=" + folder]))
            support.expect_close(f"{optimizer} restarted on {ranks} ranks", rest, first[4:], 1e-5)
        learnt = support.losses(runner.train(1, flags + ["--data-size=8", "--nepochs=150"]))
        support.expect(f"{optimizer}: eight samples are not learnt: {learnt[0]} {learnt[-1]}", learnt[-1] < learnt[0] / 2)
    dot = support.losses(runner.train(1, MODEL + ["--arch-interaction-op=cat"]))
    support.expect("a cross network changes nothing", abs(dot[3] - first[3]) > 1e-3)


support.run(main)
