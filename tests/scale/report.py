# SPDX-License-Identifier: BSD-3-Clause
"""Tables, in Markdown, and plots of what the study has found."""
import datetime
import json
import math
import subprocess

SELECTORS = ("mpich", "mpich5", "ompi", "mvapich2", "han")
NAMES = {"mpich": "MPICH", "mpich5": "MPICH 5", "ompi": "Open MPI", "mvapich2": "MVAPICH2", "han": "HAN"}
EVEN = 1.005  # the clocks of two simulations differ in the last digits


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def time_text(seconds):
    us = seconds * 1e6
    return f"{us:.2f} us" if us < 100 else f"{us:.0f} us" if us < 1e5 else f"{us / 1e3:.0f} ms"


class Cell:
    """One call on one layout: Tutti's choice, its prediction, and the times of all."""

    def __init__(self, way, predicted, seconds, selectors):
        self.way, self.predicted, self.seconds, self.selectors = way, predicted, seconds, selectors

    @property
    def best(self):
        return min(self.selectors, key=self.selectors.get)

    @property
    def ratio(self):
        return self.seconds / self.selectors[self.best]


def cells_of(points, predictions):
    cells = {}
    for key, (way, predicted) in predictions.items():
        selectors = {one: points[*key, one] for one in SELECTORS if (*key, one) in points}
        if (*key, way) in points and selectors:
            cells[key] = Cell(way, predicted, points[*key, way], selectors)
    return cells


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def summary(cells, predictions):
    lines = ["| network | layout | calls | not simulated | at most as long as the best selector | losses | "
             "geometric mean of the ratios | predictions within 25 % |", "|---|---|---|---|---|---|---|---|"]
    for place in dict.fromkeys(key[:2] for key in predictions):
        of_place = [cell for key, cell in cells.items() if key[:2] == place]
        if not of_place:
            continue
        asked = sum(1 for key in predictions if key[:2] == place)
        losses = sum(cell.ratio > EVEN for cell in of_place)
        near = sum(0.8 <= cell.predicted / cell.seconds <= 1.25 for cell in of_place)
        lines.append(f"| {place[0].replace('_', ' ')} | {place[1].replace('x', ' x ')} | {len(of_place)} | "
                     f"{asked - len(of_place)} | {len(of_place) - losses} | {losses} | "
                     f"{mean([cell.ratio for cell in of_place]):.3f} | {near} |")
    return lines


def losses(cells):
    lines = ["| network | layout | operation | bytes | Tutti's choice | time | best selector | time | ratio |",
             "|---|---|---|---|---|---|---|---|---|"]
    for (network, layout, operation, size), cell in cells.items():
        if cell.ratio > EVEN:
            lines.append(f"| {network.replace('_', ' ')} | {layout.replace('x', ' x ')} | {operation} | "
                         f"{size_text(size)} | {cell.way} | {time_text(cell.seconds)} | {NAMES[cell.best]} | "
                         f"{time_text(cell.selectors[cell.best])} | {cell.ratio:.2f} |")
    return lines


def ratios(cells, place):
    """A row for each operation and size of a layout: time, choice, and the time of each selector that was run."""
    of_place = {key: cell for key, cell in cells.items() if key[:2] == place}
    selectors = [one for one in SELECTORS if any(one in cell.selectors for cell in of_place.values())]
    lines = ["| operation | bytes | Tutti's choice | predicted | simulated | " +
             " | ".join(NAMES[one] for one in selectors) + " |", "|---" * (5 + len(selectors)) + "|"]
    for key, cell in of_place.items():
        times = [time_text(cell.selectors[one]) if one in cell.selectors else "" for one in selectors]
        lines.append(f"| {key[2]} | {size_text(key[3])} | {cell.way} | {time_text(cell.predicted)} | "
                     f"{time_text(cell.seconds)} | {' | '.join(times)} |")
    return lines


def plot(options, cells, place, path):
    """A panel for each operation, drawn by tutti-commbench, which reads such a document."""
    points = []
    for key, cell in cells.items():
        if key[:2] != place or key[2] == "barrier":
            continue
        for name, seconds in [("auto", cell.seconds), *((NAMES[one], cell.selectors[one]) for one in SELECTORS
                                                        if one in cell.selectors)]:
            points.append({"operation": key[2], "datatype": "-", "reduce_op": "-", "memory": "host",
                           "mode": "blocking", "algorithm": name, "bytes": key[3],
                           "latency_us": {"p50": float(f"{seconds * 1e6:.4g}")}})
    nodes, per_node = map(int, place[1].split("x"))
    document = {"machine": {"processor": f"simulated {place[0].replace('_', ' ')} by SimGrid's SMPI",
                            "ranks": nodes * per_node, "nodes": nodes},
                "date": datetime.date.today().isoformat(), "points": points}
    data = options.folder / "plot.json"
    data.write_text(json.dumps(document))
    subprocess.run([options.build / "bin/tutti-commbench", "plot", data, "-o", path], check=True)


def write(options, points, predictions):
    options.report.mkdir(parents=True, exist_ok=True)
    cells = cells_of(points, predictions)
    places = list(dict.fromkeys(key[:2] for key in cells))
    lines = ["# Simulated times", "", "By tests/scale/study.py; see [scale.md](../scale.md).", "", "## Summary", "",
             *summary(cells, predictions), "", "## Losses", "", *losses(cells), ""]
    for place in places:
        lines += [f"## {place[0].replace('_', ' ')}, {place[1].replace('x', ' x ')}", "", *ratios(cells, place), ""]
        plot(options, cells, place, options.report / f"{place[0]}_{place[1]}.svg")
    (options.report / "tables.md").write_text("\n".join(lines))
    print(f"wrote {options.report}/tables.md and {len(places)} plots")
