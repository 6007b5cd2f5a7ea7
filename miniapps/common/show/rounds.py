#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the rounds of a call that `tutti explain --measure --json` has measured: for each rank a bar a round over the
time, and below it a thin one of the prediction. `tutti explain --measure --svg FILE` calls it; by hand, on any machine:

    mpiexec -n 4 tutti explain allreduce --bytes 1MiB --algorithm ring --measure --json | rounds.py > rounds.svg
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from chart import Axis  # noqa: E402
from draw import MARGIN, Drawing, Problem, main, text_width  # noqa: E402

CALL = "#e4e4e4"
MEASURED, PREDICTED = ("#0072b2", "#56b4e9"), ("#d55e00", "#e8a06a")  # of rounds in turn


def microseconds(seconds):
    """Three digits, or all of a large whole number."""
    value = 1e6 * seconds
    return f"{value:.0f} µs" if value >= 1000 else f"{value:.3g} µs"


class RoundsDrawing:
    """A row a rank: the call, its measured rounds on it, and its predicted rounds below."""
    ROW, BAR, THIN = 40, 18, 6  # heights
    PLOT, LEFT, RIGHT, TOP, BOTTOM = 760, 80, 30, 82, 44

    def __init__(self, value, title):
        measured = value["measured"]
        ranks = measured["ranks"]
        ends = [one["predicted_begin"] + one["predicted_seconds"] for rank in ranks for one in rank["rounds"]]
        left, floor = MARGIN + self.LEFT, self.TOP + self.ROW * len(ranks)
        self.x = Axis("linear", [1e6 * end for end in ends + [rank["end"] for rank in ranks]], left, left + self.PLOT)
        notes = f"medians of {measured['repeats']} calls, the call {microseconds(measured['seconds'])}; {measured['clocks']}"
        width = max(left + self.PLOT + self.RIGHT, *(MARGIN + text_width(words, size, bold) for words, size, bold in
                                                    ((title, 15, True), (notes, 11, False)))) + MARGIN
        self.drawing = Drawing(width, floor + self.BOTTOM, title)
        self.drawing.text(MARGIN, 50, notes, size=11, fill="#555555")
        self.draw_legend(68)
        for value, words, _ in self.x.ticks():
            self.drawing.shape("line", x1=self.x.at(value), y1=self.TOP, x2=self.x.at(value), y2=floor, stroke=CALL)
            self.drawing.text(self.x.at(value), floor + 16, words, size=10, anchor="middle")
        self.drawing.text(left + self.PLOT / 2, floor + 34, "microseconds since the first rank began", anchor="middle")
        for i, rank in enumerate(ranks):
            self.draw_rank(i, rank, self.TOP + self.ROW * i + 6)

    def draw_legend(self, y):
        x = MARGIN
        for colours, words in (((CALL,), "call"), (MEASURED, "measured rounds"), (PREDICTED, "predicted rounds")):
            for colour in colours:
                self.drawing.shape("rect", x=x, y=y - 9, width=12, height=10, fill=colour)
                x += 12
            self.drawing.text(x + 6, y, words, size=11)
            x += 26 + text_width(words, 11)

    def draw_rank(self, number, rank, y):
        self.drawing.text(self.x.start - 8, y + self.BAR / 2 + 4, f"rank {number}", anchor="end", bold=True)
        self.bar(rank["begin"], rank["end"] - rank["begin"], y, self.BAR, CALL, f"rank {number}: the call")
        for i, one in enumerate(rank["rounds"]):
            words = f"rank {number}, round {i}"
            self.bar(one["begin"], one["seconds"], y, self.BAR, MEASURED[i % 2], f"{words}, measured")
            self.bar(one["predicted_begin"], one["predicted_seconds"], y + self.BAR + 1, self.THIN, PREDICTED[i % 2],
                     f"{words}, predicted")

    def bar(self, begin, seconds, y, height, colour, words):
        start = self.x.at(1e6 * begin)
        self.drawing.shape("rect", x=start, y=y, width=self.x.at(1e6 * (begin + seconds)) - start, height=height,
                           fill=colour, tooltip=f"{words}: {microseconds(seconds)}")


def rounds(value):
    """The SVG document of what tutti printed."""
    if "measured" not in value:
        raise Problem("this JSON has no measured rounds; take that of tutti explain --measure --json under mpiexec")
    return str(RoundsDrawing(value, f"{value['call']['text']}: {value['chosen']}").drawing)


if __name__ == "__main__":
    sys.exit(main(rounds))
