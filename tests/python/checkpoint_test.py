#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The reader of checkpoints, without MPI and without the library: on files that are written here, byte by byte.
Ends with 77 where NumPy is absent."""

import json
import os
import runpy
import struct
import sys
import tempfile
import zlib

try:
    import numpy as np
except ModuleNotFoundError as error:
    print(f"skipped: {error}")
    sys.exit(77)

if len(sys.argv) > 1:  # the folder alone, as on another machine
    sys.path.append(sys.argv[1])
    import checkpoint
else:
    import tutti.checkpoint as checkpoint


def headed(text, version=1):
    head = struct.pack("<8sIIQI", b"TUTTICKP", version, zlib.crc32(text), len(text), 0)
    return head + struct.pack("<I", zlib.crc32(head)) + text


def write_part(path, sections):
    """Sections behind a table of 4,096 bytes. Returns the checksum of the table."""
    table, content = [], b""
    for name, values in sections.items():
        data = values if isinstance(values, bytes) else np.ascontiguousarray(values).tobytes()
        table.append({"name": name, "offset": 32 + 4064 + len(content), "bytes": len(data), "crc": zlib.crc32(data)})
        content += data + bytes(-len(data) % 64)
    text = json.dumps(table).encode().ljust(4064)
    with open(path, "wb") as file:
        file.write(headed(text) + content)
    return zlib.crc32(text)


def write(folder, saves):
    """saves: a list of one list of sections a rank."""
    generations = []
    for number, parts in enumerate(saves, 1):
        crcs = [write_part(f"{folder}/part-{number}-{r}", sections) for r, sections in enumerate(parts)]
        generations.append({"generation": number, "part_crcs": crcs})
    manifest = generations.pop()
    if generations:
        manifest["before"] = generations
    with open(f"{folder}/manifest", "wb") as file:
        file.write(headed(json.dumps(manifest).encode(), 2 if generations else 1))
    return checkpoint.open(folder)


def equal(found, expected):
    expected = np.asarray(expected)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    assert np.array_equal(found, expected), (found, expected)


def fails(call, kind, text):
    try:
        call()
    except kind as error:
        assert text in str(error), error
        return
    raise AssertionError(f"no {kind.__name__} with {text!r}")


def values(rows, dim, of=0.0):
    return np.float32([[of + r + c / 64 for c in range(dim)] for r in range(rows)])


def test_rows_of_several_ranks_and_columns(folder):
    w = values(20, 6)
    saved = write(folder, [[
        {"embedding a b float32 rows 0:12 columns 0:6": w[:12], "embedding steps": np.uint64(7),
         "embedding cut float32 rows 0:20 columns 0:2": w[:, :2], "run": b'{"step": 3}'},
        {"embedding a b float32 rows 12:20 columns 0:6": w[12:], "bottom": w[0],
         "embedding cut float32 rows 0:20 columns 2:6": w[:, 2:]},
        {"embedding dealt float32 rows 0:19:2 columns 0:6": w[0::2]},
        {"embedding dealt float32 rows 1:20:2 columns 0:6": w[1::2], "other a float32 rows 0:1 columns 0:6": w[:1]}]])
    tables = saved.tables()
    assert sorted(tables) == ["a b", "cut", "dealt"] and list(saved.tables("other")) == ["a"]
    assert saved.steps() == 7 and saved.metadata == {"step": 3} and [s.parts for s in saved.saves] == [4]
    equal(saved.array("bottom", "float32"), w[0])
    for table in tables.values():
        assert table.shape == (20, 6) and len(table) == 20 and table.dtype == "float32" and table.state is None
        for index in (slice(None), slice(3, 9), slice(10, 15), slice(15, 2, -3), slice(5, 5), [3, 19, 3], [-1], 4, -20,
                      np.arange(0, 20, 7)):
            equal(table[index], w[index])
        fails(lambda: table[20], IndexError, "20 rows")
        fails(lambda: table[1.5], TypeError, "a number")
    mapped = tables["a b"][13:17]
    assert not mapped.flags.writeable and not mapped.flags.owndata
    saved.verify()


def test_types_and_states(folder):
    w = values(9, 4)
    half = w.astype(np.float16)
    brain = (w.view(np.uint32) >> 16).astype(np.uint16)
    small = np.arange(36, dtype=np.uint8).reshape(9, 4)
    scales = np.float32([[1 + r, -r] for r in range(9)])
    adam = np.float32(np.arange(72)).reshape(9, 2, 4)
    saved = write(folder, [[{
        "embedding h float16 rows 0:9 columns 0:4": half, "embedding h row-wise-adagrad rows 0:9 columns 0:1": w[:, 0],
        "embedding b bfloat16 rows 0:9 columns 0:4": brain, "embedding b adagrad rows 0:9 columns 0:4": w,
        "embedding q uint8 rows 0:9 columns 0:4": small, "embedding q scales rows 0:9 columns 0:4": scales,
        "embedding q adam rows 0:5 columns 0:4": adam[:5], "embedding q adam rows 5:9 columns 0:4": adam[5:]}]])
    tables = saved.tables()
    equal(tables["h"][2:5], half[2:5].astype(np.float32))
    equal(tables["b"][:], (brain.astype(np.uint32) << 16).view(np.float32))
    equal(tables["q"][1:9], small[1:] * scales[1:, :1] + scales[1:, 1:])
    assert [tables[t].state.optimizer for t in "hbq"] == ["row-wise-adagrad", "adagrad", "adam"]
    for index in (slice(None), slice(2, 4), [8, 1], 3):
        equal(tables["h"].state[index], w[index][..., 0])
        equal(tables["b"].state[index], w[index])
        equal(tables["q"].state[index], adam[index])


def test_increments_are_applied_in_their_order(folder):
    w, one, two = values(30, 4), values(30, 4, 100), values(30, 4, 200)
    state = np.float32(np.arange(30))
    first = np.uint32([0, 3, 7])
    saved = write(folder, [
        [{"embedding t float32 rows 0:30 columns 0:4": w, "embedding t row-wise-adagrad rows 0:30 columns 0:1": state,
          "embedding steps": np.uint64(1)}],
        [{"embedding t changed rows 10:29:2 columns 0:4 of increment 2": first,
          "embedding t float32 rows 10:29:2 columns 0:4 of increment 2": one[[10, 16, 24]],
          "embedding t row-wise-adagrad rows 10:29:2 columns 0:1 of increment 2": -state[[10, 16, 24]]}],
        [{"embedding t changed rows 0:30 columns 0:2 of increment 3": np.uint32([16, 29]),
          "embedding t float32 rows 0:30 columns 0:2 of increment 3": two[[16, 29], :2],
          "embedding t changed rows 10:29:2 columns 0:4 of increment 3": np.uint32([1]),
          "embedding t float32 rows 10:29:2 columns 0:4 of increment 3": two[[12]],
          "embedding t row-wise-adagrad rows 0:30 columns 0:1 of increment 3": 2 * state[[16, 29]],
          "embedding steps": np.uint64(3)}, {}]])
    w[[10, 16, 24]] = one[[10, 16, 24]]
    w[[16, 29], :2] = two[[16, 29], :2]
    w[12] = two[12]
    state[[10, 24]] *= -1
    state[[16, 29]] *= 2
    table = saved.tables()["t"]
    for index in (slice(None), slice(9, 17), [29, 16, 12, 0, 16], 24):
        equal(table[index], w[index])
        equal(table.state[index], state[index])
    assert saved.steps() == 3 and [(s.number, s.parts) for s in saved.saves] == [(1, 1), (2, 1), (3, 2)]
    assert saved.saves[0].bytes == os.path.getsize(f"{folder}/part-1-0")


def test_damage_is_named(folder):
    Error = checkpoint.Error
    fails(lambda: checkpoint.open(folder), Error, "manifest")
    w = values(10, 4)
    name = "embedding t float32 rows 0:10 columns 0:4"
    saved = write(folder, [[{name: w, "embedding gap float32 rows 5:10 columns 0:4": w[5:]}]])
    fails(lambda: saved.tables()["gap"][0:6], Error, "'gap' lacks")
    fails(lambda: saved.array("none"), Error, "'none'")
    fails(lambda: saved.array("embedding gap float32 rows 5:10 columns 0:4", "V3"), Error, "multiple")
    part = f"{folder}/part-1-0"
    good = open(part, "rb").read()
    for at in (0, 9, 20, 40, 5000):
        bad = bytearray(good)
        bad[at if at < 5000 else 4096 + 17] ^= 16
        open(part, "wb").write(bad)
        fails(lambda: checkpoint.open(folder).verify(), Error, name if at == 5000 else "part-1-0")
    for length in (10, 100, 4100):
        open(part, "wb").write(good[:length])
        fails(lambda: checkpoint.open(folder), Error, "truncated")
    open(part, "wb").write(headed(b"[7]".ljust(4064)) + good[4096:])
    fails(lambda: checkpoint.open(folder), Error, "differs from the manifest's")
    open(part, "wb").write(good)
    for text in (b"7", b"{}", b'{"generation":1,"part_crcs":7}', b"no"):
        open(f"{folder}/manifest", "wb").write(headed(text))
        fails(lambda: checkpoint.open(folder), Error, "manifest")
    open(f"{folder}/manifest", "wb").write(headed(b"{}", 3))
    fails(lambda: checkpoint.open(folder), Error, "version 3")


def trained(folder):
    """A checkpoint of all types and states, with an increment and other sections."""
    w, state = values(50, 6), np.float32(np.arange(50 * 12)).reshape(50, 2, 6)
    os.mkdir(folder)
    return write(folder, [
        [{"embedding a/b float32 rows 0:50 columns 0:6": w, "embedding a/b adam rows 0:50 columns 0:6": state,
          "embedding h float16 rows 0:50 columns 0:6": w.astype(np.float16), "bottom": w[0], "bottom state": w[1],
          "embedding h row-wise-adagrad rows 0:50 columns 0:1": w[:, 2], "run": b'{"position": {"step": 9}}',
          "categories 0": np.uint32([7, 8]), "nothing": b"", "embedding steps": np.uint64(4)}],
        [{"embedding a/b changed rows 0:50 columns 0:6 of increment 2": np.uint32([0, 49]),
          "embedding a/b float32 rows 0:50 columns 0:6 of increment 2": -w[[1, 2]],
          "embedding a/b adam rows 0:50 columns 0:6 of increment 2": -state[[1, 2]],
          "embedding steps": np.uint64(6)}]])


def test_exports_come_back_whole(folder):
    saved = trained(f"{folder}/from")
    for path in (f"{folder}/all.safetensors", f"{folder}/arrays"):
        checkpoint.export_file(saved, path)
        for time in range(2):
            checkpoint.import_file(path, f"{folder}/to")
        again = checkpoint.open(f"{folder}/to")
        again.verify()
        assert again.saves[-1].number % 2 == 0 and sorted(os.listdir(f"{folder}/to")) == [
            "manifest", f"part-{again.saves[-1].number}-0"]
        assert again.steps() == 6 and again.metadata == saved.metadata
        assert list(again.tables()) == list(saved.tables())
        for name, table in saved.tables().items():
            equal(again.tables()[name][:], table[:])
            equal(again.tables()[name].state[:], table.state[:])
            assert again.tables()[name].state.optimizer == table.state.optimizer
        for name in ("bottom", "bottom state", "run", "categories 0", "nothing"):
            equal(again.array(name), saved.array(name))
    arrays = np.load(f"{folder}/arrays/a_b.npy")
    equal(arrays, saved.tables()["a/b"][:])
    equal(np.load(f"{folder}/arrays/bottom.npy"), saved.array("bottom", "float32"))
    with open(f"{folder}/all.safetensors", "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    assert head["a/b"]["dtype"] == "F32" and head["a/b"]["shape"] == [50, 6]
    ends = [entry["data_offsets"] for name, entry in head.items() if name != "__metadata__"]
    assert ends[0][0] == 0 and all(a[1] == b[0] for a, b in zip(ends, ends[1:]))


def test_tensors_of_others_become_tables(folder):
    w = values(30, 5)
    head = {"user.weight": {"dtype": "F32", "shape": [30, 5], "data_offsets": [0, 600]},
            "item.weight": {"dtype": "BF16", "shape": [30, 5], "data_offsets": [600, 900]},
            "bias": {"dtype": "F32", "shape": [5], "data_offsets": [900, 920]}}
    text = json.dumps(head).encode() + b" "  # which moves the values to odd addresses
    brain = (w.view(np.uint32) >> 16).astype(np.uint16)
    path = f"{folder}/other.safetensors"
    good = len(text).to_bytes(8, "little") + text + w.tobytes() + brain.tobytes() + w[3].tobytes()
    open(path, "wb").write(good)
    checkpoint.import_file(path, f"{folder}/to")
    saved = checkpoint.open(f"{folder}/to")
    equal(saved.tables()["user.weight"][:], w)
    equal(saved.tables()["item.weight"][:], (brain.astype(np.uint32) << 16).view(np.float32))
    equal(saved.array("bias", "float32"), w[3])
    os.mkdir(f"{folder}/npy")
    np.save(f"{folder}/npy/t.npy", np.float64(w))
    checkpoint.import_file(f"{folder}/npy", f"{folder}/to")
    equal(checkpoint.open(f"{folder}/to").tables()["t"][:], w)
    for bad in (good[:700], b"", b"\xff" * 50):
        open(path, "wb").write(bad)
        fails(lambda: checkpoint.import_file(path, f"{folder}/to"), checkpoint.Error, "other.safetensors")
    open(f"{folder}/npy/t.npy", "wb").write(b"no")
    fails(lambda: checkpoint.import_file(f"{folder}/npy", f"{folder}/to"), checkpoint.Error, "t.npy")
    equal(checkpoint.open(f"{folder}/to").tables()["t"][:], w)


def test_the_command(folder):
    def run(*words):
        sys.argv = ["checkpoint", *words]
        try:
            runpy.run_module(checkpoint.__name__, run_name="__main__")
        except SystemExit as end:
            return end.code
    trained(f"{folder}/from")
    assert run("export", f"{folder}/from", f"{folder}/arrays") == 0 and run("check", f"{folder}/from") == 0
    assert run("import", f"{folder}/arrays", f"{folder}/to") == 0 and run("info", f"{folder}/to") == 0
    assert run("info", f"{folder}/none") == 1
    equal(checkpoint.open(f"{folder}/to").tables()["h"][7:9], checkpoint.open(f"{folder}/from").tables()["h"][7:9])


for name, test in list(globals().items()):
    if name.startswith("test_"):
        with tempfile.TemporaryDirectory() as folder:
            test(folder)
        print(f"{name}: ok")
