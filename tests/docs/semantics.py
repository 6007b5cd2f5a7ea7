#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The tests that docs/semantics.md names are there: semantics.py SOURCE"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1]).resolve()


def tests():
    found = set()
    for file in (SOURCE / "tests").rglob("*.cpp"):
        found.update(".".join(names) for names in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", file.read_text(), re.M))
    return found


def main():
    text = (SOURCE / "docs" / "semantics.md").read_text()
    rows = re.findall(r"^\| (.*) \| (.*) \|$", text.split("\n## Tests\n")[1], re.M)[1:]
    known = tests()
    problems = [f"the row '{rule}' names no test" for rule, named in rows if "`" not in named]
    problems += [f"no test {name}" for _, named in rows for name in re.findall(r"`(.*?)`", named) if name not in known]
    for problem in problems:
        print(f"docs/semantics.md: {problem}")
    print(f"{len(rows)} rules, {len(problems)} problems")
    return 1 if problems or not rows else 0


sys.exit(main())
