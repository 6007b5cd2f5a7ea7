#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What Doxygen reads of a file: filter.py FILE writes it to standard output.

Markdown is written for readers of the repository: headings get the names that its links have there, and links to files
that are no pages become plain text. In headers a comment that stands before several declarations holds for all of them.
"""

import re
import sys
from pathlib import Path

PAGES = {path.stem for path in Path(__file__).resolve().parents[1].glob("*.md")} | {"fortran_reference"}
DECLARATION = re.compile(r"\s*(\[\[nodiscard\]\] )?(friend )?(TUTTI_EXPORT|TUTTI_API)\b(?! *\w* *$)(?!.*\bclass\b)")


def slug(heading):
    """The name that a heading has in links, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def link(match, page):
    text, target = match.groups()
    file, _, anchor = target.partition("#")
    if re.match(r"\w+://|mailto:|@ref", target):
        return match[0]
    stem = Path(file).stem if file else page
    if file and (not file.endswith(".md") or "/" in file.removeprefix("docs/") or stem not in PAGES):
        return text
    return f"[{text}](@ref page_{stem}{'-' + anchor if anchor else ''})"


def markdown(text, page):
    fenced, lines = False, []
    text = re.sub(r"(\[[^\]\n]*)\n *([^\]\n]*\]\()", r"\1 \2", text)  # a link over two lines
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced and (match := re.match(r"(#+) (.*?)\s*$", line)):
            level, heading = match.groups()
            name = f"page_{page}" if level == "#" else f"page_{page}-{slug(heading)}"
            line = f"{level} {heading.replace('`', '')} {{#{name}}}"
        elif not fenced and not line.startswith("    "):
            line = re.sub(r"\[([^\]]*)\]\(([^)\s]*)\)", lambda match: link(match, page), line)
        lines.append(line)
    return "\n".join(lines)


def header(text):
    """Repeats a comment before each declaration that follows it without an empty line."""
    lines, comment, at_start = [], [], False
    for line in text.splitlines():
        if re.match(r"\s*///(?!<)", line):
            comment = (comment if lines and lines[-1].lstrip().startswith("///") else []) + [line]
            at_start = False
        elif not line.strip() or line.lstrip().startswith(("#", "}", "namespace")):
            comment, at_start = [], False
        elif at_start and comment and DECLARATION.match(line):
            lines += comment
        lines.append(line)
        at_start = line.rstrip().endswith(";") and not line.lstrip().startswith("///")
    return "\n".join(lines)


def main():
    path = Path(sys.argv[1])
    text = path.read_text(encoding="utf-8")
    print(markdown(text, path.stem) if path.suffix == ".md" else header(text))


if __name__ == "__main__":
    main()
