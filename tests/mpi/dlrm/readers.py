# SPDX-License-Identifier: BSD-3-Clause
"""The same samples give the same losses, in whatever format they are, however their path is given, in every order, and
however many ranks read them. A scan for the rows of binary files is made once, and again when they change."""
import glob
import gzip
import json
import math
import os
import random
import struct
import zipfile

import support

TOLERANCE = 1e-6
TABLES = 26
MODEL = ["--arch-sparse-feature-size=4", "--arch-mlp-bot=13-8-4", "--arch-mlp-top=8-1", "--loss-function=bce",
         "--mini-batch-size=47", "--test-mini-batch-size=100", "--nepochs=2", "--learning-rate=0.1", "--print-freq=1",
         "--data-set=kaggle", "--data-generation=dataset"]


def make_samples(count):
    """Labels, dense features and ids of Zipf's kind, so that first appearances are spread over the file."""
    generator = random.Random(11)
    samples = []
    for _ in range(count):
        ids = [int(generator.paretovariate(0.7)) % 5000 for _ in range(TABLES)]
        dense = [int(generator.paretovariate(0.3)) % 30000 for _ in range(13)]
        samples.append((ids[3] % 2, dense, ids))
    return samples


def write_text(path, samples):
    with open(path, "w", encoding="utf-8") as file:
        for label, dense, ids in samples:
            file.write("\t".join([str(label)] + list(map(str, dense)) + [f"{i:08x}" for i in ids]) + "\n")
    return path


def write_text_days(folder, samples):
    """The seven days into which one file is cut, in files whose numbers are not in the order of their names."""
    os.mkdir(folder)
    each, begin = divmod(len(samples), 7), 0
    for i, day in enumerate((0, 1, 2, 3, 9, 10, 11)):
        end = begin + each[0] + (i < each[1])
        path = write_text(os.path.join(folder, f"day_{day}"), samples[begin:end])
        if i % 2:
            with open(path, "rb") as plain, gzip.open(path + ".gz", "wb") as packed:
                packed.write(plain.read())
            os.remove(path)
        begin = end
    return folder


def write_binary(prefix, samples):
    """Ids are numbered as they appear; the last of seven days is for tests and validation, as for text."""
    numbers = [{} for _ in range(TABLES)]
    records = [struct.pack("<40i", label, *dense, *(numbers[t].setdefault(i, len(numbers[t])) for t, i in enumerate(ids)))
               for label, dense, ids in samples]
    last = len(records) // 7
    train = len(records) - last
    test = train + (last + 1) // 2
    for name, part in (("train", records[:train]), ("test", records[train:test]), ("val", records[test:])):
        with open(f"{prefix}_{name}.bin", "wb") as file:
            file.write(b"".join(part))
    return prefix


