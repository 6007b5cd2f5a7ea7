# SPDX-License-Identifier: BSD-3-Clause
"""The pages of the site, and what Doxygen reads of them and of headers.

Markdown is written for readers of the repository: headings get the names that their links have there, links to drawings
show them too, and links to other files that are no pages become plain text. In headers a comment that stands before
several declarations holds for all of them.
"""

import os
import re
from collections import namedtuple
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAVIGATION = ROOT / "docs/reference/navigation.txt"
DECLARATION = re.compile(r"\s*(\[\[nodiscard\]\] )?(friend )?(TUTTI_EXPORT|TUTTI_API)\b(?! *\w* *$)(?!.*\bclass\b)")

Entry = namedtuple("Entry", "title target")  # a page or a file of Doxygen; no title: the heading of the page


class Site:
    """The pages by their paths in the repository, or by their names if they are generated, and the navigation."""

    def __init__(self, generated=(), source=ROOT):
        sources = [path for pattern in ("*.md", "docs/*.md", "docs/*/*.md") for path in sorted(source.glob(pattern))]
        self.text = {str(path.relative_to(source)): path.read_text(encoding="utf-8") for path in sources}
        self.text |= {name: text for name, text in generated}
        self.source = source
        self.sections = {}
        lines = [line for line in NAVIGATION.read_text(encoding="utf-8").splitlines() if line[:1] not in ("", "#")]
        named = {line.rpartition("|")[2].strip() for line in lines}
        for line in lines:
            if not line.startswith(" "):
                entries = self.sections.setdefault(line, [])
                continue
            title, _, target = line.strip().rpartition("|")
            entries += [Entry(title.strip(), found) for found in self.matches(target.strip(), named)]
        self.pages = {entry.target for entries in self.sections.values() for entry in entries} & set(self.text)

    def matches(self, target, named):
        """The pages of a line of the navigation; those of a folder do not stand for those of its folders."""
        if "*" in target:
            return [page for page in self.text
                    if page not in named and page.count("/") == target.count("/") and fnmatch(page, target)]
        return [target] if target in self.text or target.endswith(".html") else []

    def title(self, entry):
        return entry.title or re.search(r"^# (.*)$", self.text[entry.target], flags=re.MULTILINE)[1].replace("`", "")

    def linked(self, page, target):
        """The path in the repository that a link of a page names; generated pages stand in docs/ for it."""
        home = page if (self.source / page).exists() else f"docs/{page}"
        path = os.path.normpath(os.path.join(os.path.dirname(home), target))
        return path.removeprefix("docs/") if path.removeprefix("docs/") in self.pages else path


def slug(heading):
    """The name that a heading has in links, as on GitHub."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def place(page, heading=""):
    """The name by which Doxygen knows a page or a heading of it."""
    return f"page_{Path(page).stem}" + (f"-{heading}" if heading else "")


def address(page):
    """The file of a page in the site."""
    return "index.html" if page == "README.md" else f"{place(page)}.html" if page.endswith(".md") else page


def escaped(text):
    """Text that neither Markdown nor Doxygen reads anything into."""
    return re.sub(r"([\\@<>&#$%*_`\[\]]|--+)", r"\\\1", text)


def link(match, site, page, drawings):
    text, target = match.groups()
    file, _, heading = target.partition("#")
    if re.match(r"\w+://|mailto:|@ref", target):
        return match[0]
    path = site.linked(page, file) if file else page
    if path.endswith(".svg"):
        drawings.append((text, Path(path).name))
        return f'<a href="{Path(path).name}">{text}</a>'
    return f"[{text}](@ref {place(path, heading)})" if path in site.pages else text


def figures(drawings):
    """The drawings that a paragraph links to, behind it."""
    shown = [f'<a href="{file}"><img src="{file}" alt="{text}"/></a>' for text, file in drawings]
    return ["", '<div class="figures">', *shown, "</div>"] if shown else []


def paragraphs(text):
    """Lines, each with whether it is code; a link stands in one line."""
    fenced = False
    for line in re.sub(r"(\[[^\]\n]*)\n *([^\]\n]*\]\()", r"\1 \2", text).splitlines():
        fence = line.lstrip().startswith("```")
        fenced ^= fence
        yield line, fence or fenced or line.startswith("    ")


def markdown(site, page):
    """A page as Doxygen takes it."""
    lines, drawings = [], []
    contents = "\n\n[TOC]" if site.text[page].count("\n## ") > 2 and page != "README.md" else ""
    for line, code in paragraphs(site.text[page]):
        if not code and (match := re.match(r"(#+) (.*?)\s*$", line)):
            level, heading = match.groups()
            name = place(page, "" if level == "#" else slug(heading))
            line = f"{level} {heading.replace('`', '')} {{#{name}}}" + (contents if level == "#" else "")
        elif not code:
            line = re.sub(r"\[([^\]]*)\]\(([^)\s]*)\)", lambda match: link(match, site, page, drawings), line)
        if not line.strip():
            lines += figures(drawings)
            drawings.clear()
        lines.append(line)
    return "\n".join(lines + figures(drawings)) + "\n"


def header(text):
    """Repeats a comment before each declaration that follows it without an empty line; one before a namespace is the
    header's."""
    lines, comment, at_start = [], [], False
    text = re.sub(r"((?:^///.*\n)+)(?=namespace)", r"/// @file\n\1\n", text, flags=re.MULTILINE)
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
    return "\n".join(lines) + "\n"
