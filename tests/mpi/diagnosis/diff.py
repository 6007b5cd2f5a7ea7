#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""`tutti diff` names the first call in which two runs part: TUTTI_CHECKSUM, and faults that programs plant.

diff.py --tutti TUTTI --launcher LINE [--faults] [--preload LIBRARY] PROGRAM...
"""
import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile

CALLS = ["bcast", "allreduce", "iallreduce", "allgather", "gatherv", "scatter", "strided", "reduce_scatter_block",
         "alltoall", "exscan", "race", "operation"]  # of a step of diffed.cpp, in its order
FAULTY_STEP = 2


def sequence(call):
    """The number of a call of the faulty step; the first one of the communicator makes the persistent call."""
    return 1 + FAULTY_STEP * len(CALLS) + CALLS.index(call) + 1


# Of each fault: how the runs part, in which call, of which number, from which element on, who differs. Ranks are 3.
FAULTS = {
    "bcast": ("given", "bcast", sequence("bcast"), 5, [0]),
    "rank": ("given", "allreduce", sequence("allreduce"), 37, [1]),
    "request": ("given", "allreduce", sequence("iallreduce"), 95, [0]),
    "gather": ("given", "allgather", sequence("allgather"), 0, [2]),
    "strided": ("given", "allreduce", sequence("strided"), 95, [0]),
    "race": ("given", "allreduce", sequence("race"), 50, [1]),
    "neighbor": ("given", "neighbor_allgather", FAULTY_STEP + 1, 2, [2]),  # has no datatype: bytes
    "persistent": ("given", "bcast", 1, 64, [0]),
    "longer": ("end", "barrier", 1 + 4 * len(CALLS) + 1, None, [0]),
}


class Runs:
    def __init__(self, options, folder):
        self.options = options
        self.folder = pathlib.Path(folder)

    def run(self, name, ranks, *arguments, **variables):
        """Runs the program, and gives the folder of its recorders."""
        where = self.folder / name
        where.mkdir()
        preload = ["env", f"LD_PRELOAD={self.options.preload}"] if self.options.preload else []
        line = [*shlex.split(self.options.launcher), "-n", str(ranks), *preload, *self.options.program, *arguments]
        environment = {**os.environ, "TUTTI_TUNING": "off", "TUTTI_CALIBRATION": "off", "TUTTI_TIMEOUT": "30",
                       "TUTTI_FLIGHT": str(where), "TUTTI_FLIGHT_ENTRIES": "512", "TUTTI_CHECKSUM": "1", **variables}
        done = subprocess.run(line, env=environment, text=True, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return where

    def diff(self, *folders, code):
        """The comparisons within runs and between them."""
        line = [self.options.tutti, "diff", *map(str, folders)]
        done = subprocess.run([*line, "--json"], text=True, capture_output=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (code, ""), f"{line} ends with {done.returncode}\n{done.stdout}{done.stderr}"
        return json.loads(done.stdout)

    def text(self, *folders):
        line = [self.options.tutti, "diff", *map(str, folders)]
        return subprocess.run(line, text=True, capture_output=True, timeout=60, check=False).stdout


def check(found, kind, call, number, element, ranks):
    assert (found["kind"], found["call"], found["one"]["sequence"], found["ranks"]) == (kind, call, number, ranks), found
    if element is not None:
        first, last = found.get("elements") or (byte // 8 for byte in found["bytes"])
        assert first <= element <= last < first + 8, found


def place(text, file):
    """The place of the call is known where addr2line is."""
    assert not shutil.which("addr2line") or f"at {file}:" in text, text


def check_faults(runs):
    good = runs.run("good", 3)
    within, again, between = runs.diff(good, runs.run("none", 3, "none"), code=0)
    assert within["compared"] == again["compared"] == 4 * 8, within
    assert between["compared"] == 4 * (len(CALLS) + 2) and between["skipped"] == 0, between
    for fault, (kind, call, number, element, ranks) in FAULTS.items():
        found = runs.diff(good, runs.run(fault, 3, fault), code=1)[2]["difference"]
        check(found, kind, call, number, element, ranks)
        if kind == "given":
            assert found["equal_ranks"] == [rank for rank in range(3) if rank not in ranks], found
            place(found["text"], "diffed.cpp")


def check_results(runs):
    """The data that ranks give are equal; the results are not."""
    one = runs.run("ring", 3, "order", TUTTI_ALGORITHM="allreduce:mpi:ring")
    other = runs.run("doubling", 3, "order", TUTTI_ALGORITHM="allreduce:mpi:recursive_doubling")
    found = runs.diff(one, other, code=1)[2]["difference"]
    assert (found["kind"], found["call"], found["one"]["sequence"]) == ("taken", "allreduce", 5), found
    assert found["one"]["way"] == "mpi:ring" and found["other"]["way"] == "mpi:recursive_doubling", found
    # Within one run: an operation whose results differ between ranks.
    within = runs.diff(runs.run("operation", 3, "operation"), code=1)[0]["difference"]
    assert (within["kind"], within["one"]["sequence"]) == ("unequal", sequence("operation")), within
    assert within["elements"][0] <= 90 <= within["elements"][1], within
    assert set(within["ranks"]) | set(within["equal_ranks"]) == {0, 1, 2}, within
    found = runs.diff(runs.run("one_end", 3, "other"), runs.run("other_end", 3, "another"), code=1)[2]["difference"]
    assert (found["kind"], found["call"]) == ("call", "bcast") and "allreduce" in found["text"], found


def check_sizes(runs):
    """Runs on other numbers of ranks part in no call of the same meaning, unless one has a fault."""
    two = runs.run("two", 2)
    between = runs.diff(two, runs.run("four", 4), code=0)[2]
    # alltoall, exscan and those of neighbors have none.
    assert (between["compared"], between["skipped"]) == (4 * (len(CALLS) - 1), 4 * 3), between
    found = runs.diff(two, runs.run("four_rank", 4, "rank"), code=1)[2]["difference"]
    check(found, "taken", "allreduce", sequence("allreduce"), 37, [])
    found = runs.diff(two, runs.run("four_gather", 4, "gather"), code=1)[2]["difference"]
    check(found, "given", "allgather", sequence("allgather"), None, [])


def check_ring(runs):
    """Calls that recorders do not hold any more leave a trace in those that they do."""
    variables = {"TUTTI_FLIGHT_ENTRIES": "64"}
    one = runs.run("often", 1, "often", **variables)
    assert "difference" not in runs.diff(one, runs.run("often_again", 1, "often", **variables), code=0)[2]
    found = runs.diff(one, runs.run("often_faulty", 1, "often_faulty", **variables), code=1)[2]["difference"]
    assert found["kind"] == "before" and "TUTTI_FLIGHT_ENTRIES" in found["text"], found


def check_refusals(runs):
    bare = runs.run("bare", 1, TUTTI_CHECKSUM="0")
    for folders, words in (([bare, bare], "TUTTI_CHECKSUM=1"), ([runs.folder / "nowhere"], "cannot be read"),
                           ([runs.folder], "has no flight recorders")):
        line = [runs.options.tutti, "diff", *map(str, folders)]
        done = subprocess.run(line, text=True, capture_output=True, timeout=60, check=False)
        assert done.returncode != 0 and words in done.stderr and done.stderr.count("\n") == 1, done.stderr


def check_program(runs):
    """Any program: the last of two ranks gives another element 30 to the second of three sums."""
    good = runs.run("good", 2)
    assert runs.diff(good, runs.run("again", 2), code=0)[2]["compared"] == 3
    bad = runs.run("bad", 2, "bad")
    found = runs.diff(good, bad, code=1)[2]["difference"]
    check(found, "given", "allreduce", found["one"]["sequence"], 30, [1])
    assert found["equal_ranks"] == [0] and found["text"] in runs.text(good, bad), found
    assert found["one"]["given"] != found["other"]["given"] and found["one"]["taken"] != found["other"]["taken"], found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tutti", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("--preload")
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(options, folder)
        for one in (check_faults, check_results, check_sizes, check_ring, check_refusals) if options.faults else (check_program,):
            one(runs)


main()
