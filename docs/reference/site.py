#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Renders the site: the pages of the repository, what programs and bindings say of themselves, and the headers.

  site.py FOLDER [FILE...] --doxygen PROGRAM --headers FOLDER

FOLDER holds the Doxyfile; the site is its folder html. A FILE is a page in Markdown, a manual page (.1), or the stub of
the Python module (.pyi); the headers are those that the build has written. Fails if Doxygen warns, or a link has no
target."""

import argparse
import html
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import check  # noqa: E402
import manual  # noqa: E402
import pages  # noqa: E402
import python_reference  # noqa: E402
import search  # noqa: E402

HERE = Path(__file__).resolve().parent
# What Doxygen writes and no page needs; the search serves in place of these indexes.
LEFT_OUT = ("*.js", "doxygen.svg", "tabs.css", "classes.html", "concepts.html", "functions*.html", "globals*.html",
            "hierarchy.html", "namespacemembers*.html", "pages.html", "*_8md.html",
            "namespaces_8dox.html")


def generated(path):
    """The name and the Markdown of a page that is not in the repository."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".1":
        return f"man_{path.stem}.md", manual.markdown(text)
    if path.suffix == ".pyi":
        return "python_reference.md", python_reference.page(text)
    return path.name, text


def navigation(site):
    """A list of links for each section; the script of the site opens that of the page."""
    lines = []
    for i, (section, entries) in enumerate(site.sections.items()):
        if entries:
            lines.append(f"<details{' open' if i < 2 else ''}><summary>{section}</summary><ul>")
            lines += [f'<li><a href="{pages.address(entry.target)}">{html.escape(site.title(entry))}</a></li>'
                      for entry in entries]
            lines.append("</ul></details>")
    return "\n".join(lines)


def write_headers(folder, built):
    """The headers as they are installed."""
    include = pages.ROOT / "include/tutti"
    sources = {path: path.relative_to(include) for path in include.rglob("*.*") if "detail" not in path.parts}
    sources |= {path: path.name for path in (pages.ROOT / "bindings/c").glob("*.h") if path.stem != "tutti_call_sites"}
    sources |= {built / name: name for name in ("version.hpp", "mpi_header.h", "parts.h")}
    for path, name in sources.items():
        target = folder / "tutti" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(pages.header(path.read_text(encoding="utf-8")), encoding="utf-8")


def write_input(folder, site, built):
    """What Doxygen reads."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for page in site.pages:
        (folder / f"{pages.place(page)}.md").write_text(pages.markdown(site, page), encoding="utf-8")
    write_headers(folder / "include", built)
    shutil.copy(HERE / "namespaces.dox", folder / "include")
    frame = (HERE / "header.html").read_text(encoding="utf-8").replace("@navigation@", navigation(site))
    (folder / "header.html").write_text(frame, encoding="utf-8")


def finish(rendered, site, tags):
    """Takes away what no page needs, and adds drawings, script and index."""
    for pattern in LEFT_OUT:
        for path in rendered.glob(pattern):
            path.unlink()
    for path in rendered.glob("class*.html"):  # Doxygen announces private classes, which it does not list
        text = path.read_text(encoding="utf-8")
        if 'id="nested-classes"' not in text:
            path.write_text(text.replace('<a href="#nested-classes">Classes</a> &#124;', ""), encoding="utf-8")
    for drawing in (pages.ROOT / "docs").rglob("*.svg"):
        shutil.copy(drawing, rendered)
    shutil.copy(HERE / "site.js", rendered)
    (rendered / "index.js").write_text(search.script(site, tags), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--doxygen", required=True)
    parser.add_argument("--headers", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="*")
    options = parser.parse_args()
    folder, rendered = options.folder, options.folder / "html"
    site = pages.Site(generated(path) for path in options.files)
    write_input(folder / "input", site, options.headers)
    shutil.rmtree(rendered, ignore_errors=True)
    subprocess.run([options.doxygen, "Doxyfile"], cwd=folder, check=True)
    finish(rendered, site, folder / "tags.xml")
    found = list(check.problems(rendered))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
