# SPDX-License-Identifier: BSD-3-Clause
"""tutti-data of Parquet: the same samples after a way to it and back, files of pyarrow's with every type of column,
packing and missing value, and faults named in one line. A build without Parquet names the remedy."""
import os
import random
import shutil
import sys

from support import DENSE, TABLES, Program, contents, expect, fields_of, lines_of, npy, npz, records_of, sidecar, write

try:
    import pyarrow
    import pyarrow.parquet
except ImportError:
    pyarrow = None

SKIPPED = 77
SMALL = ["--part-bytes", "3000"]  # many parts of each day


def absent(p):
    """What a build without Parquet says."""
    with open(p.path("x.parquet"), "wb") as file:
        file.write(b"PAR1 and more")
    for command in (["convert", p.path("x.parquet"), "-o", p.path("x")], ["generate", "-o", p.path("x"), "--format", "parquet"]):
        expect(f"the remedy of {command}", "TUTTI_PYARROW" in p.refusal(2, *command))
    print("SKIPPED: this build has no Parquet; -DTUTTI_PYARROW=ON takes that of Python's pyarrow")
    sys.exit(SKIPPED)


def same_files(p, name, other):
    """Two data sets whose files differ in nothing; their sidecars may, in the rule of the dictionary."""
    one, two = contents(p.path(name)), contents(p.path(other))
    expect(f"{name} and {other} have the same files", {k: v for k, v in one.items() if k != "json" and "categories" not in k} ==
           {k: v for k, v in two.items() if k != "json" and "categories" not in k} and len(one) > 2)
    for field in ("samples", "dense"):
        expect(f"{field} of {name} and {other}", sidecar(p.path(name))[field] == sidecar(p.path(other))[field])
    for left, right in zip(sidecar(p.path(name))["tables"], sidecar(p.path(other))["tables"]):
        for field in ("rows", "lookups", "hotness", "ragged", "buckets", "hottest", "blocks"):
            expect(f"{field} of the tables", left[field] == right[field])


def there_and_back(p):
    """Text as Parquet, and this as all other formats."""
    write(p.path("text"), lines_of(900))
    p.run(0, "convert", p.path("text"), "-o", p.path("records"), *SMALL)
    p.run(0, "convert", p.path("text"), "-o", p.path("arrays"), "--format", "npy", *SMALL)
    for ranks in (0, 1, 3):
        p.run(ranks, "convert", p.path("text"), "-o", p.path(f"pq{ranks}"), "--format", "parquet", *SMALL)
        expect(f"{ranks} ranks", contents(p.path(f"pq{ranks}")) == contents(p.path("pq0")))
    expect("several files a day", os.path.exists(p.path("pq0/day_0_00001.parquet")) and
           os.path.exists(p.path("pq0/day_6_00000.parquet")))
    p.run(2, "check", p.path("pq0"))
    expect("info", "criteo-parquet: " in p.run(0, "info", p.path("pq0")))
    for first in ("0", "613", "899"):
        expect("a sample", p.run(0, "sample", p.path("pq0"), "--first", first, "--count", "1") ==
               p.run(0, "sample", p.path("records"), "--first", first, "--count", "1"))
    for ranks, name, form in ((2, "records", "binary"), (3, "arrays", "npy"), (1, "pq0", "parquet")):
        p.run(ranks, "convert", p.path("pq0"), "-o", p.path("back" + name), "--format", form, "--part-bytes", "5000")
        if form != "parquet":  # whose files are one a part
            same_files(p, name, "back" + name)
    p.run(2, "convert", p.path("backpq0"), "-o", p.path("again"))
    expect("twice", records_of(p.path("again")) == records_of(p.path("records")))
    p.run(2, "convert", p.path("pq0"), "-o", p.path("rare"), "--frequency-threshold", "3")
    p.run(2, "convert", p.path("text"), "-o", p.path("rare_text"), "--frequency-threshold", "3")
    rare, text = (sidecar(p.path(name))["tables"] for name in ("rare", "rare_text"))
    expect("rare rows", [t["rows"] for t in rare] == [t["rows"] for t in text])
    # Bags of any length and of a fixed one, days that are kept.
    for name, more in (("ragged", ["--ragged"]), ("fixed", [])):
        flags = ["--samples", "1000", "--rows", "50-60-70", "--hotness", "3-1-2", "--days", "2", "--dense-features", "4",
                 "--part-samples", "100", *more]
        p.run(2, "generate", "-o", p.path(name), "--format", "npy", *flags)
        p.run(3, "generate", "-o", p.path(name + "_pq"), "--format", "parquet", *flags)
        p.run(2, "check", p.path(name + "_pq"))
        p.run(2, "convert", p.path(name + "_pq"), "-o", p.path(name + "_back"), "--format", "npy")
        same_files(p, name, name + "_back")
        expect("a bag", p.run(0, "sample", p.path(name), "--first", "700") == p.run(0, "sample", p.path(name + "_pq"), "--first", "700"))


