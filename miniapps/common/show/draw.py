#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws what the command tutti prints as JSON: the rounds of a schedule, the steps of a protocol of shared memory, or the
matrix of a machine. `tutti explain --svg FILE` and `tutti topo --svg FILE` call it; by hand, on any machine:

    tutti explain allreduce --ranks 8 --algorithm ring --json --all-ranks | draw.py > ring.svg
    tutti topo --json | draw.py > machine.svg
"""
import collections
import contextlib
import html
import json
import math
import sys

MARGIN = 24


class Problem(Exception):
    """What is wrong with the JSON, in words for the user."""


def number(value):
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def text_width(words, size=12, bold=False):
    """About the width in a sans-serif font, good enough for layout."""
    return len(words) * size * (0.59 if bold else 0.55)


def bytes_text(count):
    unit = min(3, int(math.log2(count)) // 10) if count else 0
    return f"{count / 1024 ** unit:.4g} {('B', 'KiB', 'MiB', 'GiB')[unit]}"


def slice_text(part):
    return f"{part['buffer']}[{part['offset']}, {part['offset'] + part['count']})"


class Drawing:
    """One SVG document, made from the bottom layer to the top. Units are pixels; y grows downwards."""

    def __init__(self, width, height, title):
        self.parts, self.taken = [], []
        self.head = dict(xmlns="http://www.w3.org/2000/svg", version="1.1", width=width, height=height, role="img",
                         viewBox=f"0 0 {number(width)} {number(height)}", xml__space="preserve",
                         font_family="DejaVu Sans, Verdana, Helvetica, Arial, sans-serif")
        self.title = title
        self.shape("rect", x=0, y=0, width=width, height=height, fill="#ffffff")
        self.text(MARGIN, MARGIN + 8, title, size=15, bold=True)

    def __str__(self):
        body, self.parts = "".join(self.parts), []
        self.shape("svg", "\n" + body, tooltip=self.title, **self.head)
        return '<?xml version="1.0" encoding="UTF-8"?>\n' + self.parts[0]

    def shape(self, element, inner="", tooltip="", **attributes):
        """Names as SVG has them, but for signs that Python's names lack."""
        words = "".join(f' {name.replace("__", ":").replace("_", "-")}="{number(value)}"'
                        for name, value in attributes.items() if value is not None)
        title = f"<title>{clean(tooltip)}</title>" if tooltip else ""
        self.parts.append(f"<{element}{words}>{title}{inner}</{element}>\n")

    @contextlib.contextmanager
    def group(self, name):
        """What is drawn inside becomes a group of this class."""
        outer, self.parts = self.parts, []
        yield
        inner, self.parts = "".join(self.parts), outer
        self.shape("g", "\n" + inner, **{"class": name})

    def arrow(self, x1, y1, x2, y2, colour, width=2, opacity=None, tooltip=""):
        """A line with a filled head, inside which it ends: its square end would blunt the point."""
        length = math.hypot(x2 - x1, y2 - y1)
        head = min(8, length)
        x, y = (x2 - x1) / length * head, (y2 - y1) / length * head
        self.shape("line", x1=x1, y1=y1, x2=x2 - 0.8 * x, y2=y2 - 0.8 * y, stroke=colour, stroke_width=width,
                   opacity=opacity, tooltip=tooltip)
        corners = (x2, y2), (x2 - x - 0.42 * y, y2 - y + 0.42 * x), (x2 - x + 0.42 * y, y2 - y - 0.42 * x)
        points = " ".join(f"{number(float(a))},{number(float(b))}" for a, b in corners)
        self.shape("polygon", points=points, fill=colour, opacity=opacity)

    def text(self, x, y, words, size=12, anchor="start", bold=False, fill="#222222", if_free=False, **attributes):
        """Words at a point of their base line. if_free: only where no text is yet; gives whether they were written."""
        width = text_width(words, size, bold)
        left = x - {"start": 0, "middle": width / 2, "end": width}[anchor]
        right, top, bottom = left + width, y - 0.8 * size, y + 0.2 * size
        if if_free and any(left < r and l < right and top < b and t < bottom for l, r, t, b in self.taken):
            return False
        self.taken.append((left, right, top, bottom))
        self.shape("text", clean(words), x=x, y=y, font_size=size, fill=fill, text_anchor=anchor,
                   font_weight="bold" if bold else None, **attributes)
        return True


HALO = dict(stroke="#ffffff", stroke_width=3, stroke_linejoin="round", paint_order="stroke")


