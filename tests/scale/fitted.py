# SPDX-License-Identifier: BSD-3-Clause
"""The planner's links of a measured machine, from few of its cells, and what the planner predicts with them.

All prices are those of the library, which tests/scale/choices.cpp asks: the fit knows no formula. It begins at figures
of no machine in particular, and leaves them as far as the cells it has seen ask for.
"""
import collections
import math
import pathlib
import subprocess
import tempfile
import weakref

# Of messages between nodes, and of local work, in seconds, bytes/s and s/B.
START = {"latency": 2e-6, "overhead": 0.3e-6, "rate": 6e9, "eager": 4096, "combine": 1e-10, "copy": 3e-10}
# Ratios: rates over that of one message of two that are exchanged, and the start of a long message over a short one's.
RATIOS = {"passing": 1.2, "several": 1.5, "one_way": 1.5, "long": 2}
# The rate of all nodes at a distance over that at half of it, and of all at all distances over that at the farthest.
TAPERS = {"taper": 1, "everywhere": 0.98}
# Where nodes have several ranks: what they share, and messages on a node.
ON_NODES = {"shared": 1.5, "node_latency": 0.6e-6, "node_rate": 5e9, "node_shared": 6}
STAYING = 0.05  # the square of a figure's logarithm over its start, beside those of times over predictions
TOGETHER = 0.3  # that of a cell's mean error, beside those of the differences between its algorithms, which decide
FAR = 0.7  # beyond it an error counts by its size, not by its square
STEP, LEAST_STEP = 0.7, 0.05
PART = 10  # of a machine's cells one of so many may be seen
# In which order cells are seen, until they are that many: of an operation the shortest call, the middle one, the
# longest one.
SHORTEST, MIDDLE, LONGEST = 0, 0.5, 1
SEEN = (("allreduce", SHORTEST), ("allgather", LONGEST), ("allgather", MIDDLE), ("alltoall", SHORTEST),
        ("allreduce", LONGEST), ("reduce_scatter_block", MIDDLE), ("gather", MIDDLE), ("bcast", LONGEST),
        ("scatter", MIDDLE), ("reduce_scatter_block", LONGEST), ("allgather", SHORTEST), ("reduce", LONGEST),
        ("bcast", MIDDLE), ("allreduce", MIDDLE), ("gather", LONGEST), ("alltoall", LONGEST))


def seen_of(cells):
    """The cells that the fit sees: of each operation those on the layout with most algorithms, then most lengths."""
    calls = {cell.call for cell in cells}
    picked = []
    for operation, place in SEEN:
        sessions = collections.defaultdict(list)
        for cell in cells:
            if cell.call.operation == operation and len(cell.known) > 1:
                sessions[cell.call.layout, cell.session].append(cell)
        if not sessions or len(picked) >= len(calls) // PART:
            continue
        best = max(sessions.values(), key=lambda some: (max(len(cell.known) for cell in some), len(some), some[0].call))
        best.sort(key=lambda cell: cell.call)
        pick = best[int(place * (len(best) - 1))]
        if pick not in picked:
            picked.append(pick)
    return picked


def links_text(figures, nodes):
    """As given_links.hpp reads it."""
    f = figures
    rate = f["rate"]
    several = max(f["several"], f["passing"])  # a rank that passes on takes and gives at once
    lines = [("network", f["latency"], f["overhead"], rate, rate * several, rate * f.get("shared", several),
              f["latency"] * f["long"], round(f["eager"]), rate * max(f["one_way"], f["passing"]), rate * f["passing"])]
    if "node_rate" in f:
        lines.append(("node", f["node_latency"], f["node_latency"] / 3, f["node_rate"], f["node_rate"],
                      f["node_rate"] * f["node_shared"], f["node_latency"] * f["long"], round(f["eager"]), 0, 0))
    lines.append(("local", f["combine"], f["copy"]))
    distances = math.ceil(math.log2(nodes))
    if distances > 1:
        rates = [rate * f["taper"] ** digit for digit in range(distances)]
        at = [figure for one in rates for figure in (f["latency"], one)]
        lines.append(("fabric", distances, *at, rates[-1] * f["everywhere"]))
    return "".join(" ".join(map(str, line)) + "\n" for line in lines)


