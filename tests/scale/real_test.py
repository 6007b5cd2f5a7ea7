#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""real.py on a made-up machine whose links are known: real_test.py CHOICES."""
import csv
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import fitted
import pico
import real

CHOICES = sys.argv.pop() if len(sys.argv) > 1 else "build/release/tests/tutti_scale_choices"
TRUE = {**fitted.START, **fitted.RATIOS, **fitted.TAPERS, "latency": 5e-6, "rate": 2e9, "passing": 2}
NAMES = {"allreduce": ("recursive_doubling", "rabenseifner", "ring"),
         "allgather": ("recursive_doubling", "ring", "bruck"), "alltoall": ("linear", "pairwise", "modified_bruck")}
SIZES = [1 << digit for digit in range(9, 25, 2)]


def rows_of(nodes, operation, size, ways):
    for name in NAMES[operation]:
        seconds = ways[pico.COUNTERPARTS[operation][name]]
        yield {"machine": "made_up", "session": "1", "nodes": nodes, "ranks_per_node": 1, "notes": "null",
               "operation": operation.upper(), "bytes": size, "algorithm": f"{name}_ompi", "median_ns": seconds * 1e9}


def made_up(planner):
    """The rows of a machine of those links; Bine takes half of the least time everywhere."""
    rows = []
    for nodes in (16, 64):
        calls = [(operation, size) for operation in NAMES for size in SIZES]
        for (operation, size), ways in planner.ask(TRUE, nodes, 1, calls).items():
            some = list(rows_of(nodes, operation, size, ways))
            least = min(row["median_ns"] for row in some)
            rows += [*some, {**some[0], "algorithm": "bine_static_over", "median_ns": least / 2}]
    return rows


def write(path, rows, columns=pico.COLUMNS):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, columns, extrasaction="ignore")
        out.writeheader()
        out.writerows(rows)


class RealTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name, "measured.csv")
        cls.planner = fitted.Planner(CHOICES)
        cls.rows = made_up(cls.planner)
        write(cls.path, cls.rows)
        cls.cells = pico.read(cls.path)

    def read(self, *changes):
        path = pathlib.Path(self.folder.name, "changed.csv")
        write(path, [{**self.rows[0], **change} for change in changes])
        return pico.read(path)

    def test_names(self):
        self.assertEqual(pico.counterpart("bcast", "scatter_allgather_ring_ompi"), "scatter_allgather")
        self.assertEqual(pico.counterpart("allgather", "default-recursive-doubling"), "recursive_doubling")
        self.assertEqual(pico.counterpart("allreduce", "RECDOUB-L-UTOFU-0-1"), "recursive_doubling")
        self.assertEqual(pico.counterpart("allreduce", "bine_lat_over"), "bine_doubling")
        self.assertEqual(pico.counterpart("allgather", "sparbit_over"), "sparbit")
        self.assertEqual(pico.counterpart("reduce_scatter_block", "bine_block_by_block_over"), "bine_blocks")
        self.assertEqual(pico.counterpart("allgather", "bine_block_by_block_over_any_even"), "bine_blocks")
        self.assertEqual(pico.counterpart("allreduce", "bine_block_by_block_any_even"), "bine_blocks")
        for operation, name in (("allreduce", "RECDOUB-L-UTOFU-0-6"), ("bcast", "default-basic-linear"),
                                ("reduce", "bine_lat_over"), ("allreduce", "bine_bdw_remap_segmented_over"),
                                ("allreduce", "default_ompi"), ("bcast", "binomial")):
            self.assertIsNone(pico.counterpart(operation, name), name)

    def test_counterparts_are_algorithms(self):
        for operation, names in pico.COUNTERPARTS.items():
            ways = self.planner.ask(TRUE, 8, 1, [(operation, 1 << 12)])[operation, 1 << 12]
            self.assertLessEqual(set(names.values()), set(ways), operation)

    def test_cells(self):
        self.assertEqual(len(self.cells), 2 * len(NAMES) * len(SIZES))
        ways = {"algorithm": "ring_ompi", "median_ns": 9e3}, {"algorithm": "ring_over", "median_ns": 7e3}
        cell, = self.read(*ways)
        self.assertAlmostEqual(cell.known["ring"], 7e-6)
        self.assertEqual(len(cell.measured), 2)
        own, = self.read(*ways, {"algorithm": "default_ompi", "median_ns": 14e3})
        self.assertAlmostEqual(real.Judged(own, "ring", {}).regret_of_mpi, 2)
        self.assertEqual(len(self.read(*ways, {"session": "2"})), 2)
        self.assertEqual(self.read({"median_ns": 28}), [])
        torus, = self.read({"nodes": "2x4x8", "notes": " 4 tasks per node", "operation": "REDUCE_SCATTER"})
        self.assertEqual(torus.call.layout, ("made_up", 64, 4, 256))
        told, = self.read({"nodes": "9", "ranks_per_node": "8", "notes": "Test 64 tasks on made_up"})
        self.assertEqual(told.call.layout, ("made_up", 9, 8, 64))
        self.assertEqual(torus.call.operation, "reduce_scatter_block")
        self.assertEqual(pico.Call("m", 100, 1, 100, "allgather", 4096).asked(), 4000)

    def test_own_choices_that_are_left(self):
        def known(operation, size, seconds, nodes=60,
                  others=("ring", "neighbor", "recursive_doubling", "recursive_halving")):
            call = {"operation": operation, "bytes": size, "nodes": nodes}
            cell, = self.read(*({**call, "algorithm": f"{name}_ompi", "median_ns": 9e3} for name in others),
                              {**call, "algorithm": "ring_over", "median_ns": 4e3},
                              {**call, "algorithm": "default_ompi", "median_ns": seconds * 1e9})
            return cell.known
        self.assertAlmostEqual(known("ALLGATHER", 64, 4e-6)["bruck"], 4e-6)
        self.assertAlmostEqual(known("REDUCE_SCATTER", 64, 14e-6)["butterfly"], 14e-6)
        self.assertAlmostEqual(known("ALLREDUCE", 16384, 4e-6)["rabenseifner"], 4e-6)
        self.assertNotIn("rabenseifner", known("ALLREDUCE", 512, 4e-6), "it may be one that Tutti has not")
        self.assertNotIn("bruck", known("ALLGATHER", 64, 9.5e-6), "another takes as long")
        self.assertNotIn("bruck", known("ALLGATHER", 64, 4e-6, others=("ring",)), "others are left too")
        two = "ring", "neighbor"
        self.assertIn("bruck", known("ALLGATHER", 64, 4e-6, others=two))
        self.assertNotIn("bruck", known("ALLGATHER", 64, 4e-6, 64, two), "it may be recursive doubling")
        self.assertEqual(known("BCAST", 64, 4e-6), {})

    def test_of_equal_ones_the_planners_first_is_its_choice(self):
        cell = pico.Cell(pico.Call("m", 8, 1, 8, "allgather", 64), "1", {"ring": 2.0, "bruck": 1.0})

        class Equal:
            def predict(self, figures, cells):
                return {cell.call: {"bruck": 3.0, "ring": 3.0}}
        (one,) = real.judged(Equal(), None, [cell])
        self.assertEqual(one.choice, "bruck")

    def test_sources_of_regret(self):
        def judged(operation, seconds):
            return real.Judged(pico.Cell(pico.Call("m", 8, 1, 8, operation, 64), "1", seconds, seconds), "ring", {})
        some = [judged("allgather", {"ring": 4.0, "bruck": 1.0}), judged("alltoall", {"ring": 2.0, "direct": 1.0}),
                judged("bcast", {"ring": 1.0})]
        self.assertEqual(real.sources({"m": some})[2:], [
            "| m | allgather | to 4 KiB | 1 | 1 | 67% | 67% | ring | bruck | bruck |",
            "| m | alltoall | to 4 KiB | 1 | 1 | 33% | 33% | ring | direct | direct |"])

    def test_links_begin_at_those_of_near_numbers_of_ranks(self):
        found = {1: (["seen"], "one"), 4: (["seen"], "four"), 32: ([], "none")}
        self.assertEqual([fitted.nearest_to(ranks, found) for ranks in (2, 64)], ["four", "four"])
        self.assertEqual(fitted.nearest_to(4, {1: (["seen"], "one"), 2: ([], "none")}), "one")
        self.assertIsNone(fitted.nearest_to(4, {2: ([], "none")}))

    def test_ranks_of_a_node_that_is_not_full(self):
        cell = pico.Cell(pico.Call("m", 9, 8, 64, "allgather", 1 << 16), "1")
        ways = self.planner.predict({**TRUE, **fitted.ON_NODES}, [cell])[cell.call]
        self.assertIn("recursive_doubling", ways)  # for powers of two alone: 72 ranks are none

    def test_a_file_of_another_form_is_refused(self):
        path = pathlib.Path(self.folder.name, "other.csv")
        write(path, self.rows, [column for column in pico.COLUMNS if column != "median_ns"])
        with self.assertRaisesRegex(SystemExit, "median_ns"):
            pico.read(path)

    def test_fit(self):
        (seen, figures), = fitted.fits_of(self.planner, self.cells).values()
        self.assertGreater(len(seen), 1)
        self.assertLessEqual(len(seen), len(self.cells) / fitted.PART)
        for name in ("latency", "rate"):
            self.assertLess(abs(math.log(figures[name] / TRUE[name])), 0.3, f"{name}: {figures[name]}")
        judged = real.judged(self.planner, figures, real.unseen(self.cells, seen))
        self.assertEqual(len(judged), len(self.cells) - len(seen))
        self.assertLess(max(one.regret for one in judged), 1.1)
        for one in judged:
            self.assertAlmostEqual(one.regret_of_all, 2 * one.regret, places=6)
            self.assertIsNone(one.regret_of_mpi)

    def test_a_wrong_choice_has_regret(self):
        # Of a machine whose long messages cost nothing
        wrong = real.judged(self.planner, {**TRUE, "rate": 1e15, "combine": 1e-18, "copy": 1e-18}, self.cells)
        self.assertGreater(max(one.regret for one in wrong), 1.5)

    def test_the_program(self):
        run = [sys.executable, real.__file__, "--choices", CHOICES]
        done = subprocess.run([*run, self.path, "--report", self.folder.name], text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| made_up | all |", done.stdout)
        self.assertIn("| made_up | all |", pathlib.Path(self.folder.name, "real.md").read_text(encoding="utf-8"))
        self.assertEqual(subprocess.run([*run, self.path, "--most", "0.9"], capture_output=True).returncode, 1)
        self.assertEqual(subprocess.run([*run, self.path.with_name("none")], capture_output=True).returncode, 77)


if __name__ == "__main__":
    unittest.main()