def reals(p):
    """Dense features of arrays stay what they are."""
    p.run(2, "convert", p.path("arrays"), "-o", p.path("reals"), "--format", "parquet")
    p.run(2, "convert", p.path("reals"), "-o", p.path("reals_back"), "--format", "npy")
    expect("reals", npy(p.path("reals_back/day_1_dense.npy")) == npy(p.path("arrays/day_1_dense.npy")))
    expect("the rule", sidecar(p.path("reals_back"))["dense"]["rule"] == "given")
    expect("binary", "--format npy" in p.refusal(2, "convert", p.path("reals"), "-o", p.path("x")))
    if pyarrow:
        table = pyarrow.parquet.read_table(p.path("reals/day_1_00000.parquet"))
        expect("pyarrow reads them", table.column("int_3").to_pylist() == list(npy(p.path("arrays/day_1_dense.npy"))[2][3:13 * table.num_rows:13]))


def pyarrow_table(lines, sparse, dense, label):
    labels, numbers, ids = fields_of(lines)
    fields = [line.split("\t") for line in lines]
    columns = {"unused": pyarrow.array(["x"] * len(lines)), "label": pyarrow.array(labels).cast(label)}
    for j in range(DENSE):
        columns[f"I{j + 1}"] = pyarrow.array([int(row[1 + j]) if row[1 + j] else None for row in fields], dense)
    for t in range(TABLES):
        values = [row[14 + t] or None for row in fields] if sparse == pyarrow.string() else [row[t] for row in ids]
        columns[f"C{t + 1}"] = pyarrow.array(values, sparse)
    return pyarrow.table(columns)


def types(p):
    """Criteo's usual names in every type and packing, in files of row groups."""
    lines = lines_of(700, seed=4)
    write(p.path("lines"), lines)
    p.run(0, "convert", p.path("lines"), "-o", p.path("want"))
    want = contents(p.path("want"))
    kinds = [(pyarrow.string(), pyarrow.int32(), pyarrow.int8(), "snappy"), (pyarrow.int64(), pyarrow.int64(), pyarrow.bool_(), "zstd"),
             (pyarrow.uint32(), pyarrow.float64(), pyarrow.uint8(), "gzip"), (pyarrow.int64(), pyarrow.float32(), pyarrow.float64(), "none")]
    for i, (sparse, dense, label, codec) in enumerate(kinds):
        folder = p.path(f"types{i}")
        os.mkdir(folder)
        table = pyarrow_table(lines, sparse, dense, label)
        for part in range(12):  # taken by their numbers
            piece = table.slice(part * 60, 60)
            pyarrow.parquet.write_table(piece, f"{folder}/part-{part}.parquet", compression=codec, row_group_size=25,
                                        use_dictionary=i % 2 == 0, data_page_version="1.0" if i < 2 else "2.0")
        more = ["--dense", "log1p"] if "float" in str(dense) or "double" in str(dense) else []
        for ranks in (1, 3):
            p.run(ranks, "convert", folder, "-o", p.path("got"), "--numbering", "first", *more, *SMALL)
            got = contents(p.path("got"))
            expect(f"{sparse}, {dense}, {label}, {codec}, {ranks} ranks", all(
                got[k] == want[k] for k in ("_train.bin", "_test.bin", "_val.bin", ".categories")))
    table = pyarrow_table(lines, pyarrow.string(), pyarrow.int32(), pyarrow.int8())
    pages = [f"page {ids[0]}" if ids[0] else None for ids in fields_of(lines)[2]]
    table = table.set_column(table.column_names.index("C1"), "C1", pyarrow.array(pages))
    pyarrow.parquet.write_table(table.rename_columns([{"label": "y", "I1": "age", "C1": "site"}.get(n, n) for n in table.column_names]),
                                p.path("own.parquet"))
    named = ["--label", "y", "--dense-columns", "age," + ",".join(f"I{j}" for j in range(2, 14)), "--sparse-columns", "site,C*"]
    p.run(2, "convert", p.path("own.parquet"), "-o", p.path("got"), *named)
    expect("columns of other names", records_of(p.path("got")) == records_of(p.path("want")))


