# SPDX-License-Identifier: BSD-3-Clause
"""The rows of list.txt."""
import pathlib
import re
import sys


class Mutant:
    def __init__(self, number, line, groups):
        parts = [part.strip() for part in line.split(" @@ ")]
        if len(parts) != 4:
            sys.exit(f"list.txt: not a row: {line}")
        self.number, self.path, self.old, self.new, names = number, *parts
        self.groups = names.split()
        unknown = [name for name in self.groups if name not in groups]
        if unknown:
            sys.exit(f"list.txt: no group is called {unknown[0]}: {line}")

    def spoil(self, text):
        """None if the row does not fit."""
        return text.replace(self.old, self.new, 1) if text.count(self.old) == 1 and self.old != self.new else None

    def __str__(self):
        return f"{self.number:3} {self.path}: {self.old}  ->  {self.new}"


def read_list():
    """The groups, name to regular expression, and the rows."""
    lines = pathlib.Path(__file__).with_name("list.txt").read_text(encoding="utf-8").splitlines()
    heads = [re.match(r"\[(\w+)\] (.*)", line) for line in lines]
    groups = {head.group(1): head.group(2) for head in heads if head}
    rows = [line for line, head in zip(lines, heads) if line and not line.startswith("#") and not head]
    return groups, [Mutant(number, line, groups) for number, line in enumerate(rows, 1)]


def check(root, mutants):
    """How many rows do not fit the tree."""
    wrong = 0
    for mutant in mutants:
        path = root / mutant.path
        if not path.exists() or mutant.spoil(path.read_text(encoding="utf-8")) is None:
            print(f"does not stand there once: {mutant}")
            wrong += 1
    print(f"{len(mutants)} defects, {wrong} do not fit")
    return wrong
