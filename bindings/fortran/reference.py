#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the reference of the Fortran module as a page in Markdown: reference.py FILE

The generated procedures come from the generator, those written by hand from src/*.inc with their comments, types from
tutti.F90. A procedure without a comment has the text of the C function of its name.
"""

import re
import sys
from collections import namedtuple
from pathlib import Path

from generate import HERE, api_def, collective_forms, constants, memory_forms, message_forms, mpi_forms, plain_forms

Form = namedtuple("Form", "name kind arguments result declarations comment", defaults=[""])

TITLES = {
    "library": "Library, datatypes, operations",
    "communicator": "Communicators",
    "memory": "Memory",
    "device": "Devices, streams, memory and graphs",
    "collectives": "Collectives",
    "exact": "Sums that do not depend on the number of ranks",
    "layouts": "Layouts",
    "messages": "Messages",
    "requests": "Requests and groups",
    "reducer": "Gradient reducer",
    "optimizer": "Optimizers",
    "server": "Parameter server",
    "embedding": "Embedding tables",
    "embedding_step": "Embedding tables: a step",
}
SECTIONS = (  # of the procedures that are generated with no regard to their meaning, by the begin of their names
    ("communicator", ("comm_",)),
    ("layouts", ("datatype_resized", "datatype_sides", "datatype_free")),
    ("library", ("progress", "range_", "memory_kind", "datatype_", "op_")),
    ("requests", ("group_", "request_", "start", "test", "wait")),
    ("embedding_step", ("embedding_progress",)),
    ("exact", ("exact_", "iexact_")),
    *((stem, (stem + "_",)) for stem in ("reducer", "optimizer", "server", "embedding")),
    ("device", ("",)),
)
NAME_FILES = ("src/names.inc", "src/training_names.inc")
TYPE_FILES = ("tutti.F90", "src/training_types.inc", "src/embedding_types.inc")
START = re.compile(
    r"(?:elemental |pure )?(?:\w+(?:\([\w=]+\))? )?(subroutine|function) (\w+)\(([^)]*)\)(?: result\((\w+)\))?"
)
TYPE = re.compile(
    r"((?:^ *!> [^\n]*\n)+) *(type, (?:bind\(C\), )?public :: (\w+)\n.*?end type)", flags=re.DOTALL | re.MULTILINE
)
ONE_POINTER = "real_real64_2"  # of the pointers that tutti_allocate takes, one stands for all types, kinds and ranks


def unfolded(text):
    """Lines without continuation."""
    return re.sub(r"\s*&\s*\n\s*", " ", text).splitlines()


def in_fortran(text):
    """The text of a C function with Fortran's words for flags and results."""
    text = re.sub(r"([*]\w+|after sync|until sync)( to| is)? ([01])\b", lambda m: f"{m[1]}{m[2] or ''} "
                  f"{'.true.' if m[3] == '1' else '.false.'}", text)
    return re.sub(r"(^|\W)[*](\w+)", r"\1\2", text)


def c_comments():
    """The comment of each C function, which may stand before several of them."""
    found = {}
    for header in api_def.HEADERS + api_def.TRAINING_HEADERS:
        comment, ended = [], True
        for line in (api_def.HERE / header).read_text().splitlines():
            if line.startswith("///"):
                comment = [] if ended else comment
                comment.append(line[3:].strip())
                ended = False
                continue
            ended = True
            if match := re.match(r"TUTTI_API .*?(tutti_\w+)\(", line):
                found[match[1]] = in_fortran(" ".join(comment))
            elif not line.strip():
                comment = []
    return found


def declared(line):
    """Name and declaration of the variables of a line."""
    attributes, _, names = line.partition(" :: ")
    names, note = re.split(r"\s*!<\s*|$", names + " ", 1)
    for name in re.findall(r"\w+(?:\([^)]*\))?", names):
        remark = f"  ! {note.strip()}" if note.strip() else ""
        yield re.match(r"\w+", name)[0], f"{attributes.strip()} :: {name}{remark}"


def by_hand(path):
    """The procedures of a file."""
    comment, lines, at = [], unfolded(path.read_text()), 0
    while at < len(lines):
        line = lines[at].strip()
        at += 1
        if line.startswith("!>") or (comment and re.match(r"!(?!>)", line)):
            comment.append(line.lstrip("!> "))
            continue
        if match := START.match(line):
            arguments = [name.strip() for name in match[3].split(",") if name.strip()]
            declarations = {}
            while " :: " in lines[at] or re.match(r"\s+(procedure|class)\(", lines[at]):
                declarations |= dict(declared(lines[at]))
                at += 1
            yield Form(match[2], match[1], arguments, match[4], declarations, " ".join(comment))
        comment = []


def generics():
    """The specific procedures by generic name, of those written by hand; and all public names."""
    text = "\n".join((HERE / file).read_text() for file in NAME_FILES)
    found = {}
    for name, body in re.findall(r"^interface (tutti_\w+)\n(.*?)^end interface", text, flags=re.S | re.M):
        found[name] = re.findall(r"\w+", " ".join(re.findall(r"procedure :: (.*)", body)))
    public = re.findall(r"tutti_\w+", " ".join(line for line in text.splitlines() if line.startswith("public")))
    return found, public


def shown(name, form):
    """A call as it is written, with the declarations of its arguments."""
    required = [word for word in form.arguments if ", optional" not in form.declarations.get(word, "")]
    optional = [word for word in form.arguments if word not in required]
    listed = "".join(f"[, {word}]" for word in optional)
    listed = ", ".join(required) + (listed if required else listed.replace("[, ", "[", 1))
    call = f"call {name}({listed})" if form.kind == "subroutine" else f"{form.result or name} = {name}({listed})"
    words = [word for word in [*form.arguments, form.result] if word in form.declarations]
    return [call, *(f"  {form.declarations[word]}" for word in words)]


def both_kinds(forms):
    """The forms without those that only take integers of another kind; the others say that they take both."""
    names = {form.name for form in forms}
    for form in forms:
        wide = form.name.removesuffix("32") + "64"
        narrow = form.name.removesuffix("64") + "32"
        if form.name.endswith("int32") and wide in names:
            continue
        if form.name.endswith("int64") and narrow in names:
            both = {
                word: text.replace("integer(int64)", "integer(int32 or int64)")
                for word, text in form.declarations.items()
            }
            form = form._replace(declarations=both)
        yield form


def section_of(name):
    return next(stem for stem, begins in SECTIONS if name.removeprefix("tutti_").startswith(begins))


def generated(stem):
    """The forms by generic name of the generated procedures of a section."""
    _, functions = api_def.read()
    made = {"collectives": collective_forms, "messages": message_forms}
    procedures = made[stem](functions) if stem in made else memory_forms() if stem == "memory" else {}
    others = mpi_forms() | {procedure.name: [procedure] for procedure in plain_forms(functions)}
    procedures |= {name: group for name, group in others.items() if section_of(name) == stem}
    for name, group in procedures.items():
        forms = [
            Form(procedure.name, "subroutine", list(procedure.dummies), None, procedure.dummies)
            for procedure in group
            if not procedure.name.endswith("_only")
        ]
        if stem == "memory":
            forms = [form for form in forms if ONE_POINTER in form.name]
        yield name, forms


def written(stem):
    """The same of the procedures written by hand."""
    path = HERE / "src" / f"{stem}.inc"
    groups, public = generics()
    owner = {specific: name for name, specifics in groups.items() for specific in specifics}
    found = {}
    for form in by_hand(path) if path.exists() else []:
        name = owner.get(form.name, form.name)
        if name in public or name in groups:
            found.setdefault(name, []).append(form)
    yield from found.items()


def entry(name, comment, code):
    return [f"### {name}", "", comment, "", "```fortran", *code, "```", ""]


def section(stem, comments):
    found = {}
    for name, forms in [*written(stem), *generated(stem)]:
        found.setdefault(name, []).extend(forms)
    lines = []
    for name, forms in found.items():
        comment = next((form.comment for form in forms if form.comment), comments.get(name, ""))
        lines += entry(name, comment, [line for form in both_kinds(forms) for line in shown(name, form)])
    return lines


def types():
    lines = []
    for file in TYPE_FILES:
        for comment, body, name in TYPE.findall((HERE / file).read_text()):
            indent = re.search(r"( *)end type$", body)[1]
            code = [line.removeprefix(indent) for line in body.splitlines()]
            lines += entry(name, " ".join(line.strip(" !>") for line in comment.splitlines()), code)
    return lines


def page():
    comments = c_comments()
    lines = ["# Fortran reference", "", "Arguments in brackets are optional. [Fortran](fortran.md) has the rules for all"]
    lines += ["procedures. Where a text is that of the C function, constants have Fortran's spelling here: `tutti_in_place`"]
    lines += ["for `TUTTI_IN_PLACE`.", ""]
    for stem, title in TITLES.items():
        lines += [f"## {title}", "", *section(stem, comments)]
    lines += ["## Types", "", *types(), "## Constants", "", "```fortran", *constants(), "```", ""]
    return "\n".join(lines)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
