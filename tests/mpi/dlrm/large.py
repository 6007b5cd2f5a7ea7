# SPDX-License-Identifier: BSD-3-Clause
"""Tables in files, of which memory has some rows, train to the bits of tables in memory: with every optimizer and type of
rows, pipelined, continued from a checkpoint of either, saved while training goes on; folders without room are refused."""
import os
import resource

import support

MODEL = ["--arch-embedding-size=5000-7-3000-31", "--arch-sparse-feature-size=16", "--arch-mlp-bot=5-8-16",
         "--arch-mlp-top=8-1", "--num-indices-per-lookup=6", "--mini-batch-size=8", "--data-size=160", "--print-freq=1",
         "--sharding=mixed", "--learning-rate=0.05"]


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    disk = ["--table-memory=40000", "--table-folder=" + runner.folder.name]

    def losses(ranks, flags):
        return support.losses(runner.train(ranks, MODEL + flags))

    for ranks in map(int, args.ranks.split(",")):
        for flags in (["--optimizer=rwsadagrad"], ["--optimizer=adagrad", "--table-type=bf16"],
                      ["--optimizer=adam", "--pipeline"], ["--table-type=int8", "--sharding=column-wise"]):
            expected = losses(ranks, flags)
            support.expect(f"{ranks} ranks, {flags}: other bits on disk", losses(ranks, flags + disk) == expected)
            support.expect("losses", len(expected) == 20 and len(set(expected)) == 20)
        folder = runner.path("checkpoint")
        adam = ["--optimizer=adam"]
        whole = losses(ranks, adam)
        for first, then in ((disk, []), ([], disk), (disk + ["--async-save", "--save-freq=4"], disk)):
            losses(ranks, adam + first + ["--max-steps=9", "--checkpoint-dir=" + folder])
            support.expect("continued", losses(ranks, adam + then + ["--load=" + folder]) == whole[9:])
        support.expect(f"files are left: {os.listdir(runner.folder.name)}",
                       not any(name.startswith(".rows") for name in os.listdir(runner.folder.name)))
        refused(runner, ranks, ["--table-memory=40000"], "--table-folder", "go together")
        refused(runner, ranks, ["--table-memory=40000", "--table-folder=/nonexistent"], "/nonexistent", "bytes of rows")
        refused(runner, ranks, ["--table-memory=100", "--table-folder=" + runner.folder.name], "table_memory is 100",
                "max_batch = 8")
        print(f"{ranks} ranks: the same bits")
    limits(runner)


def refused(runner, ranks, flags, *words):
    done = runner.start(ranks, MODEL + flags)
    lines = [line for line in done.stderr.splitlines() if line.startswith("tutti-dlrm:")]
    support.expect(f"{flags}: code {done.returncode}: {done.stderr}",
                   done.returncode == 1 and len(lines) == 1 and all(word in lines[0] for word in words))


def limits(runner):
    """What a limit of the process or of Slurm leaves is seen before the tables are made, and disk is the remedy."""
    large = ["--arch-embedding-size=400000000", "--arch-sparse-feature-size=16", "--arch-mlp-bot=5-16",
             "--arch-mlp-top=8-1", "--init=fast", "--data-size=8", "--mini-batch-size=8"]
    os.environ["SLURM_MEM_PER_NODE"] = "100"
    refused(runner, 1, large, "0.1 GB available", "--table-memory")
    del os.environ["SLURM_MEM_PER_NODE"]
    own = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, own[1]))
    done = runner.start(1, large)
    resource.setrlimit(resource.RLIMIT_DATA, own)
    support.expect(f"under a limit: {done.stderr}", done.returncode == 1 and "--table-memory" in done.stderr)
    print("limits are seen")


support.run(main)
