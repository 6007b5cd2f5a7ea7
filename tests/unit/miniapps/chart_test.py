# SPDX-License-Identifier: BSD-3-Clause
"""chart.py: axes and ticks, a dot and a colour for each figure, studies of tutti-sgd, and what is refused. No text
stands over another one or outside."""
import argparse
import itertools
import pathlib
import sys
import xml.etree.ElementTree

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "tools"), str(TESTS.parents[1] / "miniapps" / "common" / "show")]
import chart  # noqa: E402
from draw_test import SVG, Seen, expect  # noqa: E402

USUAL = argparse.Namespace(metric="latency", operations=None)


def equal(what, found, expected):
    expect(f"{what}: {found} instead of {expected}", found == expected)


def seen(drawing):
    """The texts and the elements of a drawing without faults."""
    text = str(drawing)
    words = Seen(text)
    equal(f"{words.title}: faults", words.faults[:3], [])
    return words, xml.etree.ElementTree.fromstring(text.encode())


def ticks(kind, *values, end=300):
    return [words for _, words, _ in chart.Axis(kind, values, 0, end).ticks() if words]


def check_axes():
    axis = chart.Axis("linear", [12, 437], 300, 0)
    equal("ends of a linear axis", (axis.at(0), axis.at(500)), (300, 0))
    equal("linear", ticks("linear", 12, 437), ["0", "100", "200", "300", "400", "500"])
    equal("below zero", ticks("linear", -3, 10), ["-4", "-2", "0", "2", "4", "6", "8", "10"])
    equal("nothing", chart.Axis("linear", [0, 0], 0, 1).low, 0)
    equal("bytes", ticks("bytes", 4096, 300000), ["4 KiB", "16 KiB", "64 KiB", "256 KiB", "1 MiB"])
    equal("bytes with little room", ticks("bytes", 4096, 300000, end=150), ["4 KiB", "64 KiB", "1 MiB"])
    equal("ranks", ticks("counts", 1, 6), ["1", "2", "4", "8"])
    equal("the place of 2", round(chart.Axis("counts", [1, 6], 0, 90).at(2), 9), 30)
    equal("decades", ticks("decades", 3, 40), ["1", "2", "5", "10", "20", "50", "100"])
    equal("many decades", ticks("decades", 0.2, 1e5), ["0.1", "1", "10", "100", "1000", "1e+04", "1e+05"])


def check_panels():
    panels = [chart.Panel("first", "y", [chart.Series("a<b", [1, 2], [3, 4]), chart.Series("one", [2], [5])]),
              chart.Panel("second", "its own", [chart.Series("a<b", [1, 4], [3, 1])])]
    words, root = seen(chart.PanelsDrawing(panels, "x", "counts", "linear", "title", "notes").drawing)
    equal("panels", len([one for one in root.iter(SVG + "g") if one.get("class") == "panel"]), 2)
    dots = list(root.iter(SVG + "circle"))
    equal("dots", [dot.get("r") for dot in dots], ["2.8", "2.8", "5", "2.8", "2.8"])
    lines = [line.get("stroke") for line in root.iter(SVG + "polyline")]
    equal("one colour for a name", lines, [chart.PALETTE[0]] * 2)
    equal("dots have it too", [dot.get("fill") for dot in dots], [chart.PALETTE[i] for i in (0, 0, 1, 0, 0)])
    for word, count in (("a<b", 1), ("one", 1), ("y", 1), ("its own", 1), ("x", 2), ("title", 1), ("notes", 1)):
        equal(f"'{word}'", words.words[word], count)
    expect(f"tooltips: {words.tooltips}", words.tooltips["a<b: 2, 4"] == 1)
    kinds, ends = ("linear", "counts", "bytes"), (2, 40, 3e3, 6.4e7, 1e12)
    for kind, most, scale in itertools.product(kinds, ends, ("linear", "decades")):
        two = [chart.Panel("a panel", "y", [chart.Series("a", [1, most], [0.01, most]),
                                            chart.Series("ideal", [1, most], [1, 1], True)]),
               chart.Panel("another", "y", [chart.Series("a way with a long name", [1, most], [1, most])])]
        title = "a title that is longer than one panel is wide, as long titles are"
        words, root = seen(chart.PanelsDrawing(two, "x", kind, scale, title, "notes").drawing)
        equal("the reference", (words.words["ideal"], len(list(root.iter(SVG + "circle")))), (1, 4))
    many = [chart.Series(f"a name of some length, {i}", [1, 2], [i, i]) for i in range(18)]
    words, root = seen(chart.PanelsDrawing([chart.Panel("p", "y", many)], "x", "counts", "linear", "many").drawing)
    styles = {(line.get("stroke"), line.get("stroke-dasharray")) for line in root.iter(SVG + "polyline")}
    equal("lines that differ", len(styles), 18)


def point(bytes_, latency):
    return dict(operation="bcast", datatype="int8", reduce_op="-", memory="host", mode="blocking", algorithm="auto",
                busbw_gb_s=latency / 10, algbw_gb_s=latency / 5, bytes=bytes_, latency_us={"p50": latency})


