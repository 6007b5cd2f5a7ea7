#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the reference before they are rendered: reference.py SOURCE

Every public procedure of the Fortran module has an entry with a text, and every link of a page has its target.
"""

import re
import sys
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "bindings/fortran"), str(SOURCE / "docs/reference")]

import filter as pages  # noqa: E402
import generate  # noqa: E402
import reference  # noqa: E402


def public_names():
    texts = [(SOURCE / "bindings/fortran" / file).read_text() for file in reference.NAME_FILES] + [generate.generated(True)]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("public ::")]
    return set(re.findall(r"tutti_\w+", " ".join(lines)))


def entry_problems(page):
    entries = re.findall(r"^### (tutti_\w+)\n\n(.*?)\n\n```fortran\n(.*?)```", page, flags=re.DOTALL | re.MULTILINE)
    names = [name for name, _, _ in entries]
    yield from (f"no entry: {name}" for name in sorted(public_names() - set(names)))
    yield from (f"two entries: {name}" for name in sorted({name for name in names if names.count(name) > 1}))
    yield from (f"no text: {name}" for name, text, _ in entries if not text.strip())
    yield from (f"no form: {name}" for name, _, code in entries if not code.strip())


def link_problems(page):
    documents = {path.stem: path.read_text() for path in (SOURCE / "docs").glob("*.md")}
    documents["fortran_reference"] = page
    rendered = {stem: pages.markdown(text, stem) for stem, text in documents.items()}
    places = set(re.findall(r"\{#([\w-]+)\}", "\n".join(rendered.values())))
    for stem, text in rendered.items():
        linked = set(re.findall(r"\(@ref ([\w-]+)\)", text))
        yield from (f"{stem}.md links to {place}, which is no place" for place in sorted(linked - places))


def main():
    page = reference.page()
    problems = [*entry_problems(page), *link_problems(page)]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(public_names())} procedures, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
