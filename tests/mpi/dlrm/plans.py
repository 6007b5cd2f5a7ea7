# SPDX-License-Identifier: BSD-3-Clause
"""The golden losses under every sharding of the tables, with and without pipelining, and number formats near them."""
import json
import os
import random
import re

import support

PLANS = ["auto", "data-parallel", "table-wise", "row-wise", "column-wise", "row-wise-on-node --row-order=cyclic", "mixed"]
OPTIMIZED = ["--arch-embedding-size=50-7-200-31", "--arch-sparse-feature-size=16", "--arch-mlp-bot=5-16-16",
             "--arch-mlp-top=8-1", "--num-indices-per-lookup=6", "--loss-function=bce", "--round-targets",
             "--learning-rate=0.05", "--mini-batch-size=16", "--data-size=330", "--print-freq=3"]


def by_turns(all_of_them, turn):
    """One of them: more than two ranks are slow to start, and each turn meets another number of ranks."""
    first = turn % len(all_of_them)
    return all_of_them[first:first + 1]


def sharded(plan):
    return ("--sharding=" + plan).split()


def golden(runner, ranks):
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "golden_losses.json"), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    longest = sorted(cases, key=lambda case: -len(case["losses"]))[:3]
    kinds = list(zip(longest, (["--pipeline"], [], ["--pipeline"])))
    for number, plan in enumerate(PLANS):
        for case, more in kinds if ranks <= 2 else by_turns(kinds, number + ranks):
            flags = case["flags"].split() + ["--print-freq=1", *sharded(plan)] + more
            results = runner.train(ranks, flags)
            what = f"{case['name']}, {plan}{' pipelined' if more else ''} on {ranks} ranks"
            support.expect_close(what, support.losses(results), case["losses"], 1e-5)
        print(f"{plan} on {ranks} ranks: golden losses")


def optimizers(runner, ranks):
    for number, optimizer in enumerate(("sgd", "adagrad", "rwsadagrad", "adam")):
        plans = PLANS if ranks <= 2 else by_turns(["column-wise", "mixed"], number + ranks)
        flags = OPTIMIZED + ["--optimizer=" + optimizer]
        reference = support.losses(runner.train(1, flags + ["--sharding=table-wise"]))
        for plan in plans:
            got = support.losses(runner.train(ranks, flags + [*sharded(plan), "--pipeline"]))
            support.expect_close(f"{optimizer}, {plan} on {ranks} ranks", got, reference, 1e-5)
        print(f"{optimizer} on {ranks} ranks: {len(reference)} losses agree under {len(plans)} plans")


def formats(runner, ranks):
    reference = support.losses(runner.train(1, OPTIMIZED))[-1]
    plans = ["table-wise", "mixed"]
    for number, kind in enumerate(("bf16", "fp16", "int8")):
        for plan in plans if ranks <= 2 else by_turns(plans, number + ranks):
            loss = support.losses(runner.train(ranks, OPTIMIZED + ["--table-type=" + kind, *sharded(plan)]))[-1]
            support.expect(f"{kind}, {plan} on {ranks} ranks: loss {loss}, fp32's is {reference}",
                           abs(loss - reference) <= 0.01 * reference)
        print(f"{kind} rows on {ranks} ranks: loss within 1 % of fp32's")


def limit(runner, ranks):
    """A limit that one table alone exceeds divides it; one that cannot be met is an error that names the table."""
    flags = ["--arch-embedding-size=1000-10", "--arch-sparse-feature-size=4", "--arch-mlp-bot=4-4",
             "--num-batches=2"]
    runner.train(ranks, flags + [f"--memory-limit={1100 * 16 // ranks + 200}"])
    done = runner.start(ranks, flags + ["--memory-limit=1000"])
    support.expect(f"limit: exit code {done.returncode}\n{done.stderr}", done.returncode == 1)
    support.expect(f"limit: {done.stderr}", "memory_limit" in done.stderr and "'0'" in done.stderr)
    print("memory limit: " + done.stderr.strip().splitlines()[-1])


def allowed(load):
    """The error of a prediction: 5 %, and the chance of so few lookups."""
    return 0.05 * load + load ** 0.5


def skew(runner, ranks):
    """Nine of ten ids are among three; the plan says that the rank with their rows has most of the lookups, unless rows
    are dealt in cyclic order, and the batches are as predicted."""
    generator = random.Random(3)
    text = runner.path("skewed.txt")
    with open(text, "w", encoding="utf-8") as file:
        for _ in range(3000):
            ids = [generator.randrange(3 if generator.random() < 0.9 else 200) for _ in range(26)]
            file.write("\t".join(["1"] * 14 + [f"{i:08x}" for i in ids]) + "\n")
    flags = ["--data-generation=dataset", "--data-set=kaggle", "--raw-data-file=" + text, "--arch-sparse-feature-size=4",
             "--arch-mlp-bot=13-4", "--arch-mlp-top=4-1", "--mini-batch-size=128", "--max-steps=8", "--sharding=row-wise",
             "--print-freq=1", "--no-test-at-end"]
    losses = {}
    for order in ("blocks", "cyclic", "auto"):
        said = runner.start(ranks, flags + ["--row-order=" + order]).stdout
        losses[order] = re.findall(r"loss ([\d.]+)", said)
        lookups = [float(row.split()[3]) for row in re.findall(r"(?m)^ *\d+ +[\d.]+ [KMG]?B +\d.*", said)]
        loads = [list(map(float, row.split())) for row in re.findall(r"(?m)^  \d+(?: +\d+){4}$", said)]
        support.expect(f"lookups of {ranks} ranks in {order}: {lookups}\n{said}",
                       len(lookups) == ranks and (0.9 < lookups[0] / sum(lookups) < 0.97) == (order == "blocks"))
        mean = [sum(row[k] for row in loads) / ranks for k in range(5)]
        support.expect(f"loads of {ranks} ranks in {order}: {loads}\n{said}",
                       len(loads) == ranks and all(abs(row[k] - row[k + 1]) <= allowed(max(row[k], mean[k]))
                                                   for row in loads for k in (1, 3)))
    support.expect(f"losses of {ranks} ranks: {losses}", len(losses["blocks"]) == 8 and losses["blocks"] == losses["cyclic"] == losses["auto"])
    print(f"skewed ids on {ranks} ranks: lookups {lookups}")


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    for ranks in map(int, args.ranks.split(",")):
        golden(runner, ranks)
        optimizers(runner, ranks)
        formats(runner, ranks)
        limit(runner, ranks)
        skew(runner, ranks)


support.run(main)
