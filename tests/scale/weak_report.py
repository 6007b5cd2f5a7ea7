# SPDX-License-Identifier: BSD-3-Clause
"""The tables, in Markdown, and the plot of weak scaling."""
import math

import steps

MEASURED = ("1 rank", "2 ranks of one host", "2 hosts of namespaces")


def ms(seconds, mark=""):
    value = 1e3 * seconds
    return mark + (f"{value:.3f}" if value < 10 else f"{value:.1f}")


def speed_text(speed):
    return "as measured" if speed == 1 else f"{speed:g} times as fast as measured"


class Points:
    """What a table has of a row: steps and efficiencies, by Tutti and by the best selectors."""

    def __init__(self, row, one):
        self.one = one.compute
        self.tutti = row.steps(row.times.tutti) if row.times else (row.compute, row.compute)
        best = row.times.all_of_best() if row.times else None
        self.best = row.steps(best) if best else None if row.times else (row.compute, row.compute)

    def efficiencies(self, of):
        """Without and with overlap."""
        found = getattr(self, of)
        return [self.one / step for step in found] if found else None


def communication(row):
    """Two columns for each group of calls."""
    cells = []
    for names in row.app.groups().values():
        if row.times is None:
            cells += ["", ""]
            continue
        mark = "~" if any(name in row.times.predicted for name in names) else ""
        cells.append(ms(sum(row.times.tutti[name] for name in names), mark))
        found = [row.times.best.get(name) for name in names]
        mark = "≤ " if any(name in row.times.incomplete for name in names) else ""
        cells.append("" if None in found else ms(sum(found), mark))
    return cells


def percent(values):
    return [f"{100 * value:.1f} %" for value in values]


