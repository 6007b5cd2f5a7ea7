#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the site before they are rendered: reference.py SOURCE

Every public procedure of the Fortran module has an entry with a text, and every link of a page has its target: the
heading where it names one, and the file, because readers of the repository follow it too. Manual pages, as programs
write them, and the reference of Python, as a stub has it, come out right.
"""

import re
import sys
import tempfile
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "bindings/fortran"), str(SOURCE / "docs/reference")]

import check  # noqa: E402
import generate  # noqa: E402
import manual  # noqa: E402
import pages  # noqa: E402
import python_reference  # noqa: E402
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


def link_problems(site):
    rendered = {page: pages.markdown(site, page) for page in site.pages}
    places = set(re.findall(r"\{#([\w-]+)\}", "\n".join(rendered.values())))
    for page, text in rendered.items():
        linked = set(re.findall(r"\(@ref ([\w-]+)\)", text))
        yield from (f"{page} links to {place}, which is no place" for place in sorted(linked - places))
    for page in sorted(site.pages):
        text = "\n".join(line for line, code in pages.paragraphs(site.text[page]) if not code)
        for target in re.findall(r"\]\(([^)\s#:]+)[^):]*\)", re.sub(r"`[^`]*`", "", text)):
            if not (SOURCE / site.linked(page, target)).exists():
                yield f"{page} links to {target}, which does not exist"


def page_problems(site):
    yield from (f"{page} is in no section of the site" for page in sorted(set(site.text) - site.pages))


MANUAL = r""".TH TUTTI\-X 1 "" "tutti 0.3.0" "Tutti"
.SH NAME
tutti\-x \- Shows <x>
.SH OPTIONS
.SS OPTIONS
.TP
\fB\-c, \-\-cores\fR \fIWORD\fR
each: every @core [1, 2]
Default: auto.
.PP
.nf
x \-\-cores  # a\eb
.fi
"""
MANUAL_MADE = r"""# tutti-x(1)

## Name

tutti-x - Shows \<x\>

## Options


**Options**

* `-c, --cores` *WORD*:
  each: every \@core \[1, 2\]
  Default: auto.

```
x --cores  # a\b
```

"""
STUB = '''
def version() -> str:
    """The `x_1` of *the* library."""
def _hidden() -> None: ...
SUM: ReduceOp = ...
class Status:
    """The result."""
    @overload
    def wait(self, a: int) -> None:
        """Waits."""
    @overload
    def wait(self) -> int: ...
    @property
    def tag(self) -> int: ...
'''
STUB_MADE = ("### version\n\n```python\nversion() -> str\n```\n\nThe `x_1` of \\*the\\* library.\n",
             "* `SUM: ReduceOp`", "## Status\n\nThe result.\n",
             "### Status.wait\n\n```python\nwait(a: int) -> None\nwait() -> int\n```\n\nWaits.\n", "tag: int\n")


def made_problems(made):
    if manual.markdown(MANUAL) != MANUAL_MADE:
        yield "a manual page comes out as\n" + manual.markdown(MANUAL)
    yield from (f"the reference of Python lacks {text}" for text in STUB_MADE if text not in made)
    if "_hidden" in made or made.count("### init\n") != 1:
        yield "the reference of Python has a hidden function, or not one init"


def check_problems(folder):
    """Dead links, dead names in pages and pages without a link are found."""
    pages_made = {"index.html": '<p id="a"><a href="b.html#c">b</a> <a href="#a">a</a> <a href="https://x/y">x</a>',
                  "b.html": '<a name="c" href="none.html">n</a> <img src="none.svg"/> <a href="index.html#b">b</a>',
                  "d.html": ""}
    for name, text in pages_made.items():
        Path(folder, name).write_text(text)
    found = "\n".join(check.problems(Path(folder)))
    for text in ("b.html: links to none.html, ", "to none.svg, ", "index.html#b, ", "d.html: no link leads to it"):
        if text not in found:
            yield f"the check of links does not see: {text}"
    if found.count("\n") != 3:
        yield f"the check of links sees too much: {found}"


def main():
    page, python = reference.page(), python_reference.page(STUB)
    site = pages.Site([("fortran_reference.md", page), ("python_reference.md", python)], SOURCE)
    problems = [*entry_problems(page), *link_problems(site), *page_problems(site), *made_problems(python)]
    with tempfile.TemporaryDirectory() as folder:
        problems += check_problems(folder)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(public_names())} procedures, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