class Planner:
    """Tutti's cost model on a machine of such links: one program for all questions, since a fit asks thousands."""

    def __init__(self, program):
        self.links = tempfile.NamedTemporaryFile("w", suffix=".links")
        self.program = subprocess.Popen([program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        weakref.finalize(self, self.end, self.program)

    @staticmethod
    def end(program):
        program.communicate()

    def answer(self, question):
        """The lines of the answer."""
        try:
            print(question, end="", file=self.program.stdin, flush=True)
        except BrokenPipeError:
            pass  # its last words are on the standard error
        for line in self.program.stdout:
            if line == "end\n":
                return
            yield line
        raise SystemExit(f"real: {self.program.args[0]} ended with {self.program.wait()}")

    def ask(self, figures, nodes, per_node, calls, ranks=None):
        """By operation and bytes, the predicted seconds of each algorithm that may be chosen."""
        self.links.seek(0)
        self.links.truncate()
        self.links.write(links_text(figures, nodes))
        self.links.flush()
        question = f"{self.links.name} {nodes} {per_node} {ranks or nodes * per_node} {len(calls)}\n"
        _, *lines = self.answer(question + "".join(f"{operation} {size}\n" for operation, size in calls))
        ways = collections.defaultdict(dict)
        for line in lines:
            operation, size, way, seconds = line.split()
            ways[operation, int(size)][way] = float(seconds)
        return ways

    def predict(self, figures, cells):
        """By call."""
        layouts = collections.defaultdict(set)
        for cell in cells:
            layouts[cell.call.layout].add(cell.call)
        found = {}
        for (_, nodes, per_node, ranks), calls in layouts.items():
            ways = self.ask(figures, nodes, per_node, {(call.operation, call.asked()) for call in calls}, ranks)
            found |= {call: ways[call.operation, call.asked()] for call in calls}
        return found


def nearest_to(per_node, found):
    """The figures of the nearest number of ranks a node of which cells were seen, None where there is none: several
    ranks before one."""
    seen = [other for other, (cells, _) in found.items() if cells]
    apart = {other: (other == 1, abs(math.log(other / per_node))) for other in seen}
    return found[min(seen, key=apart.get)][1] if seen else None


def fits_of(planner, cells):
    """By ranks of a node, the cells that the fit has seen, and the links: those with most cells first, at which those
    of near numbers of ranks begin, since local work and what a node shares depend on its ranks."""
    groups = collections.defaultdict(list)
    for cell in cells:
        groups[cell.call.per_node].append(cell)
    found = {}
    for per_node, some in sorted(groups.items(), key=lambda group: -len(group[1])):
        start = nearest_to(per_node, found) or {**START, **RATIOS, **TAPERS}
        seen = seen_of(some)
        found[per_node] = seen, Fit(planner, seen, {**ON_NODES, **start} if per_node > 1 else start).figures
    return found


def error(logarithm):
    size = abs(logarithm)
    return size * size if size < FAR else FAR * (2 * size - FAR)


def error_of_cell(cell, ways):
    """Of predictions over times."""
    logarithms = [math.log(ways[name] / seconds) for name, seconds in cell.known.items() if name in ways]
    mean = sum(logarithms) / max(1, len(logarithms))
    return TOGETHER * len(logarithms) * error(mean) + sum(error(one - mean) for one in logarithms)


class Fit:
    """Links of one machine, by descent along one figure after the other in its logarithm."""

    def __init__(self, planner, seen, start):
        self.planner, self.seen, self.start = planner, seen, start
        self.figures = self.descended() if seen else start

    def loss(self, figures):
        ways = self.planner.predict(figures, self.seen)
        times = sum(error_of_cell(cell, ways[cell.call]) for cell in self.seen)
        return times + STAYING * sum(math.log(figures[name] / self.start[name]) ** 2 for name in figures)

    def bounded(self, name, value):
        return max(1, value) if name in RATIOS or name in ("shared", "node_shared") else \
            min(1, value) if name in TAPERS else value

    def descended(self):
        figures = dict(self.start)
        least = self.loss(figures)
        steps = dict.fromkeys(figures, STEP)
        while max(steps.values()) > LEAST_STEP:
            for name in figures:
                for sign in (1, -1):
                    tried = {**figures, name: self.bounded(name, figures[name] * math.exp(sign * steps[name]))}
                    loss = self.loss(tried) if tried != figures else least
                    if loss < least:
                        figures, least, steps[name] = tried, loss, steps[name] * 1.2
                        break
                else:
                    steps[name] /= 2
        return figures
