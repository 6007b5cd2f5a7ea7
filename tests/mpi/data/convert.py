# SPDX-License-Identifier: BSD-3-Clause
"""tutti-data convert: each number of the files beside an own computation, the same bytes on any number of ranks."""
import collections
import gzip
import math
import os
import shutil
import subprocess

from support import (DENSE, TABLES, Program, contents, expect, fields_of, lines_of, npy, npz, records_of, sidecar, write)

SMALL = ["--part-bytes", "8K"]  # many parts


def first_numbers(columns, threshold=0):
    """Rows by first appearance; with a threshold row 0 is that of rare ids."""
    rows = []
    for column in columns:
        count = collections.Counter(column)
        kept = [i for i in dict.fromkeys(column) if count[i] >= threshold]
        rows.append({i: n + (threshold > 0) for n, i in enumerate(kept)})
    return rows


def clamped(value, rule):
    return max(value, 0) if rule == "log1p" else max(value, -2) + 2


def check_records(prefix, lines, rows, rule="log1p"):
    labels, dense, ids = fields_of(lines)
    records = records_of(prefix)
    expect(f"{prefix}: {len(records)} records", len(records) == len(lines))
    for i, record in enumerate(records):
        want = (labels[i], *[clamped(x, rule) for x in dense[i]], *[rows[t].get(ids[i][t], 0) for t in range(TABLES)])
        expect(f"{prefix}: record {i} is {record}, not {want}", record == want)


def categories(prefix):
    """The ids of each table by row."""
    data = sidecar(prefix)
    name = next(f["name"] for f in data["files"] if f["content"] == "categories")
    with open(os.path.join(os.path.dirname(prefix), name), "rb") as file:
        content = file.read()
    found, at = [], 0
    for table in data["tables"]:
        found.append([int.from_bytes(content[at + 4 * i:at + 4 * i + 4], "little") for i in range(table["ids"])])
        at += 4 * table["ids"]
    expect("categories end with the last table", at == len(content))
    return found


