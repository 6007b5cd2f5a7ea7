#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what tutti-commbench --json wrote, or tutti-sgd --json-file with --scaling, --breakdown or --sweep-buckets.
`tutti-commbench plot` and `tutti-sgd --svg-file` call it; by hand, on any machine:

    chart.py out.json -o out.svg --metric busbw --operations bcast,allreduce
"""
import argparse
import collections
import json
import math
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from draw import MARGIN, Drawing, Problem, bytes_text, text_width  # noqa: E402

# Colours that stay apart in print and for most kinds of colour blindness (Okabe and Ito).
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f", "#5b3a8c")
DASHES = (None, "6 3", "2 3", "8 3 2 3")
REFERENCE = dict(stroke="#9a9a9a", stroke_width=1.2, stroke_dasharray="5 4")
BASES = {"decades": 10, "counts": 2, "bytes": 4}  # of logarithmic axes

Panel = collections.namedtuple("Panel", "title y_label series")
# One line with a dot at each point; a single point is a larger dot. A reference, such as an ideal, has no dots.
Series = collections.namedtuple("Series", "name x y is_reference", defaults=[False])
# `below`: a thin bar under the others that ends where the parts before it end: what runs beside them.
Segment = collections.namedtuple("Segment", "name value below", defaults=[False])


def round_step(length):
    """1, 2 or 5 times a power of ten: about five ticks."""
    power = 10 ** math.floor(math.log10(length / 5))
    digit = length / 5 / power
    return power * (1 if digit < 1.5 else 2 if digit < 3.5 else 5 if digit < 7.5 else 10)


class Axis:
    """An axis that holds some values between two pixels: linear from 0, or logarithmic, of whole powers of its base."""

    def __init__(self, kind, values, start, end):
        if not all(math.isfinite(value) and (value > 0 or kind == "linear") for value in values):
            raise Problem(f"a value has no place on an axis of {kind}")
        self.kind, self.start, self.end, self.base = kind, start, end, BASES.get(kind)
        low, high = min(values), max(values)
        if kind == "linear":
            low, high = min(0, low), max(high, 0, low + 1e-9)
            step = round_step(high - low)
            self.low, self.high = math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step
        else:
            first = math.floor(math.log(low, self.base) + 1e-9)
            last = max(first + 1, math.ceil(math.log(high, self.base) - 1e-9))
            self.low, self.high = float(self.base) ** first, float(self.base) ** last

    def at(self, value):
        low, high, value = map(math.log if self.base else float, (self.low, self.high, value))
        return self.start + (value - low) / (high - low) * (self.end - self.start)

    def words(self, value):
        if self.kind == "bytes":
            return bytes_text(value)
        return f"{value:.9g}" if self.kind == "linear" else f"{value:.4g}"

    def ticks(self):
        """Values, their words, which may be empty, and whether they have a strong line."""
        if self.kind == "linear":
            step = round_step(self.high - self.low)
            first, last = math.ceil(self.low / step - 1e-6), math.floor(self.high / step + 1e-6)
            return [(i * step, self.words(i * step), True) for i in range(first, last + 1)]
        if self.kind == "decades":
            named = (1, 2, 5) if self.high / self.low < 1001 else (1,)
            return [(value, self.words(value) if digit in named else "", digit == 1)
                    for decade in self.powers(10) for digit in range(1, 10)
                    if (value := decade * digit) <= self.high * 1.001]
        ratio = self.base
        while not self.stay_apart(powers := self.powers(ratio)):
            ratio *= self.base
        return [(value, self.words(value), True) for value in powers]

    def powers(self, ratio):
        count = int(math.log(self.high / self.low, ratio) + 1e-3) + 1
        return [self.low * ratio ** i for i in range(count)]

    def stay_apart(self, values):
        """Whether words at successive ticks do: an axis that grows to the right needs the width of the widest."""
        room = max(text_width(self.words(value), 10) + 6 for value in values) if self.end > self.start else 14
        return len(values) < 2 or abs(self.at(values[1]) - self.at(values[0])) >= max(14, room)


def colour_of(names, name):
    return PALETTE[names.index(name) % len(PALETTE)]


def line_of(names, name):
    return dict(stroke=colour_of(names, name), stroke_width=1.8,
                stroke_dasharray=DASHES[names.index(name) // len(PALETTE) % len(DASHES)])


class Legend:
    """Names in rows, each told once; that of a reference comes last. Squares if they are filled, else lines."""
    ROW = 20

    def __init__(self, names, width, is_filled, reference=None):
        self.names, self.is_filled, self.places = names, is_filled, []
        x, row = MARGIN, 0
        for name in names + [reference] * (reference is not None):
            wide = 44 + text_width(name)
            if x > MARGIN and x + wide > width:
                x, row = MARGIN, row + 1
            self.places.append((name, x, row * self.ROW))
            x += wide
        self.height = (row + 1) * self.ROW + 14

    def draw(self, drawing, top):
        for name, x, y in self.places:
            y += top + 14
            if self.is_filled:
                drawing.shape("rect", x=x + 8, y=y - 10, width=14, height=11, fill=colour_of(self.names, name))
            else:
                style = line_of(self.names, name) if name in self.names else REFERENCE
                drawing.shape("line", x1=x, y1=y - 4, x2=x + 24, y2=y - 4, **style)
            drawing.text(x + 30, y, name)


class PanelsDrawing:
    """Panels beside and below one another, with the same kinds of axes; a name has one colour in all of them."""
    WIDTH, HEIGHT, COLUMNS = 470, 330, 3
    LEFT, RIGHT, TOP, BOTTOM = 66, 26, 30, 48  # room around the frame of a panel

    def __init__(self, panels, x_label, x_kind, y_kind, title, notes=""):
        self.x_label, self.x_kind, self.y_kind = x_label, x_kind, y_kind
        lines = [series for panel in panels for series in panel.series]
        self.names = list(dict.fromkeys(series.name for series in lines if not series.is_reference))
        reference = next((series.name for series in lines if series.is_reference), None)
        columns = min(self.COLUMNS, len(panels))
        width = max(self.WIDTH * columns, text_width(title, 15, True) + 2 * MARGIN, text_width(notes, 11) + 2 * MARGIN)
        legend = Legend(self.names, width - MARGIN, False, reference)
        head = 64 if notes else 44
        top = head + legend.height
        self.drawing = Drawing(width, top + self.HEIGHT * math.ceil(len(panels) / columns), title)
        if notes:
            self.drawing.text(MARGIN, 52, notes, size=11, fill="#555555")
        legend.draw(self.drawing, head)
        for i, panel in enumerate(panels):
            with self.drawing.group("panel"):
                self.draw_panel(panel, self.WIDTH * (i % columns), top + self.HEIGHT * (i // columns))

    def draw_panel(self, panel, left, top):
        left, right, top, floor = (left + self.LEFT, left + self.WIDTH - self.RIGHT, top + self.TOP,
                                   top + self.HEIGHT - self.BOTTOM)
        x = Axis(self.x_kind, [value for series in panel.series for value in series.x], left, right)
        y = Axis(self.y_kind, [value for series in panel.series for value in series.y], floor, top)
        for value, words, is_main in x.ticks():
            self.rule(x.at(value), floor, x.at(value), top, "#e4e4e4" if is_main else "#f0f0f0")
            if words:
                self.drawing.text(x.at(value), floor + 16, words, size=10, anchor="middle")
        for value, words, is_main in y.ticks():
            self.rule(left, y.at(value), right, y.at(value), "#cccccc" if is_main else "#f0f0f0")
            if words:
                self.drawing.text(left - 6, y.at(value) + 4, words, size=10, anchor="end")
        self.drawing.shape("rect", x=left, y=top, width=right - left, height=floor - top, fill="none", stroke="#888888")
        for series in panel.series:
            self.draw_series(series, x, y)
        middle = (top + floor) / 2
        self.drawing.text((left + right) / 2, floor + 36, self.x_label, anchor="middle")
        self.drawing.text(left - 48, middle, panel.y_label, anchor="middle",
                          transform=f"rotate(-90 {left - 48} {middle})")
        self.drawing.text((left + right) / 2, top - 10, panel.title, size=13, anchor="middle", bold=True)

    def rule(self, x1, y1, x2, y2, colour):
        self.drawing.shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=colour)

    def draw_series(self, series, x, y):
        points = [(x.at(a), y.at(b)) for a, b in zip(series.x, series.y)]
        if len(points) > 1:
            self.drawing.shape("polyline", points=" ".join(f"{a:.2f},{b:.2f}" for a, b in points), fill="none",
                               **(REFERENCE if series.is_reference else line_of(self.names, series.name)))
        if not series.is_reference:
            for (a, b), size, value in zip(points, series.x, series.y):
                self.drawing.shape("circle", cx=a, cy=b, r=2.8 if len(points) > 1 else 5.0,
                                   fill=colour_of(self.names, series.name),
                                   tooltip=f"{series.name}: {x.words(size)}, {value:g}")


class BarsDrawing:
    """Horizontal bars of parts in a row, the sum at the end; a name has one colour."""
    ROW, BAR, THIN = 44, 22, 7  # heights
    PLOT, RIGHT, BOTTOM = 620, 80, 44

    def __init__(self, bars, unit, title):
        self.names = list(dict.fromkeys(part.name for parts in bars.values() for part in parts))
        left = max(map(text_width, bars)) + 24
        width = max(left + self.PLOT + self.RIGHT, text_width(title, 15, True) + 2 * MARGIN)
        legend = Legend(self.names, width - MARGIN, True)
        top = 44 + legend.height
        floor = top + self.ROW * len(bars)
        lengths = [sum(part.value for part in parts if not part.below) for parts in bars.values()]
        self.x = Axis("linear", lengths, left, left + self.PLOT)
        self.drawing = Drawing(width, floor + self.BOTTOM, title)
        legend.draw(self.drawing, 44)
        for value, words, _ in self.x.ticks():
            x = self.x.at(value)
            self.drawing.shape("line", x1=x, y1=top, x2=x, y2=floor, stroke="#e4e4e4")
            self.drawing.text(x, floor + 16, words, size=10, anchor="middle")
        self.drawing.text(left + self.PLOT / 2, floor + 34, unit, anchor="middle")
        for i, (label, parts) in enumerate(bars.items()):
            self.draw_bar(label, parts, top + 8 + self.ROW * i)

    def draw_bar(self, label, parts, y):
        end = 0
        for part in parts:
            begin, until = (max(0, end - part.value), end) if part.below else (end, end + part.value)
            self.drawing.shape("rect", x=self.x.at(begin), y=y + (self.BAR + 1) * part.below,
                               width=self.x.at(until) - self.x.at(begin), height=self.THIN if part.below else self.BAR,
                               fill=colour_of(self.names, part.name), tooltip=f"{label}, {part.name}: {part.value:.2f}")
            end = end if part.below else until
        self.drawing.text(self.x.start - 8, y + self.BAR / 2 + 4, label, anchor="end")
        self.drawing.text(self.x.at(end) + 6, y + self.BAR / 2 + 4, f"{end:.1f}", size=11)


# Collectives: a panel for each operation, datatype, reduction, memory and mode; a line for each algorithm.

METRICS = {"latency": ("latency", "latency, µs (median)", lambda point: point["latency_us"]["p50"]),
           "algbw": ("algorithm bandwidth", "algorithm bandwidth, GB/s", lambda point: point.get("algbw_gb_s", 0)),
           "busbw": ("bus bandwidth", "bus bandwidth, GB/s", lambda point: point.get("busbw_gb_s", 0))}


def notes_of(document):
    """Processor, ranks, MPI and date; what the document has of them."""
    machine = document.get("machine", {})
    if not isinstance(machine, dict):
        return str(machine)
    nodes = machine.get("nodes", 1)
    ranks = f"{machine['ranks']} ranks on {nodes} node" + "s" * (nodes != 1) if "ranks" in machine else ""
    mpi = [line[5:] for line in machine.get("libraries", []) if line.startswith("MPI: ")]
    return "; ".join(filter(None, [machine.get("processor"), ranks, *mpi, document.get("date")]))


def collectives(document, options):
    what, y_label, value_of = METRICS[options.metric]
    panels = {}
    for point in document["points"]:
        if "skipped" in point or (options.operations and point["operation"] not in options.operations):
            continue
        facts = [point[key] for key in ("datatype", "reduce_op", "memory", "mode")]
        title = ", ".join([point["operation"]] + [fact for fact in facts if fact not in ("-", "host", "blocking")])
        name = "Tutti" if point["algorithm"] == "auto" else point["algorithm"]
        if value_of(point) > 0:
            series = panels.setdefault(title, {}).setdefault(name, Series(name, [], []))
            series.x.append(max(1, point["bytes"]))  # a logarithmic axis has no zero: a barrier is drawn at 1
            series.y.append(value_of(point))
    if not panels:
        raise Problem("no figures to draw; look at --operations and --metric")
    return PanelsDrawing([Panel(title, y_label, list(lines.values())) for title, lines in panels.items()],
                         "size of the vector, or of all blocks of a rank", "bytes", "decades", f"Collectives: {what}",
                         notes_of(document))


# The studies of tutti-sgd.

def scaling(document):
    """Time, efficiency and exposed communication over the ranks, with the ideal: the first method's step on one rank,
    divided by the ranks if they share the work."""
    points, is_weak = document["points"], document["scaling"] == "weak"
    ranks = [point["ranks"] for point in points]
    alone = points[0]["modes"][0]["step_ms"]
    steps = [alone if is_weak else alone / count for count in ranks]
    kind = f"{document['scaling']} scaling"
    panels = [Panel(f"{kind}: {title}", label,
                    [Series(first["mode"], ranks, [point["modes"][i][key] for point in points])
                     for i, first in enumerate(points[0]["modes"])] + [Series("ideal", ranks, ideal, True)])
              for title, label, key, ideal in (
                  ("time per step", "milliseconds", "step_ms", steps),
                  ("efficiency", "of one rank's", "efficiency", [1] * len(ranks)),
                  ("exposed communication", "milliseconds per step", "exposed_ms", [0] * len(ranks)))]
    return PanelsDrawing(panels, "ranks", "counts", "linear", f"{kind}: {document['title']}")


def sweep(document):
    """Time and exposed communication over the size of buckets; what has no buckets is a level."""
    by_size = [point for point in document["sweep"] if not point["auto"]]
    chosen = [point for point in document["sweep"] if point["auto"]]
    sizes = [point["bucket_bytes"] for point in by_size]
    panels = [Panel(title, "milliseconds",
                    [Series("overlap", sizes, [point[key] for point in by_size])] +
                    [Series("auto", [point["bucket_bytes"]], [point[key]]) for point in chosen] +
                    [Series(level["mode"], [sizes[0], sizes[-1]], [level[key]] * 2) for level in document["levels"]])
              for title, key in (("time per step", "step_ms"), ("exposed communication", "exposed_ms"))]
    return PanelsDrawing(panels, "bucket size", "bytes", "linear", f"buckets: {document['title']}")


def breakdown(document):
    """A step by its parts; hidden communication runs beside backward."""
    bars = {row["mode"]: [Segment("forward", row["forward_ms"]), Segment("backward", row["backward_ms"]),
                          Segment("hidden communication", max(0, row["communication_ms"] - row["exposed_ms"]), True),
                          Segment("exposed communication", row["exposed_ms"]), Segment("update", row["update_ms"])]
            for row in document["breakdown"]}
    return BarsDrawing(bars, "milliseconds per step", document["title"])


STUDIES = {"scaling": scaling, "sweep": sweep, "breakdown": breakdown}


def chart(text, options):
    """The SVG document of what a mini-app wrote."""
    try:
        document = json.loads(text)
        study = next((draw for key, draw in STUDIES.items() if key in document), None)
        return str((study(document) if study else collectives(document, options)).drawing)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise Problem("not a file that tutti-commbench --json or a study of tutti-sgd --json-file wrote "
                      f"({type(error).__name__}: {error})") from error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="what a mini-app wrote; -: standard input")
    parser.add_argument("-o", "--output", required=True, help="the SVG to write")
    parser.add_argument("--metric", choices=METRICS, default="latency", help="which figures of collectives")
    parser.add_argument("--operations", type=lambda words: words.split(","), help="only these collectives")
    options = parser.parse_args()
    try:
        content = sys.stdin.buffer.read() if options.file == "-" else pathlib.Path(options.file).read_bytes()
        drawing = chart(content.decode(), options)
        temporary = f"{options.output}.tmp{os.getpid()}"
        pathlib.Path(temporary).write_text(drawing, encoding="utf-8")
        os.replace(temporary, options.output)
    except (Problem, UnicodeDecodeError) as problem:
        print(f"{options.file}: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        remedy = "name a file in a folder that can be read and written"
        print(f"{error.filename}: {error.strerror}; {remedy}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
