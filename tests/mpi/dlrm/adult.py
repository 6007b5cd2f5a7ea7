# SPDX-License-Identifier: BSD-3-Clause
"""The Adult data that ships with Tutti: the test AUC after a short training agrees on every number of ranks."""
import support


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    first = None
    for ranks in map(int, args.ranks.split(",")):
        results = runner.train(ranks, ["--preset=adult", "--nepochs=1", "--num-batches=60"])
        auc = results["test"]["auc"]
        print(f"{ranks} ranks: test AUC {auc:.6f}")
        support.expect(f"AUC {auc} on {ranks} ranks is no better than a guess", auc > 0.8)
        first = auc if first is None else first
        support.expect_close(f"AUC on {ranks} ranks", [auc], [first], 5e-4)


support.run(main)
