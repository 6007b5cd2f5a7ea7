#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Whether links lead to all pages of a rendered site, and each link within it has its target: check.py FOLDER"""

import html
import re
import sys
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"""<(?:a|img|link|script)\b[^>]*?\s(?:href|src)=["']([^"']*)["']""")
NAME = re.compile(r"""\s(?:id|name)=["']([^"']*)["']""")


def links(page, text):
    """The files and the names in them that a page links to."""
    for link in LINK.findall(text):
        link = html.unescape(link)
        if not re.match(r"[a-z]+:", link):
            file, _, name = link.partition("#")
            yield unquote(file) or page, unquote(name)


def reached(targets):
    """The pages that links lead to from the first."""
    known, new = set(), {"index.html"}
    while new:
        known |= new
        new = {file for page in new for file, _ in targets.get(page, ())} - known
    return known


def problems(folder):
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
    names = {page: set(NAME.findall(text)) for page, text in texts.items()}
    targets = {page: set(links(page, text)) for page, text in texts.items()}
    for page, found in sorted(targets.items()):
        for file, name in sorted(found):
            if not (folder / file).is_file():
                yield f"{page}: links to {file}, which does not exist"
            elif name and name not in names.get(file, ()):
                yield f"{page}: links to {file}#{name}, and {file} has no such name"
    yield from (f"{page}: no link leads to it" for page in sorted(set(texts) - reached(targets)))


def main():
    found = list(problems(Path(sys.argv[1])))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
