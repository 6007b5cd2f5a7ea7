# SPDX-License-Identifier: BSD-3-Clause
"""Files of Parquet are trained as they are: the losses of binary files of the same samples, in file order and
interleaved, bags of any length too, on any number of ranks, each of which reads row groups of its own."""
import os
import subprocess
import sys

import support

TOLERANCE = 1e-6
MODEL = ["--arch-sparse-feature-size=4", "--arch-mlp-bot=13-8-4", "--arch-mlp-top=8-1", "--loss-function=bce",
         "--mini-batch-size=47", "--test-mini-batch-size=100", "--nepochs=2", "--learning-rate=0.1", "--print-freq=1"]
BAGS = [flag.replace("13-8-4", "3-8-4") for flag in MODEL]


def make(runner, name, *flags):
    """Data of tutti-data, which lies beside tutti-dlrm."""
    tool = os.path.join(os.path.dirname(runner.program), "tutti-data")
    done = subprocess.run([tool, "generate", "-o", runner.path(name), "--part-samples", "130", "--days", "3", *flags],
                          capture_output=True, text=True, timeout=100)
    if "TUTTI_PYARROW" in done.stderr:
        print("SKIPPED: this build has no Parquet")
        sys.exit(support.SKIPPED)
    support.expect(f"{name}: {done.stdout}{done.stderr}", done.returncode == 0)
    return runner.path(name)


def outcome(results):
    return support.losses(results), [results["test"][key] for key in ("log_loss", "auc", "samples")]


def expect_same(what, got, want):
    for one, other in zip(got, want):
        support.expect_close(what, one, other, TOLERANCE)


def without_sidecar(runner, folder, name):
    os.mkdir(runner.path(name))
    for file in os.listdir(folder):
        if file.endswith(".parquet"):
            os.link(os.path.join(folder, file), os.path.join(runner.path(name), file))
    return runner.path(name)


def refused(runner, flags, words):
    done = runner.start(2, MODEL + flags)
    lines = [line for line in done.stderr.splitlines() if line.startswith("tutti-dlrm: ")]
    support.expect(f"{flags}: '{words}' in {done.stdout}{done.stderr}", done.returncode == 1 and len(lines) == 1 and
                   words in lines[0] and len(lines[0].replace(runner.folder.name, "")) <= 300)


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    os.environ["TUTTI_CACHE_DIR"] = runner.path("cache")
    shape = ["--samples", "1500", "--rows", "30"]
    folder = make(runner, "pq", "--format", "parquet", *shape)
    binary = make(runner, "bin", *shape)
    bags = ["--samples", "1200", "--rows", "60-70-80", "--hotness", "4-1-3", "--dense-features", "3", "--ragged"]
    ragged = make(runner, "ragged", "--format", "npy", *bags)
    lists = make(runner, "lists", "--format", "parquet", *bags)
    plain = without_sidecar(runner, folder, "plain")
    alone = {}
    for ranks in map(int, args.ranks.split(",")):
        for order in ("none", "interleaved"):
            order = "--data-randomize=" + order
            want = outcome(runner.train(ranks, MODEL + ["--data=" + binary, order]))
            for data in (folder, plain):
                expect_same(f"{ranks} ranks, {order}, {data}", outcome(runner.train(ranks, MODEL + ["--data=" + data, order])), want)
            expect_same(f"{ranks} ranks against 1, {order}", want, alone.setdefault(order, want))
            want = outcome(runner.train(ranks, BAGS + ["--data=" + ragged, order]))
            expect_same(f"{ranks} ranks, bags, {order}", outcome(runner.train(ranks, BAGS + ["--data=" + lists, order])), want)
        expect_same(f"{ranks} ranks, --max-ind-range", outcome(runner.train(ranks, MODEL + ["--data=" + folder, "--max-ind-range=50"])),
                    outcome(runner.train(ranks, MODEL + ["--data=" + binary, "--max-ind-range=50"])))
        expect_same(f"{ranks} ranks, one file", outcome(runner.train(ranks, MODEL + [
            f"--data={folder}/day_0_00000.parquet", "--label=label", "--dense-columns=int_*", "--sparse-columns=cat_*"])),
                    alone.setdefault("file", outcome(runner.train(ranks, MODEL + [f"--data={folder}/day_0_00000.parquet"]))))
    support.expect("orders differ", alone["--data-randomize=none"] != alone["--data-randomize=interleaved"])
    refused(runner, ["--data=" + folder, "--data-randomize=epoch"], "tutti-data convert")
    refused(runner, ["--data=" + folder, "--label=y"], "no column 'y'")
    refused(runner, ["--data=" + folder, "--sparse-columns=int_0,cat_9"], "its sidecar")
    with open(os.path.join(plain, "day_1_00001.parquet"), "rb") as file:
        content = file.read()
    os.remove(os.path.join(plain, "day_1_00001.parquet"))
    with open(os.path.join(plain, "day_1_00001.parquet"), "wb") as file:
        file.write(content[:-50])
    refused(runner, ["--data=" + plain], "day_1_00001.parquet: is damaged")


support.run(main)