def clean(words):
    """For XML: special characters become entities, control characters blanks."""
    return html.escape("".join(" " if c < " " and c not in "\n\t" else c for c in words))


class Columns:
    """What drawings with a column for each rank have in common."""

    def __init__(self, ranks, gutter, least, most):
        self.ranks, self.gutter = ranks, gutter  # the gutter has words beside the rows
        self.column = min(max(1000 / ranks, least), most)
        self.right = MARGIN + gutter + self.column * ranks

    def x(self, rank):
        return MARGIN + self.gutter + self.column * (rank + 0.5)

    def draw_names(self, y):
        for rank in range(self.ranks):
            name = f"rank {rank}" if self.ranks <= 24 else str(rank)
            self.drawing.text(self.x(rank), y, name, anchor="middle", bold=True)

    def draw_keys(self, x, y, keys):
        """Draws what arrows of a colour mean; gives the place after them."""
        for colour, words in keys:
            self.drawing.arrow(x, y, x + 30, y, colour)
            self.drawing.text(x + 38, y + 4, words, size=11)
            x += 56 + text_width(words, 11)
        return x


# The rounds of a schedule.

Message = collections.namedtuple("Message", "sender to sent received leaves arrives")
Work = collections.namedtuple("Work", "rank step kind words")


def messages_of(schedules):
    """Pairs of ends that match, in the order in which they do: sender, receiver, and of each end the round and slice."""
    ends = {"send": collections.defaultdict(list), "recv": collections.defaultdict(list)}
    for rank, schedule in enumerate(schedules):
        for i, one in enumerate(schedule["rounds"]):
            for end in one["transfers"]:
                pair = (rank, end["peer"]) if end["kind"] == "send" else (end["peer"], rank)
                ends[end["kind"]][pair].append((i, end["slice"]))
    sends, recvs = ends["send"], ends["recv"]
    for pair in sends.keys() | recvs.keys():
        if len(sends[pair]) != len(recvs[pair]):
            raise Problem(f"schedule: not every message from rank {pair[0]} to rank {pair[1]} has two ends")
    return [(*pair, *two) for pair in sorted(sends) for two in zip(sends[pair], recvs[pair])]


def starts_of(schedules, messages):
    """The steps in which the rounds of each rank begin, and last its end. A round lasts until its last message has
    arrived, at least one step. Sends do not wait for their receives."""
    awaited = collections.defaultdict(list)
    for sender, to, (send, _), (recv, _) in messages:
        awaited[to, recv].append((sender, send))
    starts = [[0] for _ in schedules]
    moves = True
    while moves:
        moves = False
        for rank, schedule in enumerate(schedules):
            mine = starts[rank]
            while len(mine) <= len(schedule["rounds"]):
                sends = awaited[rank, len(mine) - 1]
                if any(send >= len(starts[sender]) for sender, send in sends):
                    break
                mine.append(1 + max([mine[-1]] + [starts[sender][send] for sender, send in sends]))
                moves = True
    for rank, schedule in enumerate(schedules):
        if len(starts[rank]) <= len(schedule["rounds"]):
            raise Problem(f"schedule: rank {rank} waits forever")
    return starts


def timeline(schedules):
    """The schedules of all ranks on one clock: steps, messages, local work. A message leaves when the sender's round
    begins, and arrives in the step in which both ends are there."""
    pairs = messages_of(schedules)
    starts = starts_of(schedules, pairs)
    messages = [Message(sender, to, sent, received, starts[sender][send], max(starts[sender][send], starts[to][recv]))
                for sender, to, (send, sent), (recv, received) in pairs]
    work = [Work(rank, starts[rank][i + 1] - 1, one["kind"],
                 slice_text(one["output"]) + " = " + " op ".join(map(slice_text, one["inputs"])))
            for rank, schedule in enumerate(schedules)
            for i, part in enumerate(schedule["rounds"]) for one in part["locals"]]
    return max(mine[-1] for mine in starts), messages, work


NEAR, FAR = "#0072b2", "#d55e00"  # messages on a node, and between nodes
TINTS = ("#dceaf7", "#fbe6d4", "#dff1e3", "#ece2f3")  # of nodes
MARKS = {"copy": ("=", "#ffffff", "#7f7f7f", "#444444"), "reduce": ("+", "#009e73", "#009e73", "#ffffff")}


