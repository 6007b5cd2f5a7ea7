# SPDX-License-Identifier: BSD-3-Clause
"""--inference-only predicts what the test after training predicted, and times every batch."""
import support


def check_times(what, found):
    support.expect(f"{what}: {found}", 0 < found["p50_ms"] <= found["p95_ms"] <= found["p99_ms"])
    rate = 1e3 * found["samples"] / (found["batches"] * found["mean_ms"])
    support.expect(f"{what}: rate {found}", abs(rate / found["samples_per_second"] - 1) < 1e-6)


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    folder = runner.path("checkpoint")
    counts = list(map(int, args.ranks.split(",")))
    adult = ["--preset=adult", "--nepochs=1"]
    trained = runner.train(counts[-1], adult + ["--num-batches=60", "--checkpoint-dir=" + folder])["test"]
    for ranks in counts:
        results = runner.train(ranks, adult + ["--inference-only", "--load=" + folder])
        support.expect("training in a run that only predicts", results["losses"] == [])
        for key in ("auc", "accuracy", "log_loss"):
            support.expect_close(f"{key} on {ranks} ranks", [results["test"][key]], [trained[key]], 1e-6)
        check_times(f"adult on {ranks} ranks", results["inference"])
        bench = ["--data-generation=bench", "--num-batches=12", "--mini-batch-size=64", "--inference-only",
                 "--arch-embedding-size=50-90", "--num-indices-per-lookup-per-feature=2-5"]
        found = runner.train(ranks, bench)["inference"]
        support.expect(f"batches of {found}", found["batches"] == 9 and found["samples"] == 9 * 64)
        check_times(f"bench on {ranks} ranks", found)


support.run(main)