def lists(p):
    """Lists: missing ones are empty, missing elements 0, ids of 64 bits have numbers of their own."""
    r = random.Random(5)
    n = 400
    bags = [[None if r.random() < .1 else [None if r.random() < .1 else r.getrandbits(60) % 50 + 2 ** 40 for _ in range(r.randint(0, 4))]
             for _ in range(n)], [[r.randint(0, 9), r.randint(0, 9)] for _ in range(n)], [r.randint(0, 99) for _ in range(n)]]
    dense = [r.choice([None, float("nan"), r.gauss(0, 1)]) for _ in range(n)]
    table = pyarrow.table({"label": pyarrow.array([s % 2 for s in range(n)]), "int_0": pyarrow.array(dense, pyarrow.float32()),
                           "cat_0": pyarrow.array(bags[0], pyarrow.list_(pyarrow.int64())),
                           "cat_1": pyarrow.array(bags[1], pyarrow.large_list(pyarrow.uint8())),
                           "cat_2": pyarrow.array(bags[2], pyarrow.int16())})
    pyarrow.parquet.write_table(table, p.path("lists.parquet"), row_group_size=90, data_page_size=200)
    for ranks in (0, 3):
        p.run(ranks, "convert", p.path("lists.parquet"), "-o", p.path(f"lists{ranks}"), "--format", "npy", "--numbering", "first",
              "--days", "2", "--part-bytes", "1500")
        expect("any ranks", contents(p.path(f"lists{ranks}")) == contents(p.path("lists0")))
    numbers = [{}, {}, {}]
    for t, table_bags in enumerate(([bag or [] for bag in bags[0]], bags[1], [[i] for i in bags[2]])):
        rows = [[numbers[t].setdefault(i or 0, len(numbers[t])) for i in bag] for bag in table_bags]
        for day in range(2):
            members = npz(p.path(f"lists0/day_{day}_sparse_multi_hot.npz"))
            flat, offsets = members[f"{t}.npy"][2], members[f"{t}_offsets.npy"][2]
            got = [list(flat[a:b]) for a, b in zip(offsets, offsets[1:])]
            expect(f"bags of table {t}, day {day}", got == rows[200 * day:200 * day + 200])
    want = pyarrow.array([0 if x is None or x != x else x for x in dense], pyarrow.float32()).to_pylist()
    expect("missing reals are 0", list(npy(p.path("lists0/day_0_dense.npy"))[2]) == want[:200])
    fixed = table.select(["label", "int_0", "cat_1", "cat_2"])
    pyarrow.parquet.write_table(fixed, p.path("fixed.parquet"))
    p.run(2, "convert", p.path("fixed.parquet"), "-o", p.path("equal"), "--format", "npy")
    expect("bags of one length", [(t["hotness"], t["ragged"], t["rows"]) for t in sidecar(p.path("equal"))["tables"]] ==
           [(2, False, 10), (1, False, max(bags[2]) + 1)])


