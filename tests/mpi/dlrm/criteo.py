# SPDX-License-Identifier: BSD-3-Clause
"""The losses and the test accuracy of the reference on the head of Criteo's Kaggle data, which is not shipped."""
import json
import os

import support


def main():
    args = support.arguments(__doc__)
    text = os.path.join(args.data, "criteo", "train.txt")
    if not os.path.exists(text):
        print(f"SKIPPED: no {text}")
        return support.SKIPPED
    runner = support.Runner(args)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "golden_losses.json"), encoding="utf-8") as file:
        golden = json.load(file)["criteo"]
    for ranks in map(int, args.ranks.split(",")):
        results = runner.train(ranks, golden["flags"].split() + ["--raw-data-file=" + text])
        tolerance = 2e-6 if ranks == 1 else 1e-5
        support.expect_close(f"losses on {ranks} ranks", support.losses(results), golden["losses"], tolerance)
        accuracy = 100 * results["test"]["accuracy"]
        support.expect_close(f"accuracy on {ranks} ranks", [accuracy], [golden["accuracy_percent"]], 6e-4)
        print(f"{ranks} ranks: losses and accuracy {accuracy:.3f} % agree")
    return 0


support.run(main)
