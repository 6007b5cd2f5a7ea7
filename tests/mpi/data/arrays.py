# SPDX-License-Identifier: BSD-3-Clause
"""tutti-data convert of day files of arrays, as MLPerf's multi-hot set has them: each number as it was saved, the same
bytes on any number of ranks, stored or deflated, and faults named in one line. With numpy they are saved by it, too."""
import os
import random
import shutil
import struct
import zipfile

from support import Program, array_of, contents, expect, npy, npz, sidecar

try:
    import numpy
except ImportError:
    numpy = None

FEATURES, HOTNESS = 5, (1, 3, 2)
CODES = {"<f4": "f", "<i4": "i", "<i8": "q"}
DAYS = {"0": 40, "2": 25, "10": 31}  # taken by their numbers


def saved(kind, shape, values, order=False):
    head = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
            struct.pack(f"<{len(values)}{CODES[kind]}", *values))


def make_day(samples, seed):
    """Dense features of any value, labels, and the ids of each table, flat."""
    r = random.Random(seed)
    dense = [struct.unpack("<f", struct.pack("<f", r.gauss(0, 3)))[0] for _ in range(samples * FEATURES)]
    ids = [[int(r.paretovariate(.8)) % 200 for _ in range(samples * hotness)] for hotness in HOTNESS]
    return samples, dense, [r.randint(0, 1) for _ in range(samples)], ids


def write_day(folder, day, content, method=zipfile.ZIP_STORED):
    n, dense, labels, ids = content
    for name, array in (("dense", saved("<f4", (n, FEATURES), dense)), ("labels", saved("<i4", (n, 1), labels))):
        with open(os.path.join(folder, f"day_{day}_{name}.npy"), "wb") as file:
            file.write(array)
    write_bags(folder, day, {f"{t}.npy": saved("<i4", (n, hotness), ids[t]) for t, hotness in enumerate(HOTNESS)}, method)


