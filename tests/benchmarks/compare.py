#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares two files that record.py has written on one kind of processor: the first before a change, the second after.

A cell is Tutti's speed over its best peer's of the same run. It has lost if its 95 % interval lies below the one before,
and its median by 3 % or more. Ends with 1 if a cell has lost.

    compare.py before.json after.json
"""
import argparse
import json
import pathlib
import statistics
import sys

LEAST = 0.97  # of the ratio before: a smaller loss is none


def read(path):
    """(measurement, row, column) → ratio, low, high of the cells that have an interval."""
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
        return {(f"{m['kind']}, {m['title']}", row[0], column): (float(cell[1]), *map(float, interval))
                for m in report["measurements"] for row, ranges in zip(m.get("rows", []), m.get("intervals", []))
                for column, cell, interval in zip(m["columns"], row, ranges) if isinstance(cell, list)}
    except (OSError, ValueError, KeyError, TypeError) as wrong:
        sys.exit(f"{path}: not a file of record.py ({type(wrong).__name__}: {wrong})")


def lost(before, after):
    return after[2] < before[1] and after[0] < LEAST * before[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    before, after = read(options.before), read(options.after)
    both = [cell for cell in before if cell in after]
    if not both:
        sys.exit("the files have no cell in common: record both with the same ranks and measurements")
    losses = [cell for cell in both if lost(before[cell], after[cell])]
    for cell in losses:
        print(f"{cell[0]}: {cell[1]}, {cell[2]}: {before[cell][0]:.2f} ({before[cell][1]:.2f} … {before[cell][2]:.2f}) -> "
              f"{after[cell][0]:.2f} ({after[cell][1]:.2f} … {after[cell][2]:.2f})")
    gains = sum(lost(after[cell], before[cell]) for cell in both)
    change = statistics.geometric_mean(after[cell][0] / before[cell][0] for cell in both)
    print(f"{len(both)} cells: {len(losses)} lost, {gains} gained, ratios {change:.3f} times those before (geometric mean)")
    return 1 if losses else 0


if __name__ == "__main__":
    sys.exit(main())