def table(rows):
    groups = rows[0].app.groups()
    head = ["nodes", "computation", *(f"{group}, {who}" for group in groups for who in ("Tutti", "best selector")),
            "step, Tutti: nothing hidden", "overlapped", "efficiency", "step, best selectors: nothing hidden",
            "overlapped", "efficiency"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for row in rows:
        points = Points(row, rows[0])
        cells = [f"{row.nodes:,}", ms(row.compute), *communication(row)]
        cells += [*map(ms, points.tutti), percent(points.efficiencies("tutti"))[1]]
        most, least = ("≤ ", "≥ ") if row.times and row.times.incomplete else ("", "")
        cells += [*(ms(step, most) for step in points.best), least + percent(points.efficiencies("best"))[1]] \
            if points.best else ["", "", ""]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def shards_table(shards):
    lines = ["| nodes | columns of the rank with most | its rows, GB | lookups and updates, to one rank's | "
             "divisions of the 26 tables |", "|---|---|---|---|---|"]
    for nodes, found in shards.items():
        lines.append(f"| {nodes:,} | {found.vectors} | {found.bytes / 1e9:.1f} | "
                     f"{found.seconds / shards[1].seconds:.2f} | {found.ways} |")
    return lines


def measured_table(measured, tables):
    lines = ["| step of | where | step, ms | of several runs | exposed communication, ms |", "|---|---|---|---|---|"]
    for app in steps.APPS:
        for place in MEASURED:
            found = measured[app.name].get(place)
            if found:
                lines.append(f"| {app.title} | {place}, measured | {ms(found['step'])} | "
                             f"{ms(found['steps'][0])} to {ms(found['steps'][-1])} | {ms(found['exposed'])} |")
        two = next((row for row in tables[app, 1] if row.nodes == 2), None)
        if two:
            step = two.steps(two.times.tutti)[1]
            lines.append(f"| {app.title} | 2 nodes, the model | {ms(step)} | | {ms(step - two.compute)} |")
    return lines


def phases_table(measured):
    lines = []
    for app in steps.APPS:
        phases = measured[app.name]["1 rank"]["phases"]
        lines += ["| " + " | ".join([app.title, *app.PHASES]) + " |", "|---" * (len(app.PHASES) + 1) + "|",
                  "| ms | " + " | ".join(ms(phases[phase]) for phase in app.PHASES) + " |", ""]
    return lines


# The plot.

WIDTH, HEIGHT, LEFT, TOP = 420, 250, 60, 60
LINES = (("Tutti, overlapped", "tutti", 1, "#0072b2", ""), ("Tutti, nothing hidden", "tutti", 0, "#0072b2", "5 4"),
         ("best selectors, overlapped", "best", 1, "#d55e00", ""),
         ("best selectors, nothing hidden", "best", 0, "#d55e00", "5 4"))


def panel(rows, title, x0, y0):
    most = math.log2(rows[-1].nodes)

    def at(nodes, efficiency):
        return f"{x0 + WIDTH * math.log2(nodes) / most:.1f},{y0 + HEIGHT * (1 - efficiency):.1f}"

    parts = [f'<text x="{x0}" y="{y0 - 10}" font-weight="bold">{title}</text>',
             f'<rect x="{x0}" y="{y0}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
    for tenth in range(0, 11, 2):
        y = y0 + HEIGHT * (1 - tenth / 10)
        parts += [f'<text x="{x0 - 8}" y="{y + 4}" text-anchor="end">{10 * tenth} %</text>',
                  f'<line x1="{x0}" y1="{y}" x2="{x0 + WIDTH}" y2="{y}" stroke="#ddd"/>']
    for row in rows:
        x = x0 + WIDTH * math.log2(row.nodes) / most
        parts.append(f'<text x="{x}" y="{y0 + HEIGHT + 18}" text-anchor="middle">{row.nodes:,}</text>')
    for _, of, overlap, colour, dashes in LINES:
        found = [(row.nodes, Points(row, rows[0]).efficiencies(of)) for row in rows]
        points = " ".join(at(nodes, values[overlap]) for nodes, values in found if values)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" '
                     f'stroke-dasharray="{dashes}"/>')
    return parts


def plot(tables, network):
    speeds = list(dict.fromkeys(speed for _, speed in tables))
    parts = []
    for (app, speed), rows in tables.items():
        x = LEFT + (WIDTH + 90) * speeds.index(speed)
        y = TOP + (HEIGHT + 80) * steps.APPS.index(app)
        parts += panel(rows, f"{app.title}, computation {speed_text(speed)}", x, y)
    width = LEFT + (WIDTH + 90) * len(speeds)
    height = TOP + (HEIGHT + 80) * len(steps.APPS) + 20
    for i, (name, _, _, colour, dashes) in enumerate(LINES):
        x = LEFT + 230 * i
        parts += [f'<line x1="{x}" y1="{height - 24}" x2="{x + 28}" y2="{height - 24}" stroke="{colour}" '
                  f'stroke-width="2" stroke-dasharray="{dashes}"/>',
                  f'<text x="{x + 34}" y="{height - 20}">{name}</text>']
    head = f"Weak scaling: one rank's step over that of so many nodes, simulated {network} (SimGrid's SMPI)"
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      'font-family="sans-serif" font-size="12">', '<rect width="100%" height="100%" fill="#fff"/>',
                      f'<text x="{LEFT}" y="24" font-size="14" font-weight="bold">{head}</text>', *parts, "</svg>", ""])


def write(options, measured, tables, shards):
    options.report.mkdir(parents=True, exist_ok=True)
    network = options.network.replace("_", " ")
    lines = ["# Weak scaling, simulated", "", "By tests/scale/weak.py; see [scale.md](../scale.md).", "",
             f"Milliseconds. Computation: {measured['processor']}, {measured['date']}, one rank on one core, quickest "
             f"of {measured['rounds']} runs. Communication: {network}, one rank a node; ~: predicted, not simulated; "
             "≤: not all selectors were simulated.", ""]
    for (app, speed), rows in tables.items():
        lines += [f"## {app.title}, computation {speed_text(speed)}", "", *table(rows), ""]
    lines += ["## Tables of DLRM", "", *shards_table(shards), "", "## Measured, and the model", "",
              *measured_table(measured, tables), "", "Phases of a step on one rank:", "", *phases_table(measured)]
    (options.report / "weak.md").write_text("\n".join(lines))
    (options.report / "weak.svg").write_text(plot(tables, network))
    print(f"wrote {options.report}/weak.md and weak.svg")