def write_bags(folder, day, members, method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(os.path.join(folder, f"day_{day}_sparse_multi_hot.npz"), "w", method) as file:
        for name, array in members.items():
            file.writestr(name, array)


def write_by_numpy(folder, day, content, save):
    n, dense, labels, ids = content
    numpy.save(os.path.join(folder, f"day_{day}_dense.npy"), numpy.array(dense, numpy.float32).reshape(n, FEATURES))
    numpy.save(os.path.join(folder, f"day_{day}_labels.npy"), numpy.array(labels, numpy.int32).reshape(n, 1))
    save(os.path.join(folder, f"day_{day}_sparse_multi_hot.npz"),
         **{str(t): numpy.array(ids[t], numpy.int32).reshape(n, hotness) for t, hotness in enumerate(HOTNESS)})


def check_values(folder, days):
    """The days that were written, beside what was saved."""
    for number, (n, dense, labels, ids) in enumerate(days):
        expect("dense", npy(f"{folder}/day_{number}_dense.npy") == ("<f4", (n, FEATURES), tuple(dense)))
        expect("labels", npy(f"{folder}/day_{number}_labels.npy") == ("<i4", (n, 1), tuple(labels)))
        members = npz(f"{folder}/day_{number}_sparse_multi_hot.npz")
        for t, hotness in enumerate(HOTNESS):
            expect(f"day {number}, table {t}", members[f"{t}.npy"] == ("<i4", (n, hotness), tuple(ids[t])))


def faults(p, good):
    """Folders in which one thing is wrong: all ranks end with one line that names the file."""
    n, dense, labels, ids = good
    bags = {f"{t}.npy": saved("<i4", (n, hotness), ids[t]) for t, hotness in enumerate(HOTNESS)}
    arrays = {
        "dense.npy": [("dtype", saved("<i4", (n, FEATURES), [1] * n * FEATURES), "not <f4"),
                      ("fortran", saved("<f4", (n, FEATURES), dense, True), "order of Fortran"),
                      ("shape", saved("<f4", (n * FEATURES,), dense), "1 dimensions"),
                      ("cut", saved("<f4", (n, FEATURES), dense)[:-4], "does not fit"),
                      ("nan", saved("<f4", (n, FEATURES), dense[:-1] + [float("nan")]), f"sample {n - 1} has a dense"),
                      ("none", saved("<f4", (0, FEATURES), []), "no samples"),
                      ("features", saved("<f4", (n, 1), [0.] * n), "where the first day has 5")],
        "labels.npy": [("rows", saved("<i4", (n - 1, 1), labels[1:]), f"of {n} samples"),
                       ("wide", saved("<i8", (n, 1), labels), "<i8"),
                       ("nine", saved("<i4", (n, 1), [9] + labels[1:]), "label 9")],
        "sparse_multi_hot.npz": [("empty", b"", "no .npz")],
    }
    members = [("type", {**bags, "1.npy": saved("<i8", (n, 3), ids[1])}, "member 1.npy"),
               ("order", {**bags, "1.npy": saved("<i4", (n, 3), ids[1], True)}, "order of Fortran"),
               ("hot", {**bags, "1.npy": saved("<i4", (n, 2), ids[1][:2 * n])}, "2 indices a sample"),
               ("short", {**bags, "2.npy": saved("<i4", (n - 1, 2), ids[2][2:])}, "the shape"),
               ("negative", {**bags, "0.npy": saved("<i4", (n, 1), ids[0][:-1] + [-7])}, "index -7 in table 0"),
               ("tables", {k: v for k, v in bags.items() if k != "2.npy"}, "of 2 tables"),
               ("gap", {k: v for k, v in bags.items() if k != "1.npy"}, "2 members"),
               ("names", {"a.npy": bags["0.npy"]}, "no members 0")]
    for name, change, words in [(f"{file}, {fault}", (file, content), words) for file, some in arrays.items()
                                for fault, content, words in some] + [(fault, content, words)
                                                                      for fault, content, words in members]:
        folder = p.path("fault")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        write_day(folder, "0", good)
        write_day(folder, "1", good)
        if isinstance(change, dict):
            write_bags(folder, "1", change)
        else:
            with open(os.path.join(folder, "day_1_" + change[0]), "wb") as file:
                file.write(change[1])
        said = p.refusal(2, "convert", folder, "-o", p.path("never"), "--format", "npy")
        expect(f"{name}: '{words}' is in: {said}", words in said and "day_1_" in said)
    os.remove(os.path.join(p.path("fault"), "day_1_labels.npy"))
    expect("a missing file", "day_1_labels.npy" in p.refusal(2, "convert", p.path("fault"), "-o", p.path("x"), "--format", "npy"))
    expect("no data set of it", not os.path.exists(p.path("never")))


def main():
    p = Program(__doc__)
    days = [make_day(n, seed) for seed, n in enumerate(DAYS.values())]
    for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
        os.mkdir(p.path(name))
        for day, content in zip(DAYS, days):
            write_day(p.path(name), day, content, method)
    small = ["--format", "npy", "--part-bytes", "256"]  # many parts of each day
    for ranks, name in ((0, "stored"), (3, "stored"), (2, "deflated")):
        p.run(ranks, "convert", p.path(name), "-o", p.path(f"out{ranks}"), *small)
        expect(f"{name} on {ranks} ranks", contents(p.path(f"out{ranks}")) == contents(p.path("out0")))
    check_values(p.path("out0"), days)
    data = sidecar(p.path("out0"))
    expect("a day a file", data["samples"] == {"train": 65, "test": 16, "validation": 15})
    expect("rules", data["dense"] == {"features": FEATURES, "rule": "given"} and data["dictionary"]["rule"] == "none")
    for t, hotness in enumerate(HOTNESS):
        flat = [i for day in days for i in day[3][t]]
        expect("rows and lookups", (data["tables"][t]["rows"], data["tables"][t]["lookups"],
                                    data["tables"][t]["hotness"]) == (max(flat) + 1, len(flat), hotness))
    p.run(2, "check", p.path("out0"))
    expect("info", "as the input had them" in p.run(0, "info", p.path("out0")))
    line = p.run(0, "sample", p.path("out0"), "--first", "41", "--count", "1").split("\t")
    expect(f"a sample of the second day: {line}", int(line[0]) == days[1][2][1] and
           [[int(i) for i in bag.split(",")] for bag in line[1 + FEATURES:]] == [
               days[1][3][t][hotness:2 * hotness] for t, hotness in enumerate(HOTNESS)])
    # Numbered anew, as ids of text are.
    p.run(2, "convert", p.path("stored"), "-o", p.path("first"), "--numbering", "first", *small)
    numbers = [{} for _ in HOTNESS]
    check_values(p.path("first"), [(n, dense, labels, [[numbers[t].setdefault(i, len(numbers[t])) for i in ids[t]]
                                                       for t in range(len(HOTNESS))]) for n, dense, labels, ids in days])
    expect("the dictionary", sidecar(p.path("first"))["dictionary"]["rule"] == "first")
    expect("binary files", "--format npy" in p.refusal(2, "convert", p.path("stored"), "-o", p.path("x")))
    expect("a rule", "--dense" in p.refusal(2, "convert", p.path("stored"), "-o", p.path("x"), "--dense", "log3", *small))
    expect("two folders", "one folder" in p.refusal(2, "convert", p.path("stored"), p.path("deflated"), "-o", p.path("x"), *small))
    faults(p, days[1])
    if numpy is None:
        print("numpy is not here: its own files are not tried")
        return
    for name in ("savez", "savez_compressed"):
        os.mkdir(p.path(name))
        for day, content in zip(DAYS, days):
            write_by_numpy(p.path(name), day, content, getattr(numpy, name))
        p.run(2, "convert", p.path(name), "-o", p.path("by_" + name), *small)
        expect(f"numpy's {name}", contents(p.path("by_" + name)) == contents(p.path("out0")))
        with numpy.load(p.path(f"by_{name}/day_1_sparse_multi_hot.npz")) as bags:
            with open(p.path(f"by_{name}/day_1_dense.npy"), "rb") as file:
                expect("numpy reads them back", array_of(file.read())[1] == (25, FEATURES) and
                       (bags["1"] == numpy.array(days[1][3][1]).reshape(25, 3)).all())


if __name__ == "__main__":
    main()
