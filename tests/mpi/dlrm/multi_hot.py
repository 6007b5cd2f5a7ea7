# SPDX-License-Identifier: BSD-3-Clause
"""Adult's ids as multi-hot bags: losses and test AUC do not depend on the number of ranks nor on the sharding, each rule
of bags has its own, bags of one index are none, and too little memory for the bags ends with the way out."""
import support

SIZES = "--num-indices-per-lookup-per-feature="
FLAGS = ["--preset=adult", "--nepochs=1", "--num-batches=24", "--print-freq=1"]
BAGS = FLAGS + [SIZES + "3-1-7-2-5-20-1-4-9-1-2-12-6-1-3-1-30"]
CASES = {
    "numpy": BAGS,
    "counter": BAGS + ["--multi-hot-rule=counter"],
    "row-wise": BAGS + ["--sharding=row-wise"],
    "rows named": BAGS + ["--arch-embedding-size=5-9-4-11-3-5-2-30-20-40-8-6-7-9-3-4-12"],
}


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    ranks = [int(count) for count in args.ranks.split(",")]
    first = {}
    for name, flags in CASES.items():
        for count in ranks:
            results = runner.train(count, flags)
            losses = support.losses(results)
            want = first.setdefault(name, (losses, results["test"]["auc"]))
            support.expect(f"{name}: {len(losses)} losses", len(losses) == 24)
            support.expect_close(f"{name} on {count} ranks", losses, want[0], 1e-5)
            support.expect_close(f"{name}: AUC on {count} ranks", [results["test"]["auc"]], [want[1]], 1e-4)
        print(f"{name}: losses to {first[name][0][-1]:.6f} and AUC {first[name][1]:.4f} agree")
    support.expect_close("row-wise", first["row-wise"][0], first["numpy"][0], 1e-5)
    support.expect("both rules have the same losses", first["counter"][0] != first["numpy"][0])
    single = support.losses(runner.train(1, FLAGS))
    support.expect("bags make no difference", single != first["numpy"][0])
    ones = support.losses(runner.train(ranks[-1], FLAGS + [SIZES + "-".join(["1"] * 17)]))
    support.expect_close("bags of one", ones, single, 1e-5)
    failed = runner.start(ranks[-1], BAGS + ["--multi-hot-memory=100"])
    support.expect(f"exit code {failed.returncode}", failed.returncode == 1)
    support.expect(failed.stderr, "--multi-hot-rule=counter" in failed.stderr)
    return 0


support.run(main)
