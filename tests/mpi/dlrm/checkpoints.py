# SPDX-License-Identifier: BSD-3-Clause
"""What is saved and what may go on: never a state that is not a number, the last few, the same run; a goal ends it."""
import filecmp
import os

import support

MODEL = ["--arch-embedding-size=50-7-31", "--arch-sparse-feature-size=4", "--arch-mlp-bot=5-8-4", "--arch-mlp-top=8-1",
         "--num-indices-per-lookup=3", "--loss-function=bce", "--round-targets", "--learning-rate=0.1",
         "--mini-batch-size=8", "--data-size=160", "--print-freq=5"]


def steps_in(folder):
    return sorted(name for name in os.listdir(folder) if name.startswith("step-"))


def diverged(runner, ranks):
    folder = runner.path("good")
    good = runner.train(ranks, MODEL + ["--checkpoint-dir=" + folder])
    support.expect("20 steps", good["losses"][-1]["iteration"] == 20)
    files = {name: os.path.getmtime(os.path.join(folder, name)) for name in os.listdir(folder)}
    for more in ([], ["--pipeline", "--async-save"]):
        bad = MODEL + ["--load=" + folder, "--fine-tune", "--checkpoint-dir=" + folder, "--learning-rate=1e38",
                       "--save-freq=4"] + more
        done = runner.start(ranks, bad)
        support.expect(f"a diverged run ends: {done.stderr}", done.returncode == 1)
        support.expect(f"it says why: {done.stderr}", "not a number after step" in done.stderr and
                       "--learning-rate" in done.stderr and "--no-stop-on-nan" in done.stderr)
        now = {name: os.path.getmtime(os.path.join(folder, name)) for name in os.listdir(folder)}
        support.expect("the good checkpoint was replaced", now == files)
        done = runner.start(ranks, bad + ["--no-stop-on-nan"])
        support.expect(f"it goes on where asked to: {done.stderr}", done.returncode == 0)
        support.expect(f"it says that nothing was saved: {done.stdout}", "Nothing saved at step 20" in done.stdout)
        now = {name: os.path.getmtime(os.path.join(folder, name)) for name in os.listdir(folder)}
        support.expect("the good checkpoint was replaced later", now == files)


def diverged_rows(runner, ranks):
    """Rows of 16 bits overflow although the dense parameters do not."""
    folder = runner.path("rows")
    bad = MODEL + ["--checkpoint-dir=" + folder, "--table-type=fp16", "--learning-rate=1e10", "--max-steps=1",
                   "--keep-checkpoints=2"]
    for more in ([], ["--async-save"]):
        done = runner.start(ranks, bad + ["--no-stop-on-nan"] + more)
        support.expect(f"nothing is saved: {done.stdout} {done.stderr}", done.returncode == 0 and
                       "Nothing saved at step 1" in done.stdout)
        support.expect(f"nothing is left: {os.listdir(folder)}", not os.listdir(folder))
    done = runner.start(ranks, bad + ["--async-save"])
    support.expect(f"a rank's rows end the run on all: {done.stderr}", done.returncode == 1 and
                   "not a number after step 1" in done.stderr)


def beside_training(runner, ranks):
    """The same files as of saves that training waits for."""
    folders = [runner.path("alone"), runner.path("beside")]
    for folder, more in zip(folders, ([], ["--async-save"])):
        runner.train(ranks, MODEL + ["--checkpoint-dir=" + folder, "--save-freq=6", "--keep-checkpoints=9",
                                     "--optimizer=adagrad"] + more)
    steps = [f"step-{step:010d}" for step in (6, 12, 18, 20)]
    support.expect(f"all steps: {steps_in(folders[1])}", steps_in(folders[1]) == steps)
    for step in steps:
        names = os.listdir(os.path.join(folders[0], step))
        support.expect(f"parts of {step}", len(names) == ranks + 1)
        same = filecmp.cmpfiles(*(os.path.join(folder, step) for folder in folders), names, shallow=False)[0]
        support.expect(f"equal files of {step}: {same}", sorted(same) == sorted(names))


