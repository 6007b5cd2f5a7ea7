# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of tutti-data share: how the program is started, Criteo text, and readers of the files it writes."""
import argparse
import ast
import json
import os
import random
import shlex
import struct
import subprocess
import sys
import tempfile
import zipfile

DENSE, TABLES = 13, 26


def expect(what, condition):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


class Program:
    def __init__(self, description):
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--program", required=True)
        parser.add_argument("--launcher", required=True, help="launcher and its flags, one string")
        args = parser.parse_args()
        self.program = args.program
        self.launcher = shlex.split(args.launcher)
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-data-")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, ranks, flags):
        return (self.launcher + ["-n", str(ranks)] if ranks > 0 else []) + [self.program] + flags

    def run(self, ranks, *flags):
        """Runs to a good end and gives what was printed; 0 ranks: without the launcher."""
        done = subprocess.run(self.command(ranks, list(flags)), capture_output=True, text=True, timeout=100)
        expect(f"{ranks} ranks, {' '.join(flags)}: {done.returncode}\n{done.stdout}{done.stderr}", done.returncode == 0)
        return done.stdout

    def try_run(self, ranks, *flags):
        """Whether a run that may come to a good end is refused, in one line."""
        done = subprocess.run(self.command(ranks, list(flags)), capture_output=True, text=True, timeout=100)
        if done.returncode != 0:
            self.check_refusal(done, flags)
        return done.returncode != 0

    def refusal(self, ranks, *flags):
        """The one line in which a run is refused."""
        done = subprocess.run(self.command(ranks, list(flags)), capture_output=True, text=True, timeout=100)
        return self.check_refusal(done, flags)

    def check_refusal(self, done, flags):
        lines = [line for line in done.stderr.splitlines() if line.startswith("tutti-data: ")]
        expect(f"{flags} is refused: {done.stdout}{done.stderr}", done.returncode == 1 and len(lines) == 1)
        expect(f"a line of at most 300 characters beside the folder: {lines[0]}",
               len(lines[0].replace(self.folder.name, "")) <= 300)
        return lines[0]


def lines_of(count, seed=1, ids=50):
    """Criteo text: small and negative and missing numbers, ids that repeat, and some that do not."""
    r = random.Random(seed)
    lines = []
    for _ in range(count):
        dense = [r.choice(["", "-1", "-2", "0", str(r.randint(1, 9999))]) for _ in range(DENSE)]
        category = ["" if r.random() < .1 else f"{r.getrandbits(32) if r.random() < .1 else 7 * int(ids * r.random() ** 2):08x}"
                    for _ in range(TABLES)]
        lines.append("\t".join([str(r.randint(0, 1))] + dense + category))
    return lines


def fields_of(lines):
    """Labels, dense numbers and ids of lines."""
    rows = [line.split("\t") for line in lines]
    return ([int(row[0]) for row in rows], [[int(x or 0) for x in row[1:14]] for row in rows],
            [[int(x or "0", 16) for x in row[14:]] for row in rows])


def write(path, lines, end="\n"):
    with open(path, "w", encoding="ascii", newline="") as file:
        file.write(end.join(lines) + end)


def records_of(prefix):
    """All records of the files of a prefix, in the order of the samples."""
    content = b""
    for name in ("train", "test", "val"):
        if os.path.exists(f"{prefix}_{name}.bin"):
            with open(f"{prefix}_{name}.bin", "rb") as file:
                content += file.read()
    return [struct.unpack("<40i", content[i:i + 160]) for i in range(0, len(content), 160)]


def array_of(content):
    """Type, shape and elements of a .npy."""
    length = struct.unpack("<H", content[8:10])[0]
    header = ast.literal_eval(content[10:10 + length].decode())
    expect("the header of a .npy", content[:8] == b"\x93NUMPY\x01\x00" and (10 + length) % 64 == 0)
    code = {"<f4": "f", "<i4": "i", "<i8": "q"}[header["descr"]]
    count = 1
    for extent in header["shape"]:
        count *= extent
    return header["descr"], header["shape"], struct.unpack(f"<{count}{code}", content[10 + length:])


def npy(path):
    with open(path, "rb") as file:
        return array_of(file.read())


def npz(path):
    """The members of an .npz, read by Python's zipfile, which looks at the checksums; and where MLPerf's reader expects
    the array, which passes the header by its length."""
    members = {}
    with zipfile.ZipFile(path) as file, open(path, "rb") as raw:
        for info in file.infolist():
            expect("members are stored", info.compress_type == 0)
            content = file.read(info)
            raw.seek(info.header_offset + len(info.FileHeader()) + 20)
            expect("the array is where MLPerf's reader looks", raw.read(len(content)) == content)
            members[info.filename] = array_of(content)
    return members


def sidecar(prefix):
    path = os.path.join(prefix, "data.json") if os.path.isdir(prefix) else prefix + ".json"
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def contents(prefix):
    """All files of a data set but the sidecar, by the end of their names; the sidecar without names."""
    data = sidecar(prefix)
    folder = prefix if os.path.isdir(prefix) else os.path.dirname(prefix)
    found = {}
    for entry in data["files"]:
        with open(os.path.join(folder, entry["name"]), "rb") as file:
            found[entry["name"].replace(os.path.basename(prefix), "")] = file.read()
        entry["name"] = ""
    found["json"] = json.dumps(data)
    return found
