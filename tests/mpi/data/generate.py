# SPDX-License-Identifier: BSD-3-Clause
"""tutti-data generate: the same bytes on any number of ranks, Zipf's law, bags, labels that follow the ids."""
import collections
import os

from support import Program, contents, expect, npy, npz, records_of, sidecar

SMALL = ["--part-samples", "500"]


def main():
    p = Program(__doc__)
    flags = ["--samples", "4000", "--rows", "2000", "--zipf", "1.1", "--days", "4", *SMALL]
    for ranks in (0, 2, 3):
        p.run(ranks, "generate", "-o", p.path(f"r{ranks}"), *flags)
        expect(f"{ranks} ranks", contents(p.path(f"r{ranks}")) == contents(p.path("r0")))
    p.run(0, "check", p.path("r0"))
    p.run(0, "generate", "-o", p.path("seed"), "--seed", "2", *flags)
    expect("another seed", records_of(p.path("seed")) != records_of(p.path("r0")))
    records = records_of(p.path("r0"))
    data = sidecar(p.path("r0"))
    expect("rows as asked for", all(table["rows"] == 2000 for table in data["tables"]))
    harmonic = sum(k ** -1.1 for k in range(1, 2001))
    for t in range(26):
        top = collections.Counter(record[14 + t] for record in records).most_common(1)[0]
        expect(f"the hottest row of table {t}: {top}", abs(top[1] / 4000 * harmonic - 1) < 0.2)
        expect("the sidecar knows it", tuple(data["tables"][t]["hottest"][0]) == top)
    share = sum(record[0] for record in records) / 4000
    expect(f"labels of both kinds: {share}", 0.1 < share < 0.9)
    differ = 0
    for t in range(26):  # samples with the hottest row against those with the next one
        rows = [row for row, _ in data["tables"][t]["hottest"][:2]]
        means = []
        for row in rows:
            labels = [record[0] for record in records if record[14 + t] == row]
            means.append(sum(labels) / len(labels))
        differ += abs(means[0] - means[1]) > 0.08
    expect(f"labels follow the ids of {differ} tables", differ >= 3)

    # Three tables, bags of fixed and of any length, uniform rows; other numbers of dense features.
    shape = ["--samples", "1000", "--rows", "50-60-70", "--zipf", "0", "--hotness", "3-1-2", "--format", "npy", "--days", "2",
             "--dense-features", "4", "--part-samples", "100"]
    for ranks in (0, 3):
        p.run(ranks, "generate", "-o", p.path(f"fixed{ranks}"), *shape)
        p.run(ranks, "generate", "-o", p.path(f"ragged{ranks}"), "--ragged", *shape)
    for name in ("fixed", "ragged"):
        expect(name, contents(p.path(name + "0")) == contents(p.path(name + "3")))
        p.run(2, "check", p.path(name + "0"))
    expect("dense features", npy(p.path("fixed0/day_0_dense.npy"))[1] == (500, 4))
    fixed, ragged = (npz(p.path(f"{name}0/day_1_sparse_multi_hot.npz")) for name in ("fixed", "ragged"))
    for t, (rows, hotness) in enumerate(((50, 3), (60, 1), (70, 2))):
        expect("bags of fixed length", fixed[f"{t}.npy"][1] == (500, hotness))
        expect("all rows occur", set(fixed[f"{t}.npy"][2]) <= set(range(rows)) and
               len(set(fixed[f"{t}.npy"][2])) > 0.9 * rows)
        offsets = ragged[f"{t}_offsets.npy"][2]
        lengths = [b - a for a, b in zip(offsets, offsets[1:])]
        expect("offsets", offsets[0] == 0 and len(lengths) == 500 and offsets[-1] == ragged[f"{t}.npy"][1][0])
        expect("bags of any length", set(lengths) == set(range(hotness + 1)))
    bag = p.run(0, "sample", p.path("fixed0"), "--first", "500", "--count", "1").split("\t")[5]
    expect("a bag", bag == ",".join(str(i) for i in fixed["0.npy"][2][:3]))
    expect("ragged data in info", "0-3" in p.run(0, "info", p.path("ragged0")))
    expect("binary has no bags", "--format npy" in p.refusal(0, "generate", "-o", p.path("x"), "--hotness", "2"))
    expect("nothing else stays", not [n for n in os.listdir(p.folder.name) if "draft" in n or "parts" in n])


if __name__ == "__main__":
    main()
