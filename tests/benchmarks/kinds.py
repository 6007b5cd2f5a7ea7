#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of MPI calls, with libtutti-mpi and with the MPI alone, in one run: the table of docs/preload.md.

kinds.c is compiled over the MPI and knows nothing of Tutti. In each round it runs once as it is and once with the library
preloaded, in turn; a cell's ratio is the MPI's time over Tutti's in the same round: above 1, the program is faster with
the library. Printed is the median over the rounds.

    kinds.py                                        # prints the table
    kinds.py --ranks 4 --rounds 5 --bytes 64        # a part of it
    kinds.py --write docs/preload.md                # puts it between that page's marks
    kinds.py --json kinds.json                      # writes the times of all rounds
"""
import argparse
import collections
import datetime
import json
import math
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MARKS = "<!-- kinds.py: -->", "<!-- :kinds.py -->"
BEHIND = 0.95


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--library", type=pathlib.Path, default=pathlib.Path("build/release/lib/libtutti-mpi.so"), help="is preloaded")
    add("--ranks", "-n", type=int, default=2)
    add("--rounds", type=int, default=5)
    add("--seconds", type=float, default=0.02, help="of a cell in a round")
    add("--bytes", type=int, nargs="+", default=[64, 8192, 262144], help="of a block, multiples of 8")
    add("--kinds", default="all", help="names between commas, as in kinds_list.c")
    add("--mpicc", default="mpicc.mpich", help="compiles kinds.c")
    add("--mpiexec", default="mpiexec.mpich", help="starts it")
    add("--write", type=pathlib.Path, metavar="PAGE", help="puts the table between the marks of a page")
    add("--json", type=pathlib.Path, metavar="FILE", help="writes the times of all rounds")
    options = parser.parse_args()
    if options.ranks < 1 or options.rounds < 1:
        parser.error("--ranks and --rounds: at least 1")
    if any(size < 8 or size % 8 for size in options.bytes):
        parser.error("--bytes: multiples of 8")
    if not shutil.which(options.mpicc):
        parser.error(f"--mpicc: there is no {options.mpicc}; name a compiler of the MPI that libtutti-mpi was built with")
    if not options.library.exists():
        parser.error(f"--library: {options.library} is not there; build the target tutti_mpi")
    return options


def times(options, program, library):
    """By kind and bytes, in seconds."""
    command = [options.mpiexec, "-n", str(options.ranks)]
    if library:
        command += ["env", f"LD_PRELOAD={library}"]
    command += [program, str(options.seconds), options.kinds, *map(str, options.bytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"kinds.py: {' '.join(command)}: {done.stderr[-600:]}")
    rows = (line.split("\t") for line in done.stdout.splitlines())
    return {(kind, int(size)): float(seconds) for kind, size, seconds in rows}


def measure(options):
    """By kind and bytes: the MPI's times, and the ratios, of all rounds."""
    alone, ratios = collections.defaultdict(list), collections.defaultdict(list)
    library = options.library.resolve()
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "kinds")
        sources = [HERE / "kinds.c", HERE / "kinds_list.c"]
        subprocess.run([options.mpicc, "-std=c11", "-O2", *sources, "-o", program], check=True)
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr, flush=True)
            pair = {with_it: times(options, program, library if with_it else None)
                    for with_it in ((False, True) if number % 2 else (True, False))}
            for cell, seconds in pair[False].items():
                alone[cell].append(seconds)
                ratios[cell].append(seconds / pair[True][cell])
    return {cell: (alone[cell], ratios[cell]) for cell in alone}


def medians(rounds):
    return {cell: tuple(map(statistics.median, values)) for cell, values in rounds.items()}


def write_json(path, rounds):
    cells = [{"kind": kind, "bytes": size, "mpi_seconds": alone, "ratios": ratios}
             for (kind, size), (alone, ratios) in rounds.items()]
    path.write_text(json.dumps({"program": "kinds", "cells": cells}, indent=1) + "\n", encoding="utf-8")


def mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def size_text(size):
    for shift, unit in ((20, "MiB"), (10, "KiB")):
        if size >= 1 << shift and size % (1 << shift) == 0:
            return f"{size >> shift} {unit}"
    return f"{size} B"


def processor():
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith(("model name", "model\t"))]
    return ", model ".join(dict.fromkeys(reversed(names))) or platform.machine()


def cell_text(cells, kind, size):
    if (kind, size) not in cells:
        return ""
    seconds, ratio = cells[kind, size]
    return f"{ratio:.2f} ({seconds * 1e6:.3g} us)"


def table(options, cells):
    kinds = list(dict.fromkeys(kind for kind, _ in cells))
    ratios = [ratio for _, ratio in cells.values()]
    behind = sum(ratio < BEHIND for ratio in ratios)
    lines = [f"{processor()}, {options.ranks} ranks, {datetime.date.today()}, `kinds.py`, medians of {options.rounds} "
             f"rounds. Geometric mean {mean(ratios):.2f}; {behind} of {len(ratios)} cells below {BEHIND}.", ""]
    lines.append("| kind | " + " | ".join(map(size_text, options.bytes)) + " |")
    lines.append("|---|" + "---|" * len(options.bytes))
    for kind in kinds:
        lines.append(f"| {kind} | " + " | ".join(cell_text(cells, kind, size) for size in options.bytes) + " |")
    return "\n".join(lines)


def write(page, text):
    before, found, rest = page.read_text(encoding="utf-8").partition(MARKS[0])
    _, ended, after = rest.partition(MARKS[1])
    if not found or not ended:
        sys.exit(f"kinds.py: {page} lacks the marks {MARKS[0]} and {MARKS[1]}")
    page.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{after}", encoding="utf-8")


def main():
    options = arguments()
    rounds = measure(options)
    text = table(options, medians(rounds))
    print(text)
    if options.json:
        write_json(options.json, rounds)
    if options.write:
        write(options.write, text)


if __name__ == "__main__":
    main()