class ScheduleDrawing(Columns):
    """A row per round, an arrow per message (the wider the longer), and marks for local copies and reductions. No text is
    over another."""
    TOP = 96

    def __init__(self, value, title):
        super().__init__(len(value["schedules"]), 150, 58, 150)
        self.steps, messages, work = timeline(value["schedules"])
        self.element, self.nodes = value["call"]["element_size"], value.get("nodes")
        rounds = [[one for one in messages if one.leaves == step] for step in range(self.steps)]
        self.most = max([1] + [self.bytes(one) for one in messages])
        busiest = max(map(len, rounds), default=0)  # fans of many arrows need room to stay distinct
        self.row = 62 if busiest <= 2 * self.ranks else 120 if busiest <= 8 * self.ranks else 220
        width = max(self.right - MARGIN, text_width(title, 15, True), 520) + 2 * MARGIN
        self.drawing = Drawing(width, self.y(self.steps) + 64, title)
        self.draw_rows(rounds)
        self.draw_ranks()
        self.draw_work(work)  # marks take their places before the sizes, which can go elsewhere
        self.draw_messages(rounds)
        self.draw_legend(value["call"].get("op"))

    def y(self, step):
        return self.TOP + self.row * step

    def node(self, rank):
        return self.nodes[rank] if self.nodes else 0

    def bytes(self, message):
        return message.sent["count"] * self.element

    def sizes_text(self, messages):
        """"8 × 128 KiB", or the range of sizes."""
        sizes = [self.bytes(one) for one in messages] or [None]
        if max(sizes) in (None, 0):
            return "local work" if sizes[0] is None else f"{len(sizes)} signal" + "s" * (len(sizes) > 1)
        least = "" if min(sizes) == max(sizes) else bytes_text(min(sizes)) + " to "
        return f"{len(sizes)} × {least}{bytes_text(max(sizes))}"

    def draw_rows(self, rounds):
        for step, messages in enumerate(rounds):
            if step % 2 == 0:
                self.drawing.shape("rect", x=MARGIN, y=self.y(step), width=self.right - MARGIN, height=self.row,
                                   fill="#f5f6f8")
            middle = self.y(step) + self.row / 2
            self.drawing.text(MARGIN + 8, middle - 3, f"round {step}", bold=True)
            self.drawing.text(MARGIN + 8, middle + 13, self.sizes_text(messages), size=10.5, fill="#555555")

    def draw_ranks(self):
        width = min(self.column - 8, 74)
        for rank in range(self.ranks):
            x, top = self.x(rank), self.TOP
            self.drawing.shape("line", x1=x, y1=top - 12, x2=x, y2=self.y(self.steps), stroke="#b9bec6", stroke_width=1.2)
            self.drawing.shape("rect", x=x - width / 2, y=top - 38, width=width, height=26, rx=5,
                               fill=TINTS[self.node(rank) % len(TINTS)], stroke="#8793a3")
            if self.nodes:
                self.drawing.text(x, top - 42, f"node {self.node(rank)}", size=9.5, fill="#555555", anchor="middle")
        self.draw_names(self.TOP - 20)

    def draw_mark(self, x, y, kind, tooltip=""):
        sign, fill, edge, ink = MARKS[kind]
        self.drawing.shape("circle", cx=x, cy=y, r=6.5, fill=fill, stroke=edge, stroke_width=1.4, tooltip=tooltip)
        self.drawing.text(x, y + 3.6, sign, size=11, fill=ink, anchor="middle", bold=True)

    def draw_work(self, work):
        places = collections.defaultdict(lambda: collections.defaultdict(list))
        for one in work:
            places[one.rank, one.step][one.kind].append(one.words)
        for (rank, step), kinds in places.items():
            x, y = self.x(rank) - 8 * (len(kinds) > 1), self.y(step + 1) - 9
            for kind, words in sorted(kinds.items()):
                self.draw_mark(x, y, kind, "\n".join([f"rank {rank}"] + words))
                x += 17
                if len(words) > 1:
                    times = f"×{len(words)}"
                    self.drawing.text(x - 8, y + 3.5, times, size=8.5, fill="#444444", **HALO)
                    x += text_width(times, 8.5)

    def ends(self, message):
        return (self.x(message.sender), self.y(message.leaves) + 6, self.x(message.to), self.y(message.arrives + 1) - 16)

    def draw_messages(self, rounds):
        for messages in rounds:
            for one in messages:
                self.draw_message(one, len(messages) > 8 * self.ranks)
        for messages in rounds:
            # Where all sizes are alike, the words beside the row say it.
            if len(messages) <= 2 * self.ranks and len(set(map(self.bytes, messages))) > 1:
                for one in filter(self.bytes, messages):
                    self.draw_size(*self.ends(one), bytes_text(self.bytes(one)))

    def draw_message(self, one, is_dense):
        colour = NEAR if self.node(one.sender) == self.node(one.to) else FAR
        share = math.log2(1 + self.bytes(one)) / math.log2(1 + self.most)
        x, y, *to = self.ends(one)
        self.drawing.shape("circle", cx=x, cy=y, r=2.2, fill=colour)
        self.drawing.arrow(x, y, *to, colour, 0.8 if is_dense else 1.1 + 1.4 * share, 0.45 if is_dense else 0.85,
                           f"rank {one.sender} sends {slice_text(one.sent)} ({bytes_text(self.bytes(one))}), "
                           f"rank {one.to} receives it as {slice_text(one.received)}")

    def draw_size(self, x1, y1, x2, y2, words):
        """Where no other text is; the tooltip has it too. Begins nearer to the sender than to the middle, where the
        arrows of an exchange cross."""
        any(self.drawing.text(x1 + (x2 - x1) * share, y1 + (y2 - y1) * share + 10, words, size=9, fill="#333333",
                              anchor="middle", if_free=True, **HALO)
            for share in (min(0.3, 34 / max(1, abs(x2 - x1))), 0.5, 0.7, 0.2, 0.85))

    def draw_legend(self, op):
        y = self.y(self.steps) + 26
        keys = [(NEAR, "message on a node"), (FAR, "between nodes")] if self.nodes else [(NEAR, "message")]
        x = self.draw_keys(MARGIN + 8, y, keys)
        for kind, words in ([("reduce", f"combine ({op})")] if op else []) + [("copy", "copy")]:
            self.draw_mark(x + 7, y, kind)
            self.drawing.text(x + 20, y + 4, words, size=11)
            x += 40 + text_width(words, 11)


