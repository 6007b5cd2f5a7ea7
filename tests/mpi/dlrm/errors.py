# SPDX-License-Identifier: BSD-3-Clause
"""What goes wrong ends every rank with code 1 and one line that says what and where; nothing hangs."""
import os
import struct

import support


def expect_error(runner, ranks, what, flags, *words):
    done = runner.start(ranks, flags, timeout=30)
    lines = [line for line in done.stderr.splitlines() if line.startswith("tutti-dlrm:")]
    support.expect(f"{what}: exit code {done.returncode}\n{done.stderr}", done.returncode == 1)
    support.expect(f"{what}: {len(lines)} lines of error\n{done.stderr}", len(lines) == 1)
    for word in words:
        support.expect(f"{what}: '{word}' is not in: {lines[0]}", word in lines[0])
    print(f"{what}: {lines[0]}")


def criteo_line(label=0, fields=39):
    return "\t".join([str(label)] + ["1"] * min(fields, 13) + ["0a1b2c3d"] * (fields - 13)) + "\n"


def write(path, content):
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return path


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    ranks = int(args.ranks.split(",")[0])
    model = ["--arch-sparse-feature-size=4", "--arch-mlp-bot=13-4", "--arch-mlp-top=1", "--loss-function=bce",
             "--data-generation=dataset", "--data-set=kaggle", "--mini-batch-size=4"]
    expect_error(runner, ranks, "unknown flag", ["--no-such-flag"], "--no-such-flag")
    expect_error(runner, ranks, "widths", ["--arch-mlp-bot=4-3-5"], "--arch-mlp-bot", "--arch-sparse-feature-size")
    expect_error(runner, ranks, "absent file", model + ["--raw-data-file=/nonexistent.txt"], "/nonexistent.txt")
    bad = write(runner.path("bad.txt"), criteo_line() * 30 + criteo_line(fields=20) + criteo_line() * 30)
    expect_error(runner, ranks, "malformed line", model + ["--raw-data-file=" + bad], "31")
    os.mkdir(runner.path("text"))
    write(runner.path("text/day_0"), criteo_line() * 30)
    write(runner.path("text/day_1"), criteo_line() * 3 + criteo_line(fields=20))
    expect_error(runner, ranks, "malformed line of a day", model + ["--data=" + runner.path("text")],
                 "day_1, line 4, field 22", "correct the file")
    long_field = write(runner.path("long.txt"), criteo_line() * 30 + "0\t" + "x" * 1000000 + "\n" + criteo_line() * 30)
    done = runner.start(ranks, model + ["--raw-data-file=" + long_field], timeout=30)
    support.expect(f"a field of 1 MB: {done.stderr[:400]}", done.returncode == 1 and "1000000 bytes" in done.stderr and
                   len(done.stderr) < 2000)
    expect_error(runner, ranks, "named and not read", ["--data-generation=random", "--raw-data-file=" + bad],
                 "--data-generation=random", "--raw-data-file")
    empty = write(runner.path("empty.txt"), "")
    for what, path, words in (("data that are absent", "/nonexistent", ["no such file"]),
                              ("data in a folder", runner.path(""), ["is a folder"]),
                              ("data by gzip", write(runner.path("x.gz"), b"\x1f\x8b\x08"), ["gzip"]),
                              ("other data", write(runner.path("x.csv"), "1,2,3\n"), ["1 fields", "PREFIX_train.bin"])):
        expect_error(runner, ranks, what, model + ["--data=" + path], "--data=" + path, *words)
    expect_error(runner, ranks, "empty file", model + ["--raw-data-file=" + empty], "empty.txt")
    cut = struct.pack("<40i", *([1] + [0] * 39)) * 20 + b"\0" * 100
    write(runner.path("cut_train.bin"), cut)
    expect_error(runner, ranks, "truncated binary file", model + ["--processed-data-file=" + runner.path("cut")],
                 "cut_train.bin")
    # Named data are trained, all of them, though the preset makes 300 batches.
    text = write(runner.path("named.txt"), (criteo_line() + criteo_line(label=1)) * 350)
    named = runner.train(ranks, ["--preset=kaggle", "--raw-data-file=" + text, "--mini-batch-size=1", "--print-freq=100"])
    support.expect(f"600 steps: {named['losses'][-1]}", named["losses"][-1]["iteration"] == 600)
    # Table 2 needs 10 rows, and --arch-embedding-size gives it 5.
    sample = [[1] + [3] * 13 + [1] * 26 for _ in range(8)]
    sample[5][14 + 2] = 9
    whole = b"".join(struct.pack("<40i", *s) for s in sample)
    write(runner.path("index_train.bin"), whole)
    write(runner.path("index_test.bin"), whole)
    rows = "--arch-embedding-size=" + "-".join(["5"] * 26)
    flags = model + ["--processed-data-file=" + runner.path("index"), rows, "--data-randomize=none"]
    expect_error(runner, ranks, "too few rows", flags, "table 2", "5 rows", "10", "--arch-embedding-size")
    huge = ["--arch-embedding-size=" + "-".join(["4000000000"] * 200), "--num-indices-per-lookup=1"]
    expect_error(runner, ranks, "too little memory", huge, "GB", "--arch-embedding-size")
    many = ["--arch-embedding-size=5000000000", "--arch-sparse-feature-size=1", "--arch-mlp-bot=4-1", "--arch-mlp-top=2-1",
            "--sharding=table-wise", "--memory-limit=1T", "--init=fast"]
    expect_error(runner, ranks, "5 G rows", many, "table 0", "5000000000", "2^32")
    expect_error(runner, ranks, "unwritable results", ["--json-file=/nonexistent/x.json"], "/nonexistent/x.json")
    expect_error(runner, ranks, "unwritable log", ["--mlperf-log=/nonexistent/x.log"], "/nonexistent/x.log")
    expect_error(runner, ranks, "log of no training", ["--mlperf-log=x.log", "--inference-only"], "--mlperf-log")
    expect_error(runner, ranks, "absent checkpoint", ["--load=/nonexistent/c"], "/nonexistent/c")
    # A processor without AVX-512, as far as oneDNN can see.
    os.environ.update(ONEDNN_MAX_CPU_ISA="AVX2", DNNL_MAX_CPU_ISA="AVX2")
    expect_error(runner, ranks, "no bf16", ["--compute-type=bf16"], "--compute-type=bf16: ", "oneDNN", "use fp32")
    support.expect("the program must not leave files", not os.path.exists("/nonexistent"))


support.run(main)
