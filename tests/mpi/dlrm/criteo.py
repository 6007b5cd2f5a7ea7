# SPDX-License-Identifier: BSD-3-Clause
"""Losses and test accuracy on the head of Criteo's Kaggle data, which is not shipped: the reference's while no rounding
decides which way a ReLU goes (12 steps; see the note in golden_losses.json), those of exact arithmetic to the end.

In steps 10, 12 and 40 an input of a ReLU lies within 2.2e-7 of zero, so that rounding decides whether its gradient
passes. float64, and every implementation that adds in another order than the reference, therefore ends 1.3e-4 to 2.1e-4
away from its losses, and neither is wrong. REFERENCE_TOLERANCE allows for that and no more; the losses of exact
arithmetic are met a hundred times as closely."""
import json
import os

import support

REFERENCE_TOLERANCE = 2.5e-4


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
        losses = support.losses(results)
        support.expect_close(f"losses on {ranks} ranks", losses, golden["exact_losses"], tolerance)
        reference = golden["reference_losses"]
        support.expect_close(f"the reference's losses on {ranks} ranks", losses[:2], reference[:2], tolerance)
        support.expect_close(f"the reference's losses on {ranks} ranks", losses, reference, REFERENCE_TOLERANCE)
        accuracy = 100 * results["test"]["accuracy"]
        support.expect_close(f"accuracy on {ranks} ranks", [accuracy], [golden["accuracy_percent"]], 6e-4)
        print(f"{ranks} ranks: losses and accuracy {accuracy:.3f} % agree")
    return 0


support.run(main)