# The steps of a protocol of shared memory.

MOVES = {"store": ("#0072b2", "store into the segment"), "load": ("#56b4e9", "load from the segment"),
         "combine": ("#009e73", "load and combine"), "read": ("#56b4e9", "read from a process"),
         "write": ("#d55e00", "write into a process")}


class ProtocolDrawing(Columns):
    """Layers of buffers as rows, and the moves from one layer to the next."""
    TOP = 92
    BOX = 30  # height

    def __init__(self, value, title):
        layers, steps = value["layers"], value["steps"]
        super().__init__(len(layers[0]["boxes"]), 130, 60, 160)
        self.gap = 150 if self.ranks > 8 else 110  # between layers
        width = max([640, self.right, MARGIN + text_width(title, 15, True)] +
                    [MARGIN + 36 + text_width(words) for words in steps]) + MARGIN
        foot = self.y(len(layers) - 1) + self.BOX + 34
        self.drawing = Drawing(width, foot + 20 * len(steps) + 44, title)
        self.draw_names(self.TOP - 18)
        for i, layer in enumerate(layers):
            self.draw_layer(layer, self.y(i))
        for i, moves in enumerate(value["moves"]):
            self.draw_moves(i, moves)
            self.drawing.text(MARGIN + 8, foot + 20 * i, f"{i + 1}  {steps[i]}")
        used = {moves["move"] for moves in value["moves"] if moves["arrows"]}
        self.draw_keys(MARGIN + 8, foot + 20 * len(steps) + 8, [key for move, key in MOVES.items() if move in used])

    def y(self, layer):
        return self.TOP + layer * (self.BOX + self.gap)

    def draw_layer(self, layer, y):
        fill = "#ffe9a8" if layer["shared"] else "#e3edf7"
        if layer["shared"]:
            self.drawing.shape("rect", x=MARGIN, y=y - 12, width=self.right - MARGIN, height=self.BOX + 24, rx=8,
                               fill="#fff7e0", stroke="#d9b44a", stroke_dasharray="5 3")
        self.drawing.text(MARGIN + 8, y + 19, layer["name"], bold=True)
        width, note = min(self.column - 8, 96), ": " + layer["note"] if layer["note"] else ""
        for rank, words in enumerate(layer["boxes"]):
            if words:
                self.drawing.shape("rect", x=self.x(rank) - width / 2, y=y, width=width, height=self.BOX, rx=5,
                                   stroke="#8793a3", fill=fill, tooltip=f"rank {rank}{note}")
                self.drawing.text(self.x(rank), y + 19, words, size=9.5 if self.column < 70 else 11, anchor="middle")

    def draw_moves(self, i, moves):
        colour, words = MOVES[moves["move"]]
        below = self.y(i) + self.BOX
        for sender, to in moves["arrows"]:
            self.drawing.arrow(self.x(sender), below + 2, self.x(to), self.y(i + 1) - 3, colour, 1.5, 0.85,
                               f"rank {sender} to rank {to}: {words}")
        self.drawing.text(MARGIN + 8, below + self.gap / 2 + 4, str(i + 1), size=15, fill="#555555", bold=True)


