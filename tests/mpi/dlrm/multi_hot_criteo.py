# SPDX-License-Identifier: BSD-3-Clause
"""The preset mlperf-v2 on the head of Criteo's Kaggle data, which is not shipped: DCNv2 and bags of MLPerf's sizes on
real rows; losses do not depend on the number of ranks. Adagrad's first steps go by the sign of each gradient, whatever its
size, so the learning rate is small: else the losses would show which way tiny gradients were rounded."""
import os

import support


def main():
    args = support.arguments(__doc__)
    text = os.path.join(args.data, "criteo", "train.txt")
    if not os.path.exists(text):
        print(f"SKIPPED: no {text}")
        return support.SKIPPED
    runner = support.Runner(args)
    flags = ["--preset=mlperf-v2", "--data-generation=dataset", "--raw-data-file=" + text, "--mini-batch-size=64",
             "--num-batches=6", "--print-freq=1", "--learning-rate=0.0001"]
    first = None
    for ranks in map(int, args.ranks.split(",")):
        results = runner.train(ranks, flags, timeout=150)
        losses = support.losses(results)
        first = first or losses
        support.expect(f"{len(losses)} losses", len(losses) == 6)
        support.expect_close(f"losses on {ranks} ranks", losses, first, 1e-5)
        print(f"{ranks} ranks: losses {losses}, test AUC {results['test']['auc']:.4f}")
    return 0


support.run(main)