def check_collectives():
    document = {"date": "2026-11-22", "machine": {"processor": "Some CPU", "ranks": 4, "nodes": 2,
                                                  "libraries": ["tutti 0.1.0", "MPI: MPICH 4.0.2"]},
                "points": [point(4, 1.5), point(16, 2.5), dict(point(16, 3.5), algorithm="<ring>"),
                           dict(point(0, 3), operation="barrier"), dict(point(16, 1), operation="scan", skipped="why")]}
    words, _ = seen(chart.collectives(document, USUAL).drawing)
    for word in ("Collectives: latency", "latency, µs (median)", "bcast, int8", "Tutti", "<ring>",
                 "Some CPU; 4 ranks on 2 nodes; MPICH 4.0.2; 2026-11-22"):
        expect(f"'{word}' is in {words.words}", words.words[word])
    for tip in ("Tutti: 4 B, 1.5", "Tutti: 16 B, 2.5", "<ring>: 16 B, 3.5", "Tutti: 1 B, 3"):
        equal(f"'{tip}'", words.tooltips[tip], 1)
    for metric, tip in (("busbw", "Tutti: 16 B, 0.25"), ("algbw", "Tutti: 16 B, 0.5")):
        words, _ = seen(chart.collectives(document, argparse.Namespace(metric=metric, operations=["bcast"])).drawing)
        expect(f"{metric}: {words.tooltips}", words.tooltips[tip] == 1 and not words.words["barrier, int8"])


def mode(name, step, exposed, **more):
    return dict(mode=name, step_ms=step, exposed_ms=exposed, **more)


def check_studies():
    points = [{"ranks": 1, "modes": [mode("flat", 40, 0, efficiency=1)]},
              {"ranks": 4, "modes": [mode("flat", 50, 10, efficiency=0.2)]}]
    for kind, ideal in (("strong", 10), ("weak", 40)):
        drawing = chart.scaling({"scaling": kind, "points": points, "title": "a task"}).drawing
        words, root = seen(drawing)
        for word in (f"{kind} scaling: a task", f"{kind} scaling: efficiency", "flat", "ideal", "of one rank's"):
            expect(f"'{word}' is in {words.words}", words.words[word])
        for tip in ("flat: 4, 50", "flat: 4, 0.2", "flat: 4, 10"):
            equal(f"'{tip}'", words.tooltips[tip], 1)
        lines = [line.get("points").split() for line in root.iter(SVG + "polyline")]
        step = chart.Axis("linear", [40, 50, 40, ideal], 0, 252)
        drop = (float(lines[1][1].split(",")[1]) - float(lines[1][0].split(",")[1]))
        equal(f"the ideal of {kind} scaling", round(drop, 1), round(step.at(40) - step.at(ideal), 1))
    points = [mode("overlap", 35, 2, bucket_bytes=1 << 20, auto=False),
              mode("overlap", 34, 1, bucket_bytes=4 << 20, auto=False),
              mode("overlap", 34, 1, bucket_bytes=4 << 20, auto=True)]
    words, _ = seen(chart.sweep({"sweep": points, "levels": [mode("flat", 41, 8)], "title": "a task"}).drawing)
    for tip in ("auto: 4 MiB, 34", "overlap: 1 MiB, 35", "flat: 1 MiB, 41", "flat: 4 MiB, 8"):
        equal(f"'{tip}'", words.tooltips[tip], 1)
    parts = dict(forward_ms=10.0, backward_ms=20.0, update_ms=3.0)
    rows = [dict(parts, mode="overlap", communication_ms=8.0, exposed_ms=2.0),
            dict(parts, mode="none", communication_ms=0.0, exposed_ms=0.0)]
    words, root = seen(chart.breakdown({"breakdown": rows, "title": "a title"}).drawing)
    for word in ("35.0", "33.0", "a title", "hidden communication", "exposed communication", "milliseconds per step"):
        equal(f"'{word}'", words.words[word], 1)
    equal("what is hidden", words.tooltips["overlap, hidden communication: 6.00"], 1)
    thin = [float(one.get("width")) for one in root.iter(SVG + "rect") if one.get("height") == "7"]
    equal("a thin bar of 6 on an axis to 35", [round(width) for width in thin], [round(6 / 35 * 620), 0])


def check_refusals():
    nothing = '{"points": []}'
    for text, word in (("", "not a file"), ("[1, 2]", "not a file"), ("{}", "not a file"), (nothing, "--metric"),
                       ('{"points": [{"bytes": 1}]}', "not a file"),
                       ('{"breakdown": [], "title": ""}', "not a file"),
                       ('{"scaling": "weak", "title": "", "points": [{"ranks": 1, "modes": '
                        '[{"mode": "a", "step_ms": NaN, "exposed_ms": 0, "efficiency": 1}]}]}', "axis")):
        try:
            chart.chart(text, USUAL)
        except chart.Problem as problem:
            expect(f"{text}: {problem}", word in str(problem))
        else:
            expect(f"{text} has no chart", False)


for check in (check_axes, check_panels, check_collectives, check_studies, check_refusals):
    check()