def check_frequencies(prefix, lines):
    columns = list(zip(*[record[14:] for record in records_of(prefix)]))
    for table, column in zip(sidecar(prefix)["tables"], columns):
        counts = collections.Counter(column)
        expect("lookups and rows", table["lookups"] == len(lines) and table["rows"] > max(column))
        hottest = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
        expect(f"hottest rows {table['hottest'][:3]}, not {hottest[:3]}",
               [tuple(row) for row in table["hottest"]] == hottest[:4096])
        buckets = collections.defaultdict(lambda: [0, 0])
        for count in counts.values():
            buckets[count.bit_length() - 1][0] += 1
            buckets[count.bit_length() - 1][1] += count
        expect("buckets", [[b, *rest] for b, rest in sorted(buckets.items())] == table["buckets"])
        blocks = [0] * min(table["rows"], 1024)
        for row, count in counts.items():
            blocks[row * len(blocks) // table["rows"]] += count
        expect("blocks", blocks == table["blocks"])


def main():
    p = Program(__doc__)
    lines = lines_of(1000)
    text = p.path("train.txt")
    write(text, lines)
    columns = list(zip(*fields_of(lines)[2]))

    # First appearance, on 1 to 3 ranks; parts of any size; Windows' line ends and blank lines at the end.
    for ranks in (0, 1, 2, 3):
        p.run(ranks, "convert", text, "-o", p.path(f"r{ranks}"), *SMALL)
        expect(f"the files of {ranks} ranks are those of one", contents(p.path(f"r{ranks}")) == contents(p.path("r0")))
        expect("nothing else stays", not [n for n in os.listdir(p.folder.name) if "draft" in n or "parts" in n])
    check_records(p.path("r0"), lines, first_numbers(columns))
    check_frequencies(p.path("r0"), lines)
    expect("ids by row", categories(p.path("r0")) == [list(dict.fromkeys(column)) for column in columns])
    expect("the split of 7 days", [sidecar(p.path("r0"))["samples"][s] for s in ("train", "test", "validation")] ==
           [858, 71, 71])
    crlf = p.path("crlf.txt")
    write(crlf, lines + ["", ""], end="\r\n")
    p.run(2, "convert", crlf, "-o", p.path("crlf"))
    expect("line ends and parts do not matter", contents(p.path("crlf")) == contents(p.path("r0")))

    # A folder of days, one of them compressed: they are taken by number, and each is a day.
    os.mkdir(p.path("days"))
    cuts = [0, 300, 450, 600, 1000]
    for i, day in enumerate((0, 2, 10, 11)):
        part = lines[cuts[i]:cuts[i + 1]]
        write(p.path(f"days/day_{day}"), part)
        if day in (2, 11):
            with open(p.path(f"days/day_{day}"), "rb") as plain, gzip.open(p.path(f"days/day_{day}.gz"), "wb") as packed:
                packed.write(plain.read() + (b"\r\n" * 20000 if day == 11 else b""))
            os.remove(p.path(f"days/day_{day}"))
    for ranks in (0, 3):
        p.run(ranks, "convert", p.path("days"), "-o", p.path(f"days{ranks}"), *SMALL)
    check_records(p.path("days0"), lines, first_numbers(columns))
    expect("days on 3 ranks", contents(p.path("days3")) == contents(p.path("days0")))
    expect("a day a file", sidecar(p.path("days0"))["samples"] == {"train": 600, "test": 200, "validation": 200})

    zstd(p, text)

    # A threshold; frequency; a hash; one day.
    for ranks in (0, 2):
        p.run(ranks, "convert", text, "-o", p.path(f"rare{ranks}"), "--frequency-threshold", "3", "--dense", "log3", *SMALL)
        p.run(ranks, "convert", text, "-o", p.path(f"freq{ranks}"), "--numbering", "frequency", "--days", "1", *SMALL)
        p.run(ranks, "convert", text, "-o", p.path(f"hash{ranks}"), "--hash-rows", "97", "--frequency-threshold", "2", *SMALL)
    for name in ("rare", "freq", "hash"):
        expect(f"{name} on 2 ranks", contents(p.path(name + "0")) == contents(p.path(name + "2")))
        check_frequencies(p.path(name + "0"), lines)
    check_records(p.path("rare0"), lines, first_numbers(columns, 3), "log3")
    by_row = categories(p.path("freq0"))
    check_records(p.path("freq0"), lines, [{i: n for n, i in enumerate(ids)} for ids in by_row])
    for ids, column in zip(by_row, columns):
        counts = collections.Counter(column)
        expect("rows by falling frequency", [counts[i] for i in ids] == sorted(counts.values(), reverse=True))
    expect("one day is for training", sidecar(p.path("freq0"))["samples"]["train"] == 1000)
    hashed = [record[14:] for record in records_of(p.path("hash0"))]
    for t, column in enumerate(columns):
        rows, counts = collections.defaultdict(set), collections.Counter(row[t] for row in hashed)
        for i, row in zip(column, hashed):
            rows[i].add(row[t])
        expect("a row for each id, below 97", all(len(r) == 1 and max(r) < 97 for r in rows.values()))
        expect("rows that occur once are rare", all(n > 1 for row, n in counts.items() if row > 0))

    # MLPerf's files.
    p.run(2, "convert", p.path("days"), "-o", p.path("npy"), "--format", "npy", "--dense", "log3", *SMALL)
    labels, dense, ids = fields_of(lines)
    rows, at = first_numbers(columns), 0
    for day in range(4):
        kind, shape, values = npy(p.path(f"npy/day_{day}_dense.npy"))
        n = shape[0]
        expect("dense", kind == "<f4" and shape == (n, DENSE))
        for i, value in enumerate(values):
            want = math.log(max(dense[at + i // DENSE][i % DENSE], -2) + 3)
            expect(f"dense {i}: {value}, not {want}", abs(value - want) < 1e-5)
        expect("labels", npy(p.path(f"npy/day_{day}_labels.npy")) == ("<i4", (n, 1), tuple(labels[at:at + n])))
        members = npz(p.path(f"npy/day_{day}_sparse_multi_hot.npz"))
        for t in range(TABLES):
            want = tuple(rows[t][ids[at + i][t]] for i in range(n))
            expect("sparse", members[f"{t}.npy"] == ("<i4", (n, 1), want))
        at += n
    expect("all days", at == 1000)
    p.run(2, "check", p.path("npy"))
    first = p.run(0, "sample", p.path("npy"), "--first", "999", "--count", "3").splitlines()
    expect(f"the last sample, and no more: {first}", len(first) == 1 and first[0].split("\t")[0] == str(labels[999]) and
           first[0].split("\t")[14:] == [str(rows[t][ids[999][t]]) for t in range(TABLES)])
    other = p.run(0, "sample", p.path("r0"), "--count", "2").splitlines()
    expect("the first samples", [line.split("\t")[14:] for line in other] ==
           [[str(rows[t][ids[i][t]]) for t in range(TABLES)] for i in range(2)])
    expect("info names rows", f"{max(len(r) for r in rows)}" in p.run(0, "info", p.path("npy")))

    # What is wrong is said in one line, on several ranks as on one.
    said = p.refusal(2, "convert", broken(p, lines), "-o", p.path("bad"))
    expect(f"a malformed line, remedy and rank: {said}", "broken.txt: line 3, field 15" in said and
           said.endswith("; correct or remove the line (on rank 0)"))
    expect("no data set of it", not os.path.exists(p.path("bad.json")) and not os.path.exists(p.path("bad_train.bin")))
    with open(p.path("r0_test.bin"), "r+b") as file:
        file.seek(165)
        file.write(b"\x07")
    expect("a changed byte", "CRC-32" in p.refusal(2, "check", p.path("r0")))
    os.truncate(p.path("r0_test.bin"), 160)
    expect("a cut file", "r0_test.bin: has 160 bytes" in p.refusal(0, "info", p.path("r0")))
    expect("no such data", "tutti-data convert" in p.refusal(0, "check", p.path("none")))


def zstd(p, text):
    """Text that zstd compressed, in frames, by its own program."""
    if not shutil.which("zstd"):
        print("zstd is not here: text that it compressed is not tried")
        return
    packed = p.path("packed.zst")
    with open(packed, "wb") as file:
        with open(text, "rb") as plain:
            content = plain.read()
        for part in (content[:70001], content[70001:]):
            file.write(subprocess.run(["zstd", "-c"], input=part, capture_output=True, check=True).stdout)
    command = ["convert", packed, "-o", p.path("zstd"), *SMALL]
    done = subprocess.run(p.command(2, command), capture_output=True, text=True, timeout=100)
    if "build with libzstd" in done.stderr:
        print("this build has no zstd: text that it compressed is not converted")
        return
    expect(f"zstd: {done.stderr}", done.returncode == 0 and contents(p.path("zstd")) == contents(p.path("r0")))
    os.truncate(packed, os.path.getsize(packed) - 10)
    expect("cut zstd", "truncated zstd file; copy it again" in p.refusal(2, *command))


def broken(p, lines):
    fields = lines[2].split("\t")
    fields[14] = "x" * 1000
    write(p.path("broken.txt"), lines[:2] + ["\t".join(fields)] + lines[3:])
    return p.path("broken.txt")


if __name__ == "__main__":
    main()
