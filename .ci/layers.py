#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds the includes of the sources against the allow-list that docs/architecture.md draws.

The list is the code block after the line "<!-- layers -->": a row a folder, lowest first: "folder: folders it may
include". A folder includes itself and its row, and nothing that stands below it in the list, so that there are no cycles;
a row may name one file of
a folder instead. <tutti/...> everybody may include. A row that allows more than the sources use is an error
too: the drawing shows the house as it is."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent).resolve()
LIST = ROOT / "docs" / "architecture.md"
INCLUDE = re.compile(r'\s*#\s*include\s+"([^"]+)"')
SOURCES = {".cpp", ".hpp", ".h", ".c", ".def", ".inc"}


def read_list():
    """{folder: (line, allowed folders)} in the order of the list."""
    lines = LIST.read_text().splitlines()
    start = lines.index("<!-- layers -->")
    rows = {}
    for number, line in enumerate(lines[start + 1:], start + 2):
        if rows and not line.strip():
            break
        match = re.match(r"    ([\w/]+):\s*(.*?)\s*(?:#.*)?$", line)
        if match:
            rows[match[1]] = (number, match[2].split())
    return rows


def house(path):
    """The folder of the list that a file belongs to, and the root its includes are relative to."""
    parts = path.relative_to(ROOT).parts
    return "/".join(parts[1:-1] if parts[0] == "src" else parts[:-1])


def folder_of(rows, path):
    """The longest row that covers a folder: training covers training/reducer."""
    while path and path not in rows:
        path = path.rpartition("/")[0]
    return path


def target_of(path, include):
    """The file under the root that an include names, or None where it is no file of this project's inside."""
    for base in (path.parent, ROOT / "src", ROOT / "bindings" / "c", ROOT / "miniapps"):
        found = base / include
        if found.is_file():
            return found.resolve()
    return None


def check(rows):
    order = {folder: place for place, folder in enumerate(rows)}
    problems, used = [], set()
    files = [p for top in ("src", "bindings", "miniapps") for p in sorted((ROOT / top).rglob("*")) if p.suffix in SOURCES]
    for path in files:
        home = folder_of(rows, house(path))
        if not home:
            problems.append(f"{path.relative_to(ROOT)}: its folder has no row in {LIST.name}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            target = target_of(path, match[1]) if match else None
            if target is None:
                continue
            there = folder_of(rows, house(target))
            if there == home:
                continue
            file = "/".join(target.relative_to(ROOT).parts[1:])
            allowed = there if there in rows[home][1] else file if file in rows[home][1] else None
            used.add((home, allowed))
            if allowed is None:
                problems.append(f"{path.relative_to(ROOT)}:{number}: includes {match[1]}: {home} may include only: "
                                f"{' '.join(rows[home][1]) or 'itself'} ({LIST.name}:{rows[home][0]})")
    for home, (number, allowed) in rows.items():
        for there in allowed:
            folder = folder_of(rows, there)
            if folder not in order:
                problems.append(f"{LIST.name}:{number}: {home}: there is no row {there}")
            elif order[folder] >= order[home]:
                problems.append(f"{LIST.name}:{number}: {home}: {there} stands above it: that would be a cycle")
            elif (home, there) not in used:
                problems.append(f"{LIST.name}:{number}: {home}: no file includes {there}: take it off the list")
    return problems, len(files)


def main():
    rows = read_list()
    problems, files = check(rows)
    print("\n".join(problems) or f"{files} files in {len(rows)} folders include only what their layer may")
    return 1 if problems else 0


sys.exit(main())
