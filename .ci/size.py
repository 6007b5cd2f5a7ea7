#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts how much there is to read, and holds some counts against budgets that may only fall.

  .ci/size.py [--root FOLDER] [--budgets]      # FOLDER: another checkout, such as that of a version before

Prints files and lines by folder; the files outside the tests that name scatterv in code, which stand for the places that
decide about an operation; the sources of src that a change of call/plan.hpp rebuilds; the members of Backend; the files
that are hardly worth a file; and the types that bear one name of those that had too many meanings, aliases included.
--budgets: fails if a count is above its budget."""
import argparse
import collections
import pathlib
import re
import subprocess
import sys

CODE = {".cpp", ".hpp", ".h", ".c", ".f90", ".F90", ".py", ".def", ".inc", ".cu"}
HOUSE = ("include", "src", "bindings", "miniapps")
WORDS = ("Place", "Call", "Part", "Way", "Range")  # one meaning each
BUDGETS = {"files that name scatterv": 24, "sources rebuilt by call/plan.hpp": 50, "members of Backend": 8,
           "files under 25 lines": 63,
           **{f"types named {word}": 1 for word in WORDS}}
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.M | re.S)


def tracked(root):
    names = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout.split()
    return [root / name for name in names if pathlib.Path(name).suffix in CODE]


def text_of(path):
    return path.read_text(errors="replace")


def rebuilt(root, header):
    """The sources of src whose includes lead to a header."""
    sources = [path for path in tracked(root) if root / "src" in path.parents]
    known = {}

    def reaches(path):
        if path not in known:
            known[path] = False
            for include in INCLUDE.findall(text_of(path)):
                for base in (root / "src", root / "include", path.parent):
                    found = base / include
                    if found.is_file() and (found == root / "src" / header or reaches(found)):
                        known[path] = True
                if known[path]:
                    break
        return known[path]

    return sum(1 for path in sources if path.suffix == ".cpp" and reaches(path))


def members(text, name):
    """The data members of a struct of one level."""
    body = re.search(rf"^struct {name} \{{(.*?)^\}};", COMMENT.sub("", text), re.M | re.S)
    return len(re.findall(r"[^;{}]+(?:\{[^;{}]*\})?;", body[1])) if body else 0


def types_named(word):
    """Definitions of a type of that name, also in one line or by `using`, and concepts."""
    attributes = r"(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*|TUTTI_[A-Z_]+\s+)*"
    return re.compile(rf"\b(?:struct|class|union|enum)\s+{attributes}{word}\b[^;{{]*\{{|\b(?:using|concept)\s+{word}\s*=|"
                      rf"\btypedef\b[^;]*\b{word}\s*;")


def counts(root):
    files = tracked(root)
    outside = [path for path in files if path.relative_to(root).parts[0] not in ("tests", ".ci")]
    names = sum(1 for path in outside if "scatterv" in COMMENT.sub("", text_of(path)).lower())
    found = {"files that name scatterv": names, "sources rebuilt by call/plan.hpp": rebuilt(root, "call/plan.hpp"),
             "members of Backend": members(text_of(root / "src" / "call" / "backend.hpp"), "Backend")}
    found["files under 25 lines"] = sum(1 for path in outside if path.relative_to(root).parts[0] in HOUSE and
                                        text_of(path).count("\n") < 25)
    house = [COMMENT.sub("", text_of(path)) for path in outside if path.relative_to(root).parts[0] in HOUSE]
    for word in WORDS:
        found[f"types named {word}"] = sum(len(types_named(word).findall(text)) for text in house)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--budgets", action="store_true")
    options = parser.parse_args()
    root = options.root.resolve()
    folders = collections.defaultdict(lambda: [0, 0])
    for path in tracked(root):
        row = folders[path.relative_to(root).parts[0]]
        row[0] += 1
        row[1] += text_of(path).count("\n")
    for folder, (files, lines) in sorted(folders.items()):
        print(f"{folder:12} {files:5} files {lines:7} lines")
    bad = 0
    for what, count in counts(root).items():
        budget = BUDGETS.get(what)
        over = options.budgets and budget is not None and count > budget
        bad += over
        print(f"{what:34} {count:5}" + (f"   above its budget of {budget}" if over else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