def write_sidecar(path, kind, samples, files):
    """As tutti-data writes it; `files` are tuples of name, content and samples."""
    folder = os.path.dirname(path)
    last = len(samples) // 7
    test = (last + 1) // 2
    rows = [len({ids[t] for _, _, ids in samples}) for t in range(TABLES)]
    sidecar = {"tutti_data": 1, "format": kind,
               "samples": {"train": len(samples) - last, "test": test, "validation": last - test},
               "dense": {"features": 13, "rule": "log1p"}, "dictionary": {"rule": "first", "threshold": 0, "hash_rows": 0},
               "tables": [{"rows": n, "lookups": len(samples), "hotness": 1, "ragged": False, "ids": n, "buckets": [],
                           "hottest": []} for n in rows],
               "files": [{"name": name, "content": content, "samples": n, "crc32": 0,
                          "bytes": os.path.getsize(os.path.join(folder, name))} for name, content, n in files]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(sidecar, file)


def npy(kind, shape, values):
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    letter = {"<f4": "f", "<i4": "i"}[kind]
    packed = struct.pack(f"<{len(values)}{letter}", *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + packed


def write_days(folder, samples, cut, method=None):
    """Two day files of MLPerf's kind. With a sidecar, unless a `method` says how their members are packed: then the
    second day is for tests and validation."""
    os.mkdir(folder)
    numbers = [{} for _ in range(TABLES)]
    ids_of = [[numbers[t].setdefault(i, len(numbers[t])) for t, i in enumerate(ids)] for _, _, ids in samples]
    files = {"dense": [], "labels": [], "sparse": []}
    for day, (begin, end) in enumerate(((0, cut), (cut, len(samples)))):
        part = samples[begin:end]
        n = len(part)
        arrays = {"dense": npy("<f4", (n, 13), [math.log(x + 1) for _, dense, _ in part for x in dense]),
                  "labels": npy("<i4", (n, 1), [label for label, _, _ in part])}
        for content, array in arrays.items():
            files[content].append((f"day_{day}_{content}.npy", content, n))
            with open(os.path.join(folder, files[content][-1][0]), "wb") as file:
                file.write(array)
        files["sparse"].append((f"day_{day}_sparse_multi_hot.npz", "sparse", n))
        with zipfile.ZipFile(os.path.join(folder, files["sparse"][-1][0]), "w", method or zipfile.ZIP_STORED) as file:
            for t in range(TABLES):
                file.writestr(f"{t}.npy", npy("<i4", (n, 1), [ids[t] for ids in ids_of[begin:end]]))
    if method is None:
        write_sidecar(os.path.join(folder, "data.json"), "criteo-npy", samples,
                      files["dense"] + files["labels"] + files["sparse"])
    return folder


def outcome(results):
    return support.losses(results), [results["test"][key] for key in ("log_loss", "auc", "samples")]


def expect_same(what, got, want, tolerance=0):
    for one, other in zip(got, want):
        support.expect_close(what, one, other, tolerance)


def formats(runner, ranks, text, text_days, binary, days, alone):
    """Bits on one number of ranks; close to those of one rank."""
    want = outcome(runner.train(ranks, MODEL + ["--raw-data-file=" + text, "--data-randomize=none"]))
    for data in ("--data=" + text, f"--data={text}.gz", f"--raw-data-file={text}.gz", "--data=" + text_days,
                 "--data=" + binary, f"--data={binary}_train.bin", "--processed-data-file=" + binary):
        got = outcome(runner.train(ranks, MODEL + [data, "--data-randomize=none"]))
        expect_same(f"{ranks} ranks, {data}", got, want)
    expect_same(f"{ranks} ranks, auto", outcome(runner.train(ranks, MODEL + ["--data=" + binary])), want)
    seen = {}
    for order in ("total", "day", "epoch", "batches", "interleaved"):
        seen[order] = outcome(runner.train(ranks, MODEL + ["--data=" + text, "--data-randomize=" + order]))
        support.expect(f"{order} moves samples", seen[order][0] != want[0])
        if order == "day":
            got = outcome(runner.train(ranks, MODEL + ["--raw-data-file=" + text_days, "--data-randomize=day"]))
            expect_same(f"{ranks} ranks, a file a day", got, seen["day"])
        if order != "day":
            got = outcome(runner.train(ranks, MODEL + ["--data=" + binary, "--data-randomize=" + order]))
            expect_same(f"{ranks} ranks, {order}, binary", got, seen[order])
    shuffled = outcome(runner.train(ranks, MODEL + ["--data=" + binary, "--mlperf-bin-shuffle"]))
    expect_same(f"{ranks} ranks, --mlperf-bin-shuffle", shuffled, seen["batches"])
    for order, folder in (("none", days), ("epoch", days), ("interleaved", days), ("none", runner.path("plain")), ("epoch", runner.path("packed"))):
        got = outcome(runner.train(ranks, MODEL + ["--data=" + folder, "--data-randomize=" + order]))
        expect_same(f"{ranks} ranks, {order}, {folder}", got, want if order == "none" else seen[order], TOLERANCE)
    seen["none"] = want
    for order, got in seen.items():
        expect_same(f"{ranks} ranks against 1, {order}", got, alone.get(order, got), TOLERANCE)
    return seen


def plans(runner, ranks, binary, want):
    for more in (["--sharding=data-parallel"], ["--sharding=row-wise"], ["--sharding=mixed", "--pipeline"]):
        flags = MODEL + ["--data=" + binary, "--data-randomize=epoch"] + more
        expect_same(f"{ranks} ranks, {more}", outcome(runner.train(ranks, flags)), want, TOLERANCE)


def continued(runner, ranks, binary, want):
    folder = runner.path("checkpoint")
    flags = MODEL + ["--data=" + binary, "--data-randomize=epoch"]
    runner.train(ranks, flags + ["--max-steps=13", "--checkpoint-dir=" + folder])
    rest = runner.train(ranks, flags + ["--load=" + folder])
    expect_same(f"{ranks} ranks, continued in the second epoch", [support.losses(rest)], [want[0][13:]])


def scans(runner, ranks, samples, binary, want):
    """The rows are those of the kept scan, unless a file has changed since."""
    kept = glob.glob(os.path.join(os.environ["TUTTI_CACHE_DIR"], "day-*.rows.json"))
    support.expect(f"one scan is kept: {kept}", len(kept) == 1)
    with open(kept[0], encoding="utf-8") as file:
        scan = json.load(file)
    scan["rows"][0] += 1000
    with open(kept[0], "w", encoding="utf-8") as file:
        json.dump(scan, file)
    flags = MODEL + ["--data=" + binary]
    other = outcome(runner.train(ranks, flags))
    support.expect("rows of the kept scan are taken", other[0] != want[0])
    os.utime(binary + "_train.bin", ns=(1, 1))
    expect_same("a changed file is scanned again", outcome(runner.train(ranks, flags)), want)
    # With a sidecar nothing is scanned; one of other files is refused.
    for path in glob.glob(os.path.join(os.environ["TUTTI_CACHE_DIR"], "*.rows.json")):
        os.remove(path)
    counts = [os.path.getsize(f"{binary}_{part}.bin") // 160 for part in ("train", "test", "val")]
    files = [(f"day_{part}.bin", "records", n) for part, n in zip(("train", "test", "val"), counts)]
    write_sidecar(binary + ".json", "criteo-binary", samples, files)
    for data in (binary, binary + ".json"):
        expect_same("sidecar", outcome(runner.train(ranks, MODEL + ["--data=" + data])), want)
    support.expect("nothing is scanned", not glob.glob(os.path.join(os.environ["TUTTI_CACHE_DIR"], "*.rows.json")))
    os.truncate(binary + "_val.bin", 160)
    done = runner.start(ranks, flags)
    support.expect(f"a sidecar of other files: {done.stderr}", done.returncode == 1 and "day_val.bin" in done.stderr)


def given_rows(runner, ranks, samples, want):
    """Rows that are given need no scan of arrays, and an index that has none is named."""
    pattern = os.path.join(os.environ["TUTTI_CACHE_DIR"], "plain-*.rows.json")
    rows = [len({ids[t] for _, _, ids in samples}) for t in range(TABLES)]
    flags = MODEL + ["--data=" + runner.path("plain"), "--arch-embedding-size=" + "-".join(map(str, rows))]
    expect_same("given rows", outcome(runner.train(ranks, flags)), want, TOLERANCE)
    support.expect("nothing is scanned", not glob.glob(pattern))
    done = runner.start(ranks, MODEL + ["--data=" + runner.path("plain"), "--arch-embedding-size=" + "-".join(["9"] * TABLES)])
    support.expect(f"an index without a row: {done.stderr}", done.returncode == 1 and "of 9 rows" in done.stderr)
    expect_same("a scan", outcome(runner.train(ranks, flags[:-1])), want, TOLERANCE)
    support.expect("the scan is kept", len(glob.glob(pattern)) == 1)


def adult(runner, ranks, program):
    folder = os.path.join(os.path.dirname(program), "..", "share", "tutti", "data", "adult")
    flags = ["--preset=adult", "--num-batches=5", "--print-freq=1"]
    expect_same("Adult", outcome(runner.train(ranks, flags + ["--data=" + folder])), outcome(runner.train(ranks, flags)))


def main():
    args = support.arguments(__doc__)
    runner = support.Runner(args)
    os.environ["TUTTI_CACHE_DIR"] = runner.path("cache")
    samples = make_samples(500)
    text = write_text(runner.path("train.txt"), samples)
    with open(text, "rb") as plain, gzip.open(text + ".gz", "wb") as packed:
        packed.write(plain.read())
    text_days = write_text_days(runner.path("text"), samples)
    binary = write_binary(runner.path("day"), samples)
    days = write_days(runner.path("days"), samples, len(samples) // 3)
    for name, method in (("plain", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
        write_days(runner.path(name), samples, len(samples) - len(samples) // 7, method)
    alone = {}
    for ranks in map(int, args.ranks.split(",")):
        seen = formats(runner, ranks, text, text_days, binary, days, alone)
        alone = alone or seen
        if ranks > 1:
            plans(runner, ranks, binary, alone["epoch"])
        print(f"{ranks} ranks: formats, orders and plans give the same losses")
    continued(runner, ranks, binary, seen["epoch"])
    scans(runner, ranks, samples, binary, seen["none"])
    given_rows(runner, ranks, samples, seen["none"])
    adult(runner, ranks, args.program)
    return 0


support.run(main)