def faults(p):
    """Files in which one thing is wrong: all ranks end with one line that names the file."""
    good = pyarrow_table(lines_of(200, seed=9), pyarrow.int64(), pyarrow.int32(), pyarrow.int8())
    ids = ["--numbering", "first"]

    def changed(name, values, table=good):
        return table.set_column(table.column_names.index(name), name, pyarrow.array(values))

    n = good.num_rows
    rows = good
    for t in range(TABLES):
        rows = changed(f"C{t + 1}", [0] * n, rows)
    tables = [("nine", changed("label", [0] * (n - 1) + [9]), f"sample {n - 1} has a label", ids),
              ("none", changed("label", [0] * (n - 1) + [None]), "label that is missing", ids),
              ("text", changed("I3", ["x"] * n), "'I3' holds no numbers", ids),
              ("wide", changed("I3", [0] * (n - 1) + [2 ** 40]), "no integer of 32 bits", ids),
              ("half", changed("I3", [0.5] * n), "--dense", ids + ["--dense", "log1p"]),
              ("infinite", changed("I3", [1e300] * n), "no finite number", ids + ["--format", "npy"]),
              ("list", changed("I3", [[1]] * n), "'I3' holds no numbers", ids),
              ("real", changed("C3", [.5] * n), "'C3' holds no integers", ids),
              ("nested", changed("C3", [[[1]]] * n), "'C3' holds neither", ids),
              ("struct", changed("C3", [{"a": 1, "b": 2}] * n), "'C3' holds neither", ids),
              ("negative", changed("C3", [0] * (n - 1) + [-4], rows), f"sample {n - 1} has -4, which is no row", []),
              ("bags", changed("C3", [[1, 2]] * n), "no binary form", ids),
              ("names", good.rename_columns(["_" + name for name in good.column_names]), "no column 'label'", ids),
              ("dense", good.select(["label"] + [f"C{t + 1}" for t in range(26)]), "--dense-columns", ids),
              ("rows", good.slice(0, 0), "no samples", ids)]
    for name, table, words, more in tables:
        path = p.path(f"{name}.parquet")
        pyarrow.parquet.write_table(table, path)
        said = p.refusal(2, "convert", path, "-o", p.path("never"), *more)
        expect(f"{name}: '{words}' is in: {said}", words in said and name in said)
    path = p.path("good.parquet")
    pyarrow.parquet.write_table(good, path, row_group_size=50, use_dictionary=False)
    with open(path, "rb") as file:
        content = file.read()
    r = random.Random(3)
    cuts = [content[:len(content) - cut] for cut in (1, 4, 8, 100, len(content) - 4)] + [b"", b"PAR1PAR1", content[4:]]
    damaged = [bytearray(content) for _ in range(8)]
    for i, bytes_ in enumerate(damaged):
        for _ in range(20):
            at = r.randrange(len(content) - 600, len(content)) if i % 2 else r.randrange(4, len(content))
            bytes_[at] = r.randrange(256)
    refused = 0
    for i, bytes_ in enumerate(cuts + damaged):
        with open(p.path("cut.parquet"), "wb") as file:
            file.write(bytes_)
        if i < len(cuts):
            said = p.refusal(2, "convert", p.path("cut.parquet"), "-o", p.path("never"), *ids)
            expect(f"cut {i}: {said}", "cut.parquet" in said)
            continue
        done = p.try_run(2, "convert", p.path("cut.parquet"), "-o", p.path("maybe"), *ids)
        refused += done
    expect(f"{refused} damaged files are refused", refused > 2)
    expect("no data set of it", not os.path.exists(p.path("never_train.bin")))
    os.mkdir(p.path("differ"))
    pyarrow.parquet.write_table(good, p.path("differ/a.parquet"))
    pyarrow.parquet.write_table(changed("C3", ["x"] * n), p.path("differ/b.parquet"))
    expect("files that differ", "another type" in p.refusal(2, "convert", p.path("differ"), "-o", p.path("x")))
    expect("text beside it", "by themselves" in p.refusal(2, "convert", path, p.path("text"), "-o", p.path("x")))
    expect("no file", "missing.parquet" in p.refusal(2, "convert", p.path("missing.parquet"), "-o", p.path("x")))
    shutil.copytree(p.path("pq0"), p.path("spoilt"))
    with open(p.path("spoilt/day_2_00000.parquet"), "r+b") as file:
        file.seek(100)
        file.write(b"spoilt")
    expect("a checksum", "CRC-32" in p.refusal(2, "check", p.path("spoilt")))


def main():
    p = Program(__doc__)
    if "Parquet: yes" not in p.run(0, "--help"):
        absent(p)
    there_and_back(p)
    reals(p)
    if pyarrow is None:
        print("pyarrow is not here: its own files are not tried")
    else:
        types(p)
        lists(p)
        faults(p)
    expect("nothing else stays", not [n for n in os.listdir(p.folder.name) if "draft" in n])


if __name__ == "__main__":
    main()
