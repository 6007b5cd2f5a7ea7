# SPDX-License-Identifier: BSD-3-Clause
"""The index of the site's search: names of C++ and C from Doxygen's tag file, headings of pages with the words below
them."""

import json
import re
import xml.etree.ElementTree

from pages import address, paragraphs, place, slug

NAMED = ("namespace", "class", "struct", "union", "concept", "file")  # in the order in which a name finds its owner


def sections(site, page):
    """The heading and the words of each section of a page."""
    heading, words = "", []
    for line, code in paragraphs(site.text[page]):
        if not code and (match := re.match(r"#+ (.*?)\s*$", line)):
            if heading or words:
                yield heading, words
            heading, words = match[1], []
        else:
            words += re.findall(r"[\w-]{2,}", re.sub(r"\]\([^)]*\)", "]", line).lower())
    yield heading, words


def page_entries(site):
    for entries in site.sections.values():
        for entry in entries:
            if entry.target not in site.pages:
                continue
            title, file = site.title(entry), address(entry.target)
            for i, (heading, words) in enumerate(sections(site, entry.target)):
                name = heading.replace("`", "")
                url = f"{file}#{place(entry.target, slug(heading))}" if i else file
                yield [name if i else title, title if i else "page", url, " ".join(dict.fromkeys(words))]


def name_entries(tags):
    """Each name once, with its owner; what a file has of a namespace is the namespace's."""
    compounds = [one for one in xml.etree.ElementTree.parse(tags).getroot() if one.get("kind") in NAMED]
    known = set()
    for compound in sorted(compounds, key=lambda one: NAMED.index(one.get("kind"))):
        kind, owner = compound.get("kind"), compound.findtext("name")
        if not owner.endswith(".md"):
            yield [owner, kind, compound.findtext("filename"), ""]
        for member in compound.iter("member"):
            file, anchor = member.findtext("anchorfile"), member.findtext("anchor")
            name = member.findtext("name")
            if {(file, anchor), (owner, name)} & known or not file:
                continue
            known |= {(file, anchor), (owner, name)}
            full = name if kind == "file" else f"{owner}::{name}"
            yield [full, member.get("kind"), f"{file}#{anchor}", ""]


def script(site, tags):
    entries = [*page_entries(site), *name_entries(tags)]
    return "const searchIndex = " + json.dumps(entries, ensure_ascii=False, separators=(",", ":")) + ";\n"