def increments(runner, ranks):
    """A run that goes on from increments has the losses of one that was never stopped, on other ranks, too."""
    model = [flag for flag in MODEL if "embedding-size" not in flag] + ["--arch-embedding-size=3000-2000-31"]
    whole = runner.train(ranks, model + ["--print-freq=1", "--optimizer=adagrad"])
    for more in ([], ["--async-save"]):
        folder = runner.path("increments" + "".join(more))
        save = model + ["--checkpoint-dir=" + folder, "--save-freq=4", "--incremental-save", "--optimizer=adagrad",
                        "--print-freq=1"]
        done = runner.start(ranks, save + ["--max-steps=14"] + more)
        lines = [line for line in done.stdout.splitlines() if line.startswith("Saved step ")]
        support.expect(f"four saves: {done.stdout} {done.stderr}",
                       [int(line.split()[2][:-1]) for line in lines] == [4, 8, 12, 14])
        support.expect(f"the first is full, others are not: {lines}",
                       [line.endswith("since the last save") for line in lines] == [False, True, True, True])
        written = [float(line.split()[3]) for line in lines]
        support.expect(f"increments are small: {lines}", all(10 * size < written[0] for size in written[1:]))
        support.expect("files of four saves", len(os.listdir(folder)) == 4 * ranks + 1)
        rest = runner.train(3 - ranks if ranks < 3 else 2, model + ["--load=" + folder, "--print-freq=1",
                                                                    "--optimizer=adagrad"])
        support.expect_close("losses after increments", support.losses(rest), support.losses(whole)[14:], 1e-5)
        done = runner.start(ranks, save + ["--load=" + folder, "--max-steps=15"])
        support.expect(f"the first of a run is full: {done.stdout}", "since the last" not in done.stdout)
        support.expect("files of one save", len(os.listdir(folder)) == ranks + 1)


def last_few(runner, ranks):
    folder = runner.path("few")
    keep = MODEL + ["--checkpoint-dir=" + folder, "--save-freq=4", "--keep-checkpoints=3",
                    "--print-freq=1"]
    runner.train(ranks, keep + ["--max-steps=17"])
    want = [f"step-{step:010d}" for step in (12, 16, 17)]
    support.expect(f"the last three: {steps_in(folder)}", steps_in(folder) == want)
    whole = runner.train(ranks, MODEL + ["--print-freq=1"])
    for name, step in ((folder, 17), (os.path.join(folder, want[0]), 12)):
        rest = runner.train(ranks, MODEL + ["--load=" + name, "--print-freq=1"])
        support.expect_close(f"losses after {name}", support.losses(rest), support.losses(whole)[step:], 0)
    # From an earlier one: what the given-up run saved later is removed.
    runner.train(ranks, keep + ["--load=" + os.path.join(folder, want[0]), "--max-steps=14"])
    support.expect(f"of one run: {steps_in(folder)}", steps_in(folder) == ["step-0000000012", "step-0000000014"])
    runner.train(ranks, MODEL + ["--checkpoint-dir=" + folder])
    support.expect(f"one alone: {os.listdir(folder)}", not steps_in(folder) and "manifest" in os.listdir(folder))
    runner.train(ranks, keep + ["--load=" + folder, "--fine-tune", "--max-steps=8"])
    support.expect(f"and again several: {os.listdir(folder)}", len(steps_in(folder)) == 2)


def same_run(runner, ranks):
    folder = runner.path("same")
    runner.train(ranks, MODEL + ["--checkpoint-dir=" + folder, "--max-steps=7"])
    for flag, word in (("--numpy-rand-seed=5", "numpy_rand_seed"), ("--loss-function=mse", "loss_function"),
                       ("--loss-threshold=0.1", "loss_threshold"), ("--data-size=168", "training samples"),
                       ("--mini-batch-size=16", "mini_batch_size")):
        done = runner.start(ranks, MODEL + ["--load=" + folder, flag])
        support.expect(f"{flag} is refused: {done.stdout}", done.returncode == 1)
        support.expect(f"{flag} is named: {done.stderr}", word in done.stderr and "--fine-tune" in done.stderr)
        anew = runner.train(ranks, MODEL + ["--load=" + folder, "--fine-tune", flag, "--print-freq=1"])
        support.expect(f"{flag} begins anew", anew["losses"][0]["iteration"] == 1)
    adult = ["--preset=adult", "--nepochs=1", "--num-batches=20"]
    runner.train(ranks, adult + ["--checkpoint-dir=" + runner.path("adult"), "--max-steps=7"])
    done = runner.start(ranks, adult + ["--load=" + runner.path("adult"), "--data-randomize=none"])
    support.expect(f"another order is refused: {done.stderr}", done.returncode == 1 and "data_randomize" in done.stderr)


def goal(runner, ranks):
    flags = ["--preset=adult", "--test-freq=30", "--nepochs=1", "--print-freq=30"]
    whole = runner.train(ranks, flags + ["--mlperf-auc-threshold=0.999"])
    support.expect("a goal out of reach", whole["losses"][-1]["iteration"] == 128)
    for pipeline in ([], ["--pipeline"]):
        done = runner.train(ranks, flags + ["--mlperf-auc-threshold=0.7"] + pipeline)
        support.expect(f"ends at the first test: {done['losses'][-1]}", done["losses"][-1]["iteration"] == 30)
        support.expect(f"with its result: {done['test']}", done["test"]["auc"] >= 0.7)


def main():
    args = support.arguments(__doc__)
    for ranks in map(int, args.ranks.split(",")):
        runner = support.Runner(args)
        for check in (diverged, diverged_rows, beside_training, increments, last_few, same_run, goal):
            check(runner, ranks)
            print(f"{ranks} ranks: {check.__name__} holds")


support.run(main)
