# SPDX-License-Identifier: BSD-3-Clause
"""Losses do not depend on the number of ranks: fewer tables than ranks, batches that ranks do not divide, fewer samples
than ranks, each optimizer, each loss. A large --eps holds all parameters."""
import support

MODEL = ["--arch-embedding-size=50-7-200", "--arch-sparse-feature-size=4", "--arch-mlp-bot=5-8-4",
         "--arch-mlp-top=8-1", "--num-indices-per-lookup=6", "--loss-function=bce", "--round-targets",
         "--learning-rate=0.1", "--print-freq=1"]
CASES = {
    "one table": ["--arch-embedding-size=50", "--mini-batch-size=7", "--data-size=30"],
    "batch 7": ["--mini-batch-size=7", "--data-size=45"],
    "batch 1": ["--mini-batch-size=1", "--data-size=5"],
    "last batch of 1": ["--mini-batch-size=8", "--data-size=17"],
    "adagrad": ["--optimizer=adagrad", "--mini-batch-size=9", "--data-size=40"],
    "rwsadagrad": ["--optimizer=rwsadagrad", "--mini-batch-size=9", "--data-size=40"],
    "warm-up and decay": ["--lr-num-warmup-steps=3", "--lr-decay-start-step=5", "--lr-num-decay-steps=4",
                          "--mini-batch-size=4", "--num-batches=12"],
    "mse": ["--loss-function=mse", "--mini-batch-size=6", "--data-size=20"],
    "wbce": ["--loss-function=wbce", "--loss-weights=0.3-1.7", "--mini-batch-size=6", "--data-size=20"],
    "threshold": ["--loss-threshold=0.01", "--mini-batch-size=6", "--data-size=20"],
    "gaussian": ["--rand-data-dist=gaussian", "--rand-data-max=6", "--mini-batch-size=6", "--data-size=20"],
    "prepared batches": ["--data-generation=bench", "--mini-batch-size=10", "--num-batches=6"],
    "fast weights": ["--init=fast", "--mini-batch-size=10", "--num-batches=6"],
    "cat, 2 epochs": ["--arch-interaction-op=cat", "--nepochs=2", "--mini-batch-size=6", "--data-size=20"],
}


def expect_held(runner, optimizer):
    """Four batches are used twice, so that only what was learnt could change their losses."""
    flags = MODEL + ["--data-generation=bench", "--mini-batch-size=10", "--num-batches=8", "--optimizer=" + optimizer]
    held = support.losses(runner.train(1, flags + ["--eps=1e30"]))
    support.expect(f"{optimizer}, --eps=1e30 learns: {held}", held[:4] == held[4:])
    learnt = support.losses(runner.train(1, flags))
    support.expect(f"{optimizer} learns nothing: {learnt}", learnt[:4] != learnt[4:] and learnt[0] == held[0])


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    for name, flags in CASES.items():
        reference = support.losses(runner.train(1, MODEL + flags))
        support.expect(f"{name}: no losses", reference)
        for ranks in map(int, args.ranks.split(",")):
            got = support.losses(runner.train(ranks, MODEL + flags))
            support.expect_close(f"{name} on {ranks} ranks", got, reference, 1e-5)
        print(f"{name}: {len(reference)} losses agree")
    for optimizer in ("adagrad", "rwsadagrad", "adam"):
        expect_held(runner, optimizer)


support.run(main)
