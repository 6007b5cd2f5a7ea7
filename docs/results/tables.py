#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/performance.md, and a page for each processor, from the JSON files of docs/results.

  docs/results/tables.py [--check]

One JSON file has the measurements of one processor, and its page is beside it. docs/performance.md has a place for each,
between <!-- results: ID --> and <!-- end of results -->, with one table of its measurements and the first table of cells.
Two more places are "summary" (measurements with a headline) and "means" (the geometric means of collectives on one
node), and the README has "readme". --check writes nothing, and fails if a page is not what the files give.

A file has
  id, name, processor, date   a word for its place, a heading, a sentence, of the newest measurement;
                              optional: notes (a list of sentences)
  measurements   a list of
    kind         the heading of the section of docs/performance.md that explains it
    title, date  of the table; optional: commit, peers (a list), command (a text or a list), how (a sentence)
    result       [Tutti, best peer or bound] for the table of the processor, unless there is a mean
    columns, rows   texts; or, of collectives, cells: [time, ratio] has the best peer's time over Tutti's, and [time,
                 ratio, "behind"] says that the whole 95 % interval lies below 0.95
    from, columns   instead of rows: a list of the file, and columns [title, key] or [title, key, key to divide by]
    mean, behind   optional, together: the geometric mean of the ratios, and the number of those "behind"; with them
                 cells, the number of ratios, and barrier: [time, ratio], which is one of them
    missed       optional: goals that are missed, each as "goal: figure"
    notes        optional: sentences below the table, such as the measurement that says why a goal is missed
    headline     optional: the words for it in the summary
    readme       optional, true: the README has it too
    intervals    optional: as rows, [low, high] of the ratio of a cell, for tests/benchmarks/compare.py; no page shows them

tests/benchmarks/record.py writes such a file.
"""

import argparse
import json
import math
import re
import sys
import textwrap
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PAGE = FOLDER.parent / "performance.md"
README = FOLDER.parents[1] / "README.md"
PLACE = re.compile(r"(<!-- results: ([\w-]+) -->\n).*?(<!-- end of results -->)", re.DOTALL)
FIELDS = {"kind", "title", "date", "commit", "peers", "command", "how", "columns", "rows", "from", "mean", "cells",
          "behind", "barrier", "result", "missed", "notes", "headline", "intervals",
          "readme"}


def slug(heading):
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def wrapped(text, indent=""):
    return textwrap.fill(text, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def table(columns, rows):
    head, *lines = ["| " + " | ".join(line) + " |" for line in [columns, *rows]]
    return "\n".join([head, "|" + "---|" * len(columns), *lines])


def cell(value):
    """A text or a number as it stands, or a time and a ratio."""
    if not isinstance(value, list):
        return value
    time, ratio, *behind = value
    return f"{time} **×{ratio}**" if behind else f"{time} ×{ratio}"


def digits(value):
    """A number of a report in three digits, or more before the point."""
    if value is None:
        return ""
    try:
        number = float(value)
    except ValueError:
        return value
    if number == 0:
        return "0"
    return f"{number:.0f}" if number >= 100 or re.fullmatch(r"-?\d+", value) else f"{number:#.3g}".rstrip(".")


def picked(entry, keys):
    if len(keys) == 1:
        value = entry.get(keys[0])
        return digits(value) if isinstance(value, str) or value is None else str(value).lower()
    values = [entry.get(key) for key in keys]
    return "" if None in values else digits(str(float(values[0]) / float(values[1])))


def rows_of(measurement, report):
    if "from" in measurement:
        columns = measurement["columns"]
        return [c[0] for c in columns], [[picked(e, c[1:]) for c in columns] for e in report[measurement["from"]]]
    return measurement["columns"], [[cell(value) for value in row] for row in measurement["rows"]]


def compared(measurement):
    """The cells with ratios."""
    found = [value for row in measurement.get("rows", []) for value in row if isinstance(value, list)]
    return found + [measurement["barrier"]] if found and "barrier" in measurement else found


def problems_of(measurement, page):
    name = f"{measurement.get('kind')}, {measurement.get('title')}"
    yield from (f"{name}: unknown field {field}" for field in sorted(set(measurement) - FIELDS))
    yield from (f"{name}: no {field}" for field in ("kind", "title", "date") if field not in measurement)
    if ("mean" in measurement) == ("result" in measurement):
        yield f"{name}: either mean and behind, or result"
    if f"### {measurement.get('kind')}\n" not in page:
        yield f"{name}: the page has no section of this kind"
    width = len(measurement.get("columns", []))
    yield from (f"{name}: a row of {len(row)} cells" for row in measurement.get("rows", []) if len(row) != width)
    ratios = [float(value[1]) for value in compared(measurement)]
    if "mean" in measurement and ratios:
        found = math.exp(sum(map(math.log, ratios)) / len(ratios))
        if abs(found / float(measurement["mean"]) - 1) > 0.01:
            yield f"{name}: the mean of the cells is {found:.3f}"
        behind = sum(len(value) == 3 for value in compared(measurement))
        if behind != int(measurement["behind"]):
            yield f"{name}: {behind} cells are behind"


def described(measurement, report, page=""):
    """The lines of one measurement: heading, command, table, notes."""
    origin = [measurement["date"]]
    if "commit" in measurement:
        origin.append(f"commit {measurement['commit']}")
    if "peers" in measurement:
        origin.append("beside " + ", ".join(measurement["peers"]))
    kind, title, how = measurement["kind"], measurement["title"], measurement.get("how", "")
    parts = [wrapped(f"**[{kind}]({page}#{slug(kind)}): {title}.** {', '.join(origin)}. {how}".rstrip())]
    commands = measurement.get("command", [])
    if commands:
        parts.append("\n".join("    " + line for line in ([commands] if isinstance(commands, str) else commands)))
    if "mean" in measurement:
        number = f" of the {measurement['cells']} ratios" if "cells" in measurement else ""
        mean = f"Geometric mean{number}: **{measurement['mean']}**"
        barrier = f"; barrier {cell(measurement['barrier'])} (µs)" if "barrier" in measurement else ""
        parts.append(f"{mean}{barrier}; intervals below 0.95: {measurement['behind']}.")
    if "columns" in measurement:
        columns, rows = rows_of(measurement, report)
        parts.append(table(columns, rows))
    notes = [f"**Missed**: {'; '.join(measurement['missed'])}."] if "missed" in measurement else []
    notes += measurement.get("notes", [])
    if notes:
        parts.append("\n".join(wrapped(f"* {note}", "  ") for note in notes))
    return "\n\n".join(parts)


def result_of(measurement):
    """Tutti's figures and those of the best peer, or of a bound."""
    if "result" in measurement:
        return measurement["result"]
    behind = measurement["behind"]
    return [f"{measurement['mean']} times as fast (geometric mean)" + (f"; cells behind: {behind}" if behind != "0" else ""),
            f"best of {len(measurement['peers'])} MPIs" if len(measurement["peers"]) > 1 else measurement["peers"][0]]


