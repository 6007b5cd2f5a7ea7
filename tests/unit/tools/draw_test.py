# SPDX-License-Identifier: BSD-3-Clause
"""draw.py on what tools_test writes, a value of JSON a line: each drawing is XML, has every arrow, mark and word that
belongs there, and no text over another one or outside; and on schedules that do not fit."""
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "miniapps" / "common" / "show"))
import draw  # noqa: E402
import rounds  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
Box = collections.namedtuple("Box", "words left top right bottom")


def expect(what, condition):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def box_of(element):
    """Where a text stands, with letters as wide as those of narrow sans-serif fonts."""
    x, y, size = (float(element.get(name)) for name in ("x", "y", "font-size"))
    width = len(element.text) * size * (0.56 if element.get("font-weight") == "bold" else 0.5)
    before = {"start": 0, "middle": width / 2, "end": width}[element.get("text-anchor")]
    if element.get("transform", "").startswith("rotate(-90 "):
        return Box(element.text, x - 0.72 * size, y - (width - before), x + 0.15 * size, y + before)
    return Box(element.text, x - before, y - 0.72 * size, x - before + width, y + 0.15 * size)


def text_faults(root):
    """Pairs of texts over one another, and texts that leave the drawing."""
    boxes = [box_of(element) for element in root.iter(SVG + "text")]
    width, height = (float(root.get(name)) for name in ("width", "height"))
    outside = [a.words for a in boxes if a.left < 0 or a.top < 0 or a.right > width or a.bottom > height]
    return outside + [(a.words, b.words) for i, a in enumerate(boxes) for b in boxes[i + 1:]
                      if a.left < b.right and b.left < a.right and a.top < b.bottom and b.top < a.bottom]


class Seen:
    """A drawing as its reader sees it."""

    def __init__(self, text):
        root = xml.etree.ElementTree.fromstring(text.encode())
        self.faults = text_faults(root)
        self.title = root.find(SVG + "title").text
        self.words = collections.Counter(element.text for element in root.iter(SVG + "text"))
        self.tooltips = collections.Counter(element.text for element in root.iter(SVG + "title"))
        self.arrows = [(element.find(SVG + "title").text, element) for element in root.iter(SVG + "line")
                       if element.find(SVG + "title") is not None]
        self.cells = [(element.find(SVG + "title").text, element.get("fill")) for element in root.iter(SVG + "rect")
                      if element.find(SVG + "title") is not None]


def see(value):
    seen = Seen(draw.draw(value))
    name = seen.title
    expect(f"{name}: {seen.faults[:3]}", not seen.faults)
    expect(f"{name}: {seen.words}", seen.words[name] == 1)
    return seen, name


def goes(arrow, sender, to):
    """Whether an arrow goes down, from one rank's column to another's."""
    x1, y1, x2, y2 = (float(arrow.get(name)) for name in ("x1", "y1", "x2", "y2"))
    return y2 > y1 and (x2 > x1) == (to > sender) and (x2 < x1) == (to < sender)


