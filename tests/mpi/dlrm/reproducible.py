# SPDX-License-Identifier: BSD-3-Clause
"""--reproducible: losses and tests have the same bits on any number of ranks, under any plan that it allows, pipelined
or not, and where a run goes on on other ranks; what could change them is refused."""
import support

# Bags of several rows, blocks of unlike sizes, a last batch with fewer samples than blocks, odd shards of columns.
BAGS = ["--arch-embedding-size=50-7-200-31-90", "--arch-sparse-feature-size=16", "--arch-mlp-bot=5-24-16",
        "--arch-mlp-top=24-1", "--num-indices-per-lookup=6", "--loss-function=bce", "--round-targets",
        "--learning-rate=0.1", "--mini-batch-size=50", "--data-size=207", "--nepochs=3", "--print-freq=1"]
ADULT = ["--preset=adult", "--max-steps=40", "--print-freq=3", "--test-freq=15"]
CASES = {
    "bags, sgd": (BAGS, ["table-wise", "column-wise", "data-parallel"]),
    "bags, rwsadagrad": (BAGS + ["--optimizer=rwsadagrad"], ["table-wise", "data-parallel"]),
    "bags, adam": (BAGS + ["--optimizer=adam", "--learning-rate=0.01"], ["column-wise", "table-wise"]),
    "bags, dcn": (BAGS + ["--arch-interaction-op=dcn", "--dcn-num-layers=2", "--dcn-low-rank-dim=8"], ["table-wise"]),
    "Adult": (ADULT + ["--optimizer=adagrad"],
              ["mixed", "row-wise --row-order=cyclic", "row-wise-on-node", "auto", "row-wise --row-order=blocks"]),
}


def outcome(results):
    return support.losses(results), results.get("tests"), results.get("test")


def compare(runner, counts, name, flags, plans):
    flags = flags + ["--reproducible"]
    want = outcome(runner.train(1, flags))
    runs = 0
    for ranks in counts[1:]:
        # With few ranks all plans, with more of them by turns.
        chosen = plans if ranks == 2 else plans[ranks % len(plans)::3]
        for number, plan in enumerate(chosen):
            more = ["--pipeline"] if number % 2 == 0 else ["--prefetch=2"]
            got = outcome(runner.train(ranks, flags + ("--sharding=" + plan).split() + more))
            support.expect(f"{name}, {plan} on {ranks} ranks: {got}, expected {want}", got == want)
            runs += 1
    print(f"{name}: {len(want[0])} losses are the same bits in {runs} runs, tests {want[1] or want[2]}")
    return want


def plain_runs_differ(runner, counts, want):
    got = [outcome(runner.train(ranks, BAGS + ["--sharding=table-wise"])) for ranks in (1, counts[-1])]
    support.expect("runs without --reproducible have the same bits: the numbers of this test are too tame",
                   got[0] != got[1])
    blocks = outcome(runner.train(1, BAGS + ["--reproducible", "--blocks=8"]))
    support.expect("other blocks have the same bits", blocks != want)


def continued(runner, counts):
    """Saved between two printed losses, whose sum goes on."""
    folder = runner.path("checkpoints")
    flags = BAGS + ["--print-freq=4", "--reproducible", "--sharding=table-wise"]
    whole = runner.train(1, flags)
    runner.train(counts[-1], flags + ["--checkpoint-dir=" + folder, "--max-steps=7"])
    for ranks in counts[:-1]:
        rest = runner.train(ranks, flags + ["--load=" + folder])
        skipped = len(whole["losses"]) - len(rest["losses"])
        support.expect(f"continued on {ranks} ranks: {rest['losses']}, expected {whole['losses']}",
                       skipped > 0 and rest["losses"] == whole["losses"][skipped:])
    done = runner.start(1, flags + ["--load=" + folder, "--blocks=24"])
    support.expect(f"continued with other blocks: {done.stderr}", done.returncode == 1 and "blocks" in done.stderr)
    print("continued on other ranks: the same bits")


def refusals(runner):
    for flags, said in ((["--sharding=row-wise"], "use --sharding=table-wise"),
                        (["--sharding=column-wise", "--optimizer=rwsadagrad"], "or another optimizer"),
                        (["--sharding=table-wise", "--blocks=7"], "no multiple of the 2 ranks"),
                        (["--exchange-type=bf16"], "omit --device, --table-type, --exchange-type")):
        done = runner.start(2, BAGS + ["--reproducible"] + flags)
        support.expect(f"{flags}: exit code {done.returncode}, {done.stderr}", done.returncode != 0 and said in done.stderr)


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    counts = list(map(int, args.ranks.split(",")))
    wanted = {name: compare(runner, counts, name, *case) for name, case in CASES.items()}
    plain_runs_differ(runner, counts, wanted["bags, sgd"])
    continued(runner, counts)
    refusals(runner)


support.run(main)