def of_processor(report):
    """One table of all measurements, and the first table of cells."""
    parts = [wrapped(f"{report['processor']}. [All tables and notes](results/{report['file']}.md).")]
    rows = [[f"[{m['kind']}](#{slug(m['kind'])}): {m['title']}", m["date"], *result_of(m), "; ".join(m.get("missed", []))]
            for m in report["measurements"]]
    parts.append(table(["measurement", "date", "Tutti", "best peer, or bound", "goal missed: figure"], rows))
    return "\n\n".join(parts + [described(m, report) for m in report["measurements"] if compared(m) and "mean" in m][:1])


def page_of(report):
    """All tables of a processor."""
    parts = [f"# Measurements: {report['name']}", wrapped(
        f"`docs/results/tables.py` writes this page from `{report['file']}.json`; [Performance](../performance.md) explains "
        f"the kinds of measurement. Processor: {report['processor']}.")]
    parts += [wrapped(note) for note in report.get("notes", [])]
    parts += [described(measurement, report, "../performance.md") for measurement in report["measurements"]]
    return "\n\n".join(parts) + "\n"


def place_of(report):
    return f"[{report['name']}](#{slug(report['name'])})"


def summary(reports):
    rows = [[measurement["headline"], *result_of(measurement), f"{place_of(report)}, {measurement['date']}"]
            for report in reports for measurement in report["measurements"] if "headline" in measurement]
    return table(["measurement", "Tutti", "best peer", "processor"], rows)


def readme(reports):
    """The summary of those that the README has, with the first line of their commands."""
    rows = []
    for report in reports:
        for measurement in (m for m in report["measurements"] if m.get("readme")):
            commands = measurement["command"]
            command = (commands if isinstance(commands, str) else commands[0]).split("  #")[0].strip()
            rows.append([measurement["headline"], *result_of(measurement), f"{report['name']}, {measurement['date']}",
                         f"`{command}`"])
    return table(["measurement", "Tutti", "best peer", "processor", "command"], rows)


def means(reports):
    rows = [[place_of(report), measurement["date"], measurement["title"], measurement.get("cells", ""),
             str(len(measurement["peers"])), measurement["mean"], measurement["behind"]]
            for report in reports for measurement in report["measurements"]
            if "mean" in measurement and measurement["kind"] == "Collectives on one node"]
    return table(["processor", "date", "calls", "cells", "peers", "geometric mean", "cells behind"], rows)


def read():
    reports = []
    for path in sorted(FOLDER.glob("*.json")):
        report = json.loads(path.read_text(encoding="utf-8"), parse_float=str, parse_int=str)
        report["file"] = path.stem
        reports.append(report)
    return reports


def filled(page, texts):
    """The page with its places filled, and what is wrong with them."""
    text = page.read_text(encoding="utf-8")
    places = [place for _, place, _ in PLACE.findall(text)]
    problems = [f"{page.name} has no place for {name}" for name in texts if name not in places]
    problems += [f"{page.name} has a place for {name}, which no file has" for name in places if name not in texts]
    return PLACE.sub(lambda match: f"{match[1]}\n{texts.get(match[2])}\n\n{match[3]}", text), problems


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not up to date")
    options = parser.parse_args()
    page, reports = PAGE.read_text(encoding="utf-8"), read()
    problems = [f"{report['file']}: {problem}" for report in reports for measurement in report["measurements"]
                for problem in problems_of(measurement, page)]
    texts = {"summary": summary(reports), "means": means(reports)}
    texts.update((report["id"], of_processor(report)) for report in reports)
    pages = {}
    for path, places in ((PAGE, texts), (README, {"readme": readme(reports)})):
        pages[path], wrong = filled(path, places)
        problems += wrong
    if not problems:
        pages.update((FOLDER / f"{report['file']}.md", page_of(report)) for report in reports)
        for path, text in pages.items():
            if not options.check:
                path.write_text(text, encoding="utf-8")
            elif not path.is_file() or path.read_text(encoding="utf-8") != text:
                problems.append(f"{path.name} differs from docs/results/*.json: run docs/results/tables.py")
        problems += [f"{path.name} has no file of measurements" for path in sorted(FOLDER.glob("*.md")) if path not in pages]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(reports)} files, {sum(len(report['measurements']) for report in reports)} measurements, "
          f"{len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