def check_schedule(value, counts):
    seen, name = see(value)
    ranks = len(value["schedules"])
    expect(f"{name}: a column for each rank", all(seen.words[f"rank {rank}"] == 1 for rank in range(ranks)))
    sends = [(rank, one) for rank, schedule in enumerate(value["schedules"]) for part in schedule["rounds"]
             for one in part["transfers"] if one["kind"] == "send"]
    told = sorted(words.split(" (")[0] for words, _ in seen.arrows)
    expect(f"{name}: an arrow for each message: {told}",
           told == sorted(f"rank {rank} sends {draw.slice_text(one['slice'])}" for rank, one in sends))
    for words, arrow in seen.arrows:
        sender, to = re.match(r"rank (\d+) sends .*, rank (\d+) receives it as ", words).groups()
        expect(f"{name}: {words}", goes(arrow, int(sender), int(to)))
    work = [one["kind"] for schedule in value["schedules"] for part in schedule["rounds"] for one in part["locals"]]
    marks = sum(text.count("\n") for text in seen.tooltips.elements())
    expect(f"{name}: {marks} marks of {len(work)}", marks == len(work))
    expect(f"{name}: combines", bool(seen.words["+"]) == ("op" in value["call"]) and
           seen.words[f"combine ({value['call'].get('op')})"] == ("op" in value["call"]))
    nodes = value.get("nodes", [])
    expect(f"{name}: nodes", all(seen.words[f"node {node}"] == nodes.count(node) for node in nodes))
    far = [rank for rank, one in sends if nodes and nodes[rank] != nodes[one["peer"]]]
    colours = collections.Counter(arrow.get("stroke") for _, arrow in seen.arrows)
    expect(f"{name}: another colour between nodes", colours[draw.FAR] == len(far))
    counts["times"] += check_times(value)
    counts["sizes"] += check_sizes(value, seen.words)


def check_protocol(value, _):
    seen, name = see(value)
    moves = [(f"rank {sender} to rank {to}: {draw.MOVES[step['move']][1]}", draw.MOVES[step["move"]][0], sender, to)
             for step in value["moves"] for sender, to in step["arrows"]]
    expect(f"{name}: an arrow for each move", len(moves) == len(seen.arrows) and
           all(words == told and arrow.get("stroke") == colour and goes(arrow, sender, to)
               for (words, colour, sender, to), (told, arrow) in zip(moves, seen.arrows)))
    expect(f"{name}: moves are explained", all(seen.words[words.split(": ")[1]] == 1 for words, *_ in moves))
    boxes = collections.Counter(words for layer in value["layers"] for words in layer["boxes"] if words)
    expect(f"{name}: {boxes} in {seen.words}", not boxes - seen.words)
    for i, words in enumerate(value["steps"]):
        expect(f"{name}: step {i + 1}", seen.words[f"{i + 1}  {words}"] == 1)


def check_measured(value, _):
    seen = Seen(rounds.rounds(value))
    ranks = value["measured"]["ranks"]
    name = f"measured {value['chosen']}"
    expect(f"{name}: {seen.faults[:3]}", not seen.faults)
    bars = collections.Counter(words.split(":")[0] for words, _ in seen.cells if "measured" in words or "predicted" in words)
    told = collections.Counter(f"rank {rank}, round {i}, {what}" for rank, one in enumerate(ranks)
                               for i in range(len(one["rounds"])) for what in ("measured", "predicted"))
    expect(f"{name}: a bar for each round: {bars}", bars == told)
    expect(f"{name}: its length: {seen.cells}",
           all(words.endswith(": 3 µs") for words, _ in seen.cells if ", measured" in words))
    expect(f"{name}: a row for each rank", all(seen.words[f"rank {rank}"] == 1 for rank in range(len(ranks))))
    expect(f"{name}: neighbours have two colours", len({colour for words, colour in seen.cells if ", measured" in words})
           == (2 if told else 0))
    try:
        rounds.rounds({key: part for key, part in value.items() if key != "measured"})
        expect("no drawing of rounds that were not measured", False)
    except draw.Problem as problem:
        expect(f"{problem}", "--measure" in str(problem))


def check_topo(value, _):
    seen, name = see(value)
    expect("the diagonal, and the legend", seen.words["X"] == len(value["elements"]) + 1)
    names = [one["name"] for one in value["elements"]]
    cells = [(f"{a} – {b}: {label}", draw.CONNECTIONS["NV#" if label == "NV4" else label][0])
             for a, row in zip(names, value["matrix"]) for b, label in zip(names, row)]
    expect(f"a tooltip and a colour for each cell: {seen.cells}", seen.cells == cells)
    expect("two links, and one that is far", {"NV4", "SYS"} <= {label for row in value["matrix"] for label in row})
    expect("names of rows and columns", all(seen.words[name] == 2 for name in names))
    expect(f"the legend: {seen.words}", all(seen.words[meaning] == 1 for meaning in value["legend"].values()))
    expect("a colour for each connection", len({draw.CONNECTIONS[label] for label in value["legend"]}) == len(value["legend"]))


