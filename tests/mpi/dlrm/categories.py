# SPDX-License-Identifier: BSD-3-Clause
"""A model keeps the meaning of its categories: the samples in another order, new files with new ids, more training."""
import random

import support

MODEL = ["--arch-sparse-feature-size=8", "--arch-mlp-bot=13-16-8", "--arch-mlp-top=16-1", "--loss-function=bce",
         "--arch-interaction-op=cat",
         "--data-generation=dataset", "--data-set=kaggle", "--data-randomize=none", "--mini-batch-size=32",
         "--optimizer=adagrad", "--learning-rate=0.1", "--print-freq=100"]
VALUES = 40


def line(generator, first=0):
    """The label is a bit of the id in column 3; nothing else tells of it."""
    ids = [generator.randrange(VALUES) + first for _ in range(26)]
    label = ids[3] * 7 % 5 % 2
    dense = [str(generator.randrange(9)) for _ in range(13)]
    return "\t".join([str(label)] + dense + [f"{i * 2654435761 % (1 << 32):08x}" for i in ids]) + "\n"


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(lines)
    return path


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    generator = random.Random(5)
    lines = [line(generator) for _ in range(2000)]
    shuffled = lines[:]
    generator.shuffle(shuffled)
    # Half of the ids have not been seen in training, so half of the labels cannot be known.
    strangers = [line(generator, VALUES // 2) for _ in range(1000)]
    text = write(runner.path("train.txt"), lines)
    mixed = write(runner.path("mixed.txt"), shuffled)
    new = write(runner.path("new.txt"), strangers)
    few = write(runner.path("few.txt"), [one for one in lines if one[0] == "0"][:3] +
                [one for one in lines if one[0] == "1"][:3])
    for ranks in map(int, args.ranks.split(",")):
        folder = runner.path(f"model-{ranks}")
        trained = runner.train(ranks, MODEL + ["--raw-data-file=" + text, "--nepochs=8", "--checkpoint-dir=" + folder])
        support.expect(f"it learns: {trained['test']}", trained["test"]["auc"] > 0.97)
        load = MODEL + ["--load=" + folder, "--inference-only"]
        for what, flags in (("the last seventh in another order", ["--raw-data-file=" + mixed]),
                            ("all samples in another order", ["--test-data-file=" + mixed]),
                            ("another batch size", ["--test-data-file=" + mixed, "--mini-batch-size=100"]),
                            ("few lines", ["--test-data-file=" + few])):
            auc = runner.train(ranks, load + flags)["test"]["auc"]
            support.expect(f"{ranks} ranks, {what}: AUC {auc}", auc > 0.97)
        samples = runner.train(ranks, load + ["--test-data-file=" + mixed])["test"]["samples"]
        support.expect(f"all samples are tested: {samples}", samples == 2000)
        auc = runner.train(ranks, load + ["--test-data-file=" + new])["test"]["auc"]
        support.expect(f"{ranks} ranks, ids of which half are new: AUC {auc}", 0.6 < auc < 0.95)
        # Training goes on with the new ids and does not forget the old ones.
        more = runner.path(f"more-{ranks}")
        runner.train(ranks, MODEL + ["--load=" + folder, "--fine-tune", "--raw-data-file=" + new, "--nepochs=8",
                                     "--checkpoint-dir=" + more])
        load = MODEL + ["--load=" + more, "--inference-only"]
        for what, file in (("new", new), ("old", mixed)):
            auc = runner.train(ranks, load + ["--test-data-file=" + file])["test"]["auc"]
            support.expect(f"{ranks} ranks, {what} ids after more training: AUC {auc}", auc > 0.97)
        done = runner.start(ranks, load + ["--test-data-file=" + new, "--max-ind-range=7"])
        support.expect(f"another range is refused: {done.stderr}",
                       done.returncode == 1 and "--max-ind-range=-1" in done.stderr)
        print(f"{ranks} ranks: ids keep their rows")


support.run(main)
