#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tutti's choices on real machines, from times that others have measured there.

    tests/scale/real.py                                    # ../shared/pico/measured.csv
    tests/scale/real.py FILE --judge OTHER --report docs/scale       # links from FILE, judged on the cells of OTHER

For each machine of the file the planner's links are fitted to a tenth of its cells at most (fitted.py); of each other
cell the planner names the algorithm that it prefers among those that were measured there (pico.py). Regret is the time
of this one over the least: of the algorithms that Tutti has, and of all that were measured. Needs the target
tutti_scale_choices. Ends with 77 where the file is not there.
"""
import argparse
import collections
import dataclasses
import datetime
import math
import pathlib
import sys

import fitted
import pico
import report

ROOT = pathlib.Path(__file__).resolve().parents[2]
WANTED = {"mean": 1.10, "often": 1.3, "part": 0.95, "worst": 2}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("file", nargs="?", type=pathlib.Path, default=ROOT.parent / "shared/pico/measured.csv")
    add("--choices", type=pathlib.Path, default=pathlib.Path("build/release/tests/tutti_scale_choices"),
        help="the program that asks the planner")
    add("--judge", type=pathlib.Path, metavar="FILE", help="judges all cells of this file, and none of the first one")
    add("--machines", nargs="+", metavar="NAME", help="these alone")
    add("--most", type=float, metavar="REGRET", help="ends with 1 where the geometric mean of all cells is above")
    add("--report", type=pathlib.Path, metavar="DIR", help="writes real.md here")
    return parser.parse_args()


@dataclasses.dataclass
class Judged:
    """A cell that the fit has not seen, the planner's choice there, and its predictions."""
    cell: pico.Cell
    choice: str
    predicted: dict

    @property
    def best(self):
        return min(self.cell.known, key=self.cell.known.get)

    @property
    def regret(self):
        return self.cell.known[self.choice] / self.cell.known[self.best]

    @property
    def regret_of_all(self):
        return self.cell.known[self.choice] / min(self.cell.measured.values())

    @property
    def regret_of_mpi(self):
        """Of the choice of the machine's MPI, of all that were measured; None where it was not."""
        times = self.cell.measured
        return min((times[name] / min(times.values()) for name in pico.OWN if name in times), default=None)

    @property
    def errors(self):
        """The predicted over the measured times."""
        return [self.predicted[name] / seconds for name, seconds in self.cell.known.items() if name in self.predicted]


def judged(planner, figures, cells):
    """Where there is a choice."""
    cells = [cell for cell in cells if len(cell.known) > 1]
    ways = planner.predict(figures, cells)
    found = []
    for cell in cells:
        predicted = ways[cell.call]
        may_be = [name for name in predicted if name in cell.known]  # of equal ones the planner's first
        if may_be:
            found.append(Judged(cell, min(may_be, key=predicted.get), predicted))
    return found


def unseen(cells, seen):
    calls = {cell.call for cell in seen}
    return [cell for cell in cells if cell.call not in calls]


def all_regrets(of_machine):
    return [one.regret for some in of_machine.values() for one in some]


def spread(ratios):
    """The factor by which predictions are off, in the quadratic mean."""
    return math.exp(math.sqrt(sum(math.log(ratio) ** 2 for ratio in ratios) / len(ratios)))


def row(words, some):
    regrets = [one.regret for one in some]
    errors = [ratio for one in some for ratio in one.errors]
    of_mpi = [one.regret_of_mpi for one in some if one.regret_of_mpi is not None]
    often = sum(regret <= WANTED["often"] for regret in regrets) / len(regrets)
    kept = (report.mean(regrets) <= WANTED["mean"] and often >= WANTED["part"] and max(regrets) <= WANTED["worst"])
    return (f"| {' | '.join(words)} | {len(some)} | {report.mean(regrets):.3f} | {often:.0%} | {max(regrets):.2f} | "
            f"{'yes' if kept else 'no'} | {report.mean([one.regret_of_all for one in some]):.3f} | "
            f"{f'{report.mean(of_mpi):.3f}' if of_mpi else ''} | {report.mean(errors):.2f} | {spread(errors):.2f} |")


def summary(of_machine):
    lines = ["| machine | operation | cells | regret, geometric mean | at most 1.3 | worst | as wanted | "
             "over all measured | the MPI's own choice over all measured | predicted over measured | off by |",
             "|---" * 11 + "|"]
    for machine, some in of_machine.items():
        by = collections.defaultdict(list)
        for one in some:
            by[one.cell.call.operation].append(one)
        lines += [row((machine, operation), by[operation]) for operation in sorted(by)]
        lines.append(row((machine, "all"), some))
    if len(of_machine) > 1:
        lines.append(row(("all", "all"), [one for some in of_machine.values() for one in some]))
    return lines


RANGES = ((4096, "to 4 KiB"), (1 << 18, "to 256 KiB"), (math.inf, "longer"))
LEAST_PART = 0.02