def check_times(value):
    """Steps of schedules that everybody knows."""
    steps, messages, work = draw.timeline(value["schedules"])
    ranks, chosen = len(value["schedules"]), value["chosen"]
    if (value["call"]["operation"], chosen) == ("allreduce", "mpi:ring"):
        expect(f"a ring goes round twice: {steps}", steps == 2 * (ranks - 1) and len(messages) == ranks * steps)
        expect("to the next", all(one.to == (one.sender + 1) % ranks and one.leaves == one.arrives for one in messages))
        expect("work is done in the step of its round",
               sorted(one.step for one in work if one.rank == 0) == list(range(ranks - 1)))
        return True
    if (value["call"]["operation"], chosen) == ("scan", "mpi:linear"):
        leaves = {one.sender: one.leaves for one in messages}
        expect(f"one rank after the other: {leaves}", leaves == {rank: leaves[0] + rank for rank in range(ranks - 1)})
        return True
    return False


def check_sizes(value, words):
    """Sizes stand beside the arrows where those of a round differ; else the words beside the round say it."""
    rounds = collections.defaultdict(list)
    for one in draw.timeline(value["schedules"])[1]:
        rounds[one.leaves].append(one.sent["count"] * value["call"]["element_size"])
    mixed = [sizes for sizes in rounds.values() if len(set(sizes)) > 1 and len(sizes) <= 2 * len(value["schedules"])]
    possible = collections.Counter(draw.bytes_text(size) for sizes in mixed for size in sizes if size)
    told = collections.Counter({word: count for word, count in words.items() if re.fullmatch(r"[\d.]+ \w*B", word)})
    expect(f"{value['call']['text']}: sizes {told} of {possible}", not told - possible and bool(told) == bool(possible))
    return bool(told)


def transfer(kind, peer):
    return {"transfers": [{"kind": kind, "peer": peer, "slice": {"buffer": "input", "offset": 0, "count": 1}}], "locals": []}


def refused(what, *schedules):
    try:
        draw.timeline([{"rounds": list(rounds)} for rounds in schedules])
    except draw.Problem as problem:
        expect(f"{problem}", what in str(problem))
        return
    expect(f"'{what}' was not found", False)


def check_refusals():
    refused("two ends", [transfer("send", 1)], [])
    refused("two ends", [], [transfer("recv", 0)])
    refused("waits forever", *[[transfer("recv", peer), transfer("send", peer)] for peer in (1, 0)])
    for value in ({}, {"call": {}, "schedule": {}}):
        try:
            draw.draw(value)
            expect("no drawing of nothing", False)
        except draw.Problem as problem:
            expect(f"{problem}", "--all-ranks" in str(problem))
    drawing = draw.Drawing(200, 100, "t")
    drawing.text(20, 60, "one")
    expect("this test sees no fault where none is", not Seen(str(drawing)).faults)
    drawing.text(25, 62, "over")
    drawing.text(190, 90, "a long text")
    expect("this test sees faults", Seen(str(drawing)).faults == ["a long text", ("one", "over")])
    drawing = draw.Drawing(10, 10, "a & b <\x1b'\">")
    expect("special characters", Seen(str(drawing)).title == "a & b < '\">")


def main():
    check_refusals()
    counts = collections.Counter()
    for line in sys.stdin:
        value = json.loads(line)
        kind = "measured" if "measured" in value else "topo" if "matrix" in value else "schedule" if "schedules" in value else "protocol"
        counts[kind] += 1
        globals()["check_" + kind](value, counts)
    expect(f"{counts}", counts["schedule"] > 100 and counts["protocol"] > 40 and counts["times"] > 3 and counts["sizes"] and
           counts["measured"] == 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
