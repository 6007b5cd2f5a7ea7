#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Plants one defect after the other in a copy of the tree, builds the related tests and expects one of them to fail.

    tests/mutants/run.py                        all of list.txt: about an hour on two idle cores
    tests/mutants/run.py --rows 12 30-40        some rows
    tests/mutants/run.py --only config.cpp      rows of some files
    tests/mutants/run.py --sample 20 --seed 3   rows drawn by chance
    tests/mutants/run.py --seconds 600          begins no row after ten minutes
    tests/mutants/run.py --resume               leaves out rows that were caught before and have not changed since
    tests/mutants/run.py --check                says whether each row fits its file, and builds nothing

Each group of tests first runs on the good tree: rows of a group that fails there prove nothing, and say so. A test that
hangs counts as one that fails if it took a tenth of that time at most on the good tree.
"""
import argparse
import os
import pathlib
import random
import sys
import time

sys.dont_write_bytecode = True
from rows import check, read_list  # noqa: E402
from tree import Copy  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEAST_LIMIT = 20  # seconds before a test counts as one that hangs


class Judge:
    """Builds and runs groups of tests."""

    def __init__(self, copy, groups):
        self.copy, self.groups, self.known, self.spent = copy, groups, {}, 0.0

    def good(self, name):
        """Seconds of each test of a group on the good tree, shortest first, or in words why there are none."""
        if name not in self.known:
            start = time.monotonic()
            self.known[name] = self.measure(self.copy.chosen(self.groups[name]))
            self.spent += time.monotonic() - start
            print(f"on the good tree: {name}: {self.told(self.known[name])}", flush=True)
        return self.known[name]

    def measure(self, tests):
        if not tests:
            return "no test has such a name"
        problem = self.copy.make(tests)
        if problem:
            return f"does not build: {problem}"
        times = []
        for test in tests:
            end, seconds = test.run(test.limit)
            if end not in ("passed", "skipped"):
                return f"{test.name} {end}"
            if end == "passed":
                times.append((seconds, test))
        return sorted(times, key=lambda pair: pair[0]) or "all tests are skipped"

    @staticmethod
    def told(known):
        return known if isinstance(known, str) else f"{len(known)} tests, {sum(s for s, _ in known):.0f} s"

    def judge(self, mutant):
        known = [self.good(name) for name in mutant.groups]
        for name, found in zip(mutant.groups, known):
            if isinstance(found, str):
                return "no proof", f"{name}: {found}"
        mend = self.copy.spoil(mutant)
        if mend is None:
            return "unfit", "the text does not stand there once"
        try:
            return self.expect_failure(sorted((pair for found in known for pair in found), key=lambda pair: pair[0]))
        finally:
            mend()

    def expect_failure(self, times):
        problem = self.copy.make([test for _, test in times])
        if problem:
            return "no build", problem
        for seconds, test in times:
            end, _ = test.run(max(LEAST_LIMIT, 10 * seconds))
            if end in ("failed", "timed out"):
                return "caught", f"{test.name} {end}"
        return "SURVIVED", ""


def numbers(words):
    for word in words:
        first, _, last = word.partition("-")
        yield from range(int(first), int(last or first) + 1)


def select(mutants, args):
    mutants = [mutant for mutant in mutants if args.only in mutant.path]
    if args.rows:
        wanted = set(numbers(args.rows))
        mutants = [mutant for mutant in mutants if mutant.number in wanted]
    if args.sample:
        chosen = random.Random(args.seed).sample(mutants, min(args.sample, len(mutants)))
        mutants = sorted(chosen, key=lambda mutant: mutant.number)
    return mutants


def run(mutants, groups, args):
    args.folder.mkdir(parents=True, exist_ok=True)
    record = args.folder / "caught.txt"  # rows, without their numbers
    before = set(record.read_text(encoding="utf-8").splitlines()) if args.resume and record.exists() else set()
    todo = [mutant for mutant in mutants if str(mutant)[4:] not in before]
    judge, start, results = Judge(Copy(ROOT, args.folder, args.jobs), groups), time.monotonic(), {}
    results["caught"] = [mutant for mutant in mutants if mutant not in todo]
    for done, mutant in enumerate(todo):
        passed = time.monotonic() - start
        if args.seconds and passed > args.seconds:
            print(f"{len(todo) - done} rows are left; go on with --resume")
            break
        result, why = judge.judge(mutant)
        results.setdefault(result, []).append(mutant)
        if result == "caught":
            with record.open("a", encoding="utf-8") as file:
                print(str(mutant)[4:], file=file)
        left = (time.monotonic() - start - judge.spent) / (done + 1) * (len(todo) - done - 1)
        print(f"[{done + 1}/{len(todo)}, about {left / 60:.0f} min left] {result:8} {mutant}  {why}", flush=True)
    return report(results)


def report(results):
    for mutant in results.get("SURVIVED", []):
        print(f"SURVIVED {mutant}")
    caught, survived = len(results["caught"]), len(results.get("SURVIVED", []))
    rest = "".join(f", {len(found)} {name}" for name, found in results.items() if name not in ("caught", "SURVIVED"))
    print(f"{caught} of {caught + survived} caught{rest}")
    return 0 if set(results) == {"caught"} else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "mutants", help="of the copy")
    parser.add_argument("--only", default="", metavar="TEXT", help="a part of the rows' file names")
    parser.add_argument("--rows", nargs="+", metavar="A[-B]", help="numbers of rows, as they are printed")
    parser.add_argument("--sample", type=int, metavar="N", help="number of rows to draw")
    parser.add_argument("--seed", type=int, default=1, help="of --sample")
    parser.add_argument("--seconds", type=float, help="begin no row later")
    parser.add_argument("--resume", action="store_true", help="leave out rows that were caught before")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="compile so many sources at a time")
    parser.add_argument("--check", action="store_true", help="only look whether the rows fit")
    args = parser.parse_args()
    groups, mutants = read_list()
    mutants = select(mutants, args)
    if args.check:
        return 1 if check(ROOT, mutants) else 0
    return run(mutants, groups, args)


if __name__ == "__main__":
    sys.exit(main())