# The matrix of a machine. Fill and ink: nearer connections are darker; NVLink stands apart in green.

CONNECTIONS = {"X": ("#ececec", "#777777"), "CORE": ("#08306b", "#ffffff"), "NV#": ("#1b7837", "#ffffff"),
               "PIX": ("#08519c", "#ffffff"), "PXB": ("#2171b5", "#ffffff"), "L3": ("#4292c6", "#ffffff"),
               "PHB": ("#9ecae1", "#16324a"), "NODE": ("#c6dbef", "#16324a"), "SYS": ("#fdd49e", "#5a3310"),
               "NET": ("#fc8d59", "#4a1c0a")}


class TopoDrawing:
    """The elements as rows and columns, a colour for each level of connection."""
    CELL = 46  # width
    ROW = 26

    def __init__(self, value):
        self.elements, legend, title = value["elements"], value["legend"], value["summary"]
        self.names = max([0] + [text_width(one["name"], 12, True) + 10 for one in self.elements])
        self.top = MARGIN + 34 + self.names
        width = max(self.names + self.CELL * len(self.elements), text_width(title, 15, True),
                    max(map(text_width, legend.values())) + 56)
        foot = self.y(len(self.elements)) + 26
        self.drawing = Drawing(width + 2 * MARGIN, foot + 22 * len(legend) + MARGIN, title)
        self.draw_names()
        for row, cells in enumerate(value["matrix"]):
            for column, label in enumerate(cells):
                pair = f"{self.elements[row]['name']} – {self.elements[column]['name']}"
                self.draw_cell(self.x(column) + 1, self.y(row) + 1, self.ROW - 2, label, f"{pair}: {label}")
        self.draw_rules()
        for i, (label, meaning) in enumerate(legend.items()):
            self.draw_cell(MARGIN, foot + 22 * i, 18, label)
            self.drawing.text(MARGIN + 56, foot + 22 * i + 13, meaning)

    def x(self, column):
        return MARGIN + self.names + self.CELL * column

    def y(self, row):
        return self.top + self.ROW * row

    def draw_names(self):
        for i, element in enumerate(self.elements):
            name = element["name"]
            self.drawing.text(MARGIN + self.names - 8, self.y(i) + 17, name, anchor="end", bold=True)
            x, y = self.x(i) + self.CELL / 2 + 4, self.top - 8
            self.drawing.text(x, y, name, bold=True, transform=f"rotate(-90 {number(x)} {number(y)})")

    def draw_cell(self, x, y, height, label, tooltip=""):
        fill, ink = CONNECTIONS["NV#" if label.startswith("NV") else label]
        self.drawing.shape("rect", x=x, y=y, width=self.CELL - 2, height=height, rx=3, fill=fill, tooltip=tooltip)
        self.drawing.text(x + self.CELL / 2 - 1, y + height / 2 + 4, label, size=11, fill=ink, anchor="middle")

    def draw_rules(self):
        """Thin rules between kinds of elements, so that ranks, cores and devices read as blocks."""
        count = len(self.elements)
        for i, (before, here) in enumerate(zip(self.elements, self.elements[1:]), 1):
            if (before["kind"], before["node"]) != (here["kind"], here["node"]):
                for x1, y1, x2, y2 in ((MARGIN, self.y(i), self.x(count), self.y(i)),
                                       (self.x(i), self.top - self.names, self.x(i), self.y(count))):
                    self.drawing.shape("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke="#999999", stroke_width=1.2)


def draw(value):
    """The SVG document of what tutti printed."""
    if "matrix" in value:
        return str(TopoDrawing(value).drawing)
    kind = ScheduleDrawing if "schedules" in value else ProtocolDrawing if "layers" in value else None
    if kind is None:
        raise Problem("this JSON has nothing to draw; take that of tutti topo --json or of tutti explain --json --all-ranks")
    return str(kind(value, f"{value['call']['text']}: {value['chosen']}").drawing)


def main(drawn=draw):
    """Draws the JSON of the standard input by that function."""
    try:
        text = drawn(json.loads(sys.stdin.buffer.read()))
    except (Problem, ValueError) as problem:
        print(f"tutti: {problem}", file=sys.stderr)
        return 1
    sys.stdout.buffer.write(text.encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