def most_often(names):
    return collections.Counter(names).most_common(1)[0][0]


def sources(of_machine):
    """What regret consists of: the parts of its logarithms that like cells have, where one is worth a row."""
    groups = collections.defaultdict(list)
    for one in (one for some in of_machine.values() for one in some):
        call = one.cell.call
        length = next(text for most, text in RANGES if call.bytes <= most)
        groups[call.machine, call.operation, length, str(call.per_node)].append(one)
    parts = {words: (sum(math.log(one.regret) for one in some), sum(math.log(one.regret_of_all) for one in some))
             for words, some in groups.items()}
    totals = [sum(part[i] for part in parts.values()) or 1 for i in (0, 1)]
    lines = ["| machine | operation | bytes | ranks a node | cells | part of the regret | of that over all measured | "
             "most often chosen | best of Tutti's | best of all |", "|---" * 10 + "|"]
    for words, both in sorted(parts.items(), key=lambda item: [-part for part in item[1]]):
        shares = [part / total for part, total in zip(both, totals)]
        if max(shares) >= LEAST_PART:
            some = groups[words]
            names = (most_often(one.choice for one in some), most_often(one.best for one in some),
                     most_often(min(one.cell.measured, key=one.cell.measured.get) for one in some))
            lines.append(f"| {' | '.join(words)} | {len(some)} | {shares[0]:.0%} | {shares[1]:.0%} | "
                         f"{' | '.join(names)} |")
    return lines


def layout_text(call):
    return f"{call.nodes} x {call.per_node}"


def misses(of_machine):
    lines = ["| machine | layout | operation | bytes | Tutti's choice | predicted | best | predicted | regret |",
             "|---" * 9 + "|"]
    for some in of_machine.values():
        for one in sorted(some, key=lambda one: -one.regret):
            if one.regret <= WANTED["often"]:
                break
            call = one.cell.call
            times = [f"{name} | " + (report.time_text(one.predicted[name]) if name in one.predicted
                                     else "not chosen on so many ranks") for name in (one.choice, one.best)]
            words = (call.machine, layout_text(call), call.operation, report.size_text(call.bytes), *times)
            lines.append(f"| {' | '.join(words)} | {one.regret:.2f} |")
    return lines


def seen_text(seen):
    calls = [cell.call for cell in seen]
    return ", ".join(f"{call.operation} of {report.size_text(call.bytes)} on {layout_text(call)}"
                     for call in calls) or "none, the links are those of the first line"


def by_machine(cells, names):
    machines = collections.defaultdict(list)
    for cell in cells:
        if names is None or cell.call.machine in names:
            machines[cell.call.machine].append(cell)
    return machines


def links_row(machine, per_node, figures):
    text = ", ".join(f"{name} {value:.3g}" for name, value in figures.items())
    return f"* {machine}, {per_node} a node: {text}"


def main():
    options = arguments()
    if not options.file.exists():
        print(f"real: skipped, there is no {options.file}")
        return 77
    planner = fitted.Planner(options.choices)
    machines = by_machine(pico.read(options.file), options.machines)
    others = by_machine(pico.read(options.judge), options.machines) if options.judge else machines
    of_machine, seen_lines, links_lines = {}, [], []
    for machine, cells in machines.items():
        of_machine[machine] = []
        fits = fitted.fits_of(planner, cells)
        for per_node, (seen, figures) in fits.items():
            calls = {cell.call for cell in cells if cell.call.per_node == per_node}
            seen_lines.append(f"* {machine}, {per_node} a node, {len(seen)} of {len(calls)}: {seen_text(seen)}")
            links_lines.append(links_row(machine, per_node, figures))
            rest = [cell for cell in unseen(others[machine], seen) if cell.call.per_node == per_node]
            of_machine[machine] += judged(planner, figures, rest)
            print(seen_lines[-1], links_lines[-1], sep="\n", flush=True)
        strays = sum(cell.call.per_node not in fits for cell in others[machine])
        if strays:
            print(f"* {machine}: {strays} cells have numbers of ranks a node that the links are not of: not judged")
    of_machine = {machine: some for machine, some in of_machine.items() if some}
    lines = [*summary(of_machine), "", *misses(of_machine)]
    print("\n".join(lines))
    if options.report:
        text = ["# Measured machines", "", f"By tests/scale/real.py on {datetime.date.today().isoformat()}; see "
                "[scale.md](../scale.md#measured-machines).", "", "## Regret", "", *summary(of_machine), "",
                "## Where it comes from", "", *sources(of_machine), "",
                f"## Cells with more than {WANTED['often']}", "", *misses(of_machine), "",
                "## Cells that the fit has seen", "", *seen_lines, "", "## Links", "", *links_lines, ""]
        (options.report / "real.md").write_text("\n".join(text))
    return int(options.most is not None and report.mean(all_regrets(of_machine)) > options.most)


if __name__ == "__main__":
    sys.exit(main())
