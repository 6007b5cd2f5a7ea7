# SPDX-License-Identifier: BSD-3-Clause
"""Batches that a thread reads ahead give the bits of batches read in the step: over epochs, with tests in between, when
a run is continued, and for a file whose records do not fit the tables."""
import struct

import support

RANDOM = ["--arch-embedding-size=50-7-200-31", "--arch-sparse-feature-size=4", "--arch-mlp-bot=5-8-4",
          "--arch-mlp-top=8-1", "--num-indices-per-lookup=6", "--mini-batch-size=8", "--data-size=75", "--nepochs=3"]
CRITEO = ["--arch-sparse-feature-size=4", "--arch-mlp-bot=13-4", "--arch-mlp-top=8-1", "--mini-batch-size=4",
          "--data-generation=dataset", "--data-set=kaggle", "--nepochs=2", "--test-freq=3"]


def both(runner, ranks, what, flags):
    """The results without a thread; those with one must be the same."""
    in_step = runner.train(ranks, flags + ["--print-freq=1", "--prefetch=0"])
    for ahead in (1, 2, 9):
        results = runner.train(ranks, flags + ["--print-freq=1", f"--prefetch={ahead}"])
        same = support.losses(results) == support.losses(in_step) and results.get("test") == in_step.get("test")
        support.expect(f"{what} on {ranks} ranks: {ahead} batches ahead change the results", same)
    print(f"{what} on {ranks} ranks: {len(in_step['losses'])} losses are the same bits")
    return in_step


def write_criteo(runner, name, samples):
    def line(i):
        words = [f"{i * 7919 + column * 104729 & 0xff:08x}" for column in range(26)]
        return "\t".join([str(i % 3 % 2)] + [str((i * j) % 50) for j in range(13)] + words)

    with open(runner.path(name), "w", encoding="utf-8") as file:
        file.write("".join(line(i) + "\n" for i in range(samples)))
    return runner.path(name)


def write_binary(runner, name, samples, bad):
    """Category 9 of the sample `bad` does not fit tables of 5 rows."""
    rows = [[1] + [3] * 13 + [i % 5] * 26 for i in range(samples)]
    rows[bad][14 + 2] = 9
    for part in ("train", "test"):
        with open(runner.path(f"{name}_{part}.bin"), "wb") as file:
            file.write(b"".join(struct.pack("<40i", *row) for row in rows))
    return runner.path(name)


def continued(runner, ranks):
    folder = runner.path("checkpoints")
    whole = runner.train(ranks, RANDOM + ["--print-freq=1", "--prefetch=0"])
    runner.train(ranks, RANDOM + ["--checkpoint-dir=" + folder, "--max-steps=13", "--prefetch=3"])
    for ahead in (0, 2):
        rest = runner.train(ranks, RANDOM + ["--print-freq=1", "--load=" + folder, f"--prefetch={ahead}"])
        support.expect(f"continued with {ahead} batches ahead", support.losses(rest) == support.losses(whole)[13:])
    print("continued: the same bits")


def failure(runner, ranks):
    files = write_binary(runner, "bad", 40, 25)
    rows = "--arch-embedding-size=" + "-".join(["5"] * 26)
    lines = set()
    for ahead in (0, 2):
        flags = CRITEO + ["--processed-data-file=" + files, rows, f"--prefetch={ahead}"]
        done = runner.start(ranks, flags, timeout=30)
        support.expect(f"exit code {done.returncode}: {done.stderr}", done.returncode == 1)
        lines.update(line for line in done.stderr.splitlines() if line.startswith("tutti-dlrm:"))
    support.expect(f"the errors differ: {lines}", len(lines) == 1)
    print(f"failure: {lines.pop()}")


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    text = write_criteo(runner, "train.txt", 90)
    for ranks in map(int, args.ranks.split(",")):
        both(runner, ranks, "random data", RANDOM)
        both(runner, ranks, "pipelined", RANDOM + ["--pipeline"])
        both(runner, ranks, "gaussian data", RANDOM + ["--rand-data-dist=gaussian", "--rand-data-max=6"])
        both(runner, ranks, "Criteo text", CRITEO + ["--raw-data-file=" + text, "--data-randomize=total"])
        both(runner, ranks, "Adult", ["--preset=adult", "--nepochs=2", "--num-batches=12", "--test-freq=7"])
        continued(runner, ranks)
        failure(runner, ranks)


support.run(main)
