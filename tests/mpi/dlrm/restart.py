# SPDX-License-Identifier: BSD-3-Clause
"""A run that is stopped and goes on, also on other numbers of ranks, ends as the uninterrupted one; damage is noticed."""
import os

import support

MODEL = ["--arch-embedding-size=50-7-200-31", "--arch-sparse-feature-size=4", "--arch-mlp-bot=5-8-4",
         "--arch-mlp-top=8-1", "--num-indices-per-lookup=6", "--loss-function=bce", "--round-targets",
         "--learning-rate=0.1", "--mini-batch-size=8", "--data-size=75", "--nepochs=2", "--print-freq=1"]


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    counts = list(map(int, args.ranks.split(",")))
    for optimizer in ("sgd", "adagrad", "rwsadagrad"):
        flags = MODEL + ["--optimizer=" + optimizer]
        whole = runner.train(counts[0], flags)
        folder = runner.path("checkpoints-" + optimizer)
        runner.train(counts[0], flags + ["--checkpoint-dir=" + folder, "--save-freq=13", "--max-steps=13"])
        for ranks in counts:
            rest = runner.train(ranks, flags + ["--load=" + folder])
            want = support.losses(whole)[13:]
            support.expect_close(f"{optimizer}: losses after restart on {ranks} ranks", support.losses(rest), want,
                                 0 if ranks == counts[0] else 1e-5)
        print(f"{optimizer}: restart on {counts} ranks agrees")
    damage(runner, flags, folder)


def damage(runner, flags, path):
    """Turns one byte in the middle of the largest file of a checkpoint."""
    files = [os.path.join(path, name) for name in os.listdir(path)]
    largest = max(files, key=os.path.getsize)
    with open(largest, "r+b") as file:
        file.seek(os.path.getsize(largest) // 2)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x40]))
    done = runner.start(2, flags + ["--load=" + path])
    support.expect(f"damage was not noticed: {done.stdout}", done.returncode == 1)
    support.expect(f"damage is not named: {done.stderr}", "checksum" in done.stderr)
    print("damage: " + done.stderr.strip().splitlines()[-1])


support.run(main)
