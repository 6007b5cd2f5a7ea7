# SPDX-License-Identifier: BSD-3-Clause
"""The losses of every golden case, on each of the given numbers of ranks."""
import json
import os

import support


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "golden_losses.json"), encoding="utf-8") as file:
        golden = json.load(file)
    for ranks in map(int, args.ranks.split(",")):
        tolerance = 2e-6 if ranks == 1 else 1e-5
        for case in golden["cases"]:
            results = runner.train(ranks, case["flags"].split() + ["--print-freq=1"])
            support.expect_close(f"{case['name']} on {ranks} ranks", support.losses(results), case["losses"], tolerance)
            print(f"{case['name']} on {ranks} ranks: {len(case['losses'])} losses agree")


support.run(main)
