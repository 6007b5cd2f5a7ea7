#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Takes away the order of one atomic access after the other, and says which seed of tutti_simulation --weak finds that.

    tests/simulation/orders.py build/release/tests/tutti_simulation --seeds 1000          the whole table
    tests/simulation/orders.py build/release/tests/tutti_simulation --only arena.cpp:426  some rows
    tests/simulation/orders.py PROGRAM --only 'exchange.hpp store' --find                 fails if a row is not found

A row is a line of a source with its operation and order, and each weaker order. A line that the compiler has copied to
several places is weakened at all of them. Needs addr2line."""
import argparse
import collections
import concurrent.futures
import re
import shutil
import subprocess
import sys

WEAKER = {"acquire": ["relaxed"], "release": ["relaxed"], "acq_rel": ["acquire", "release", "relaxed"],
          "seq_cst": ["acq_rel", "relaxed"]}
SKIPPED = 77


def lines_of(program, sites):
    """{site: "file:line"}, of the innermost line that is the library's own."""
    told = subprocess.run(["addr2line", "-a", "-i", "-e", program, *sites], capture_output=True, text=True, check=True)
    lines, site = {}, None
    for line in told.stdout.splitlines():
        if line.startswith("0x"):
            site = hex(int(line, 16))
        elif "/src/" in line and site not in lines:
            lines[site] = line.split("/src/")[-1].split(" ")[0]
    return lines


def accesses(program, seeds):
    """[(line, operation, order, times, sites)] of the accesses that these seeds make."""
    run = subprocess.run([program, "--weak", "--seeds", str(seeds), "--orders"], capture_output=True, text=True,
                         check=True)
    rows = [line.split("\t") for line in run.stdout.splitlines() if line.startswith("0x")]
    lines = lines_of(program, [row[0] for row in rows])
    found = collections.defaultdict(lambda: [0, []])
    for site, operation, order, times in rows:
        if site in lines:
            entry = found[lines[site], operation, order]
            entry[0] += int(times)
            entry[1].append(site)
    return [(*key, *entry) for key, entry in sorted(found.items())]


def weaken(program, seeds, sites, order):
    """The seed that finds it, or "", and the words of the program."""
    run = subprocess.run([program, "--weak", "--seeds", str(seeds), "--weaken", ",".join(sites), "--to", order],
                         capture_output=True, text=True)
    found = re.search(r"found by seed (\d+): (.*)", run.stdout)
    return found.groups() if found else ("", run.stderr.strip())


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="tutti_simulation")
    parser.add_argument("--seeds", type=int, default=200, help="seeds for each row")
    parser.add_argument("--look", type=int, default=50, help="seeds by which the accesses are found")
    parser.add_argument("--only", nargs="+", default=[], help="words of rows: 'exchange.hpp store', 'seq_cst'")
    parser.add_argument("--find", action="store_true", help="fail if a row is not found")
    parser.add_argument("--jobs", type=int, default=1)
    return parser.parse_args()


def main():
    a = read_arguments()
    if shutil.which("addr2line") is None:
        print("skipped: there is no addr2line")
        return SKIPPED
    rows = [(row, order) for row in accesses(a.program, a.look) for order in WEAKER.get(row[2], [])
            if not a.only or any(all(word in " ".join(row[:3]) for word in words.split()) for words in a.only)]
    missed = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        ends = pool.map(lambda job: weaken(a.program, a.seeds, job[0][4], job[1]), rows)
        for ((line, operation, order, times, _), weaker), (seed, words) in zip(rows, ends):
            missed += not seed
            print(f"{line:34} {operation:18} {order:>8} -> {weaker:8} {times:>9} times: "
                  f"{'seed ' + seed if seed else 'not found'}: {words[:100]}", flush=True)
    print(f"{len(rows) - missed} of {len(rows)} found")
    return 1 if a.find and (missed or not rows) else 0


if __name__ == "__main__":
    sys.exit(main())
