#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Weak scaling of tutti-dlrm and tutti-sgd to 1,024 simulated nodes of one rank each.

    tests/scale/weak.py --build build/release --measure docs/scale/measured.json   # the programs, here: some minutes
    tests/scale/weak.py --build build/release --report docs/scale                  # simulates their communication
    tests/scale/weak.py --build build/release --smoke                              # a few nodes

Computation is measured: the phases of a step on one rank of this machine. Communication is simulated as in study.py:
the calls of a step (steps.py), by Tutti's choices and by the algorithms that SMPI's selectors take. How tables are
divided, plan_sharding() says, with the links of the simulated cluster. Finished points are kept in the folder.
"""
import argparse
import contextlib
import json
import math
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import time

import simulator
import steps
import study
import weak_report

sys.path.insert(0, str(simulator.ROOT / "tests/nodes"))
import hosts  # noqa: E402

STEPS = 60
LIMIT = 120  # seconds of one run
NODES = (2, 4, 16, 64, 256, 1024)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="build folder of Tutti")
    add("--folder", type=pathlib.Path, default=pathlib.Path("build/scale"), help="for the program and the results")
    add("--network", default="fat_tree", choices=simulator.NETWORKS)
    add("--nodes", nargs="+", type=int, default=list(NODES))
    add("--limit", type=float, default=600, help="seconds for the calls of one selector on one number of nodes")
    add("--jobs", type=int, default=2, help="simulations at the same time")
    add("--measure", type=pathlib.Path, metavar="FILE", help="runs the programs and writes their times here")
    add("--rounds", type=int, default=5, help="runs of each program, of which the quickest counts")
    add("--mpiexec", default="mpiexec.mpich")
    add("--measured", type=pathlib.Path, default=simulator.ROOT / "docs/scale/measured.json", metavar="FILE")
    add("--speeds", nargs="+", type=float, default=[1, 16], help="of a node's computation, of the measured one")
    add("--report", type=pathlib.Path, metavar="DIR", help="writes tables and plots here")
    add("--smoke", action="store_true", help="a few nodes; ends with 77 without SMPI")
    return parser.parse_args()


# The programs.

def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def run_program(options, app, launcher, ranks, count=STEPS, flags=()):
    """What one run prints, and its results."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        name, *usual = app.command(ranks, count)
        command = [*launcher, "-n", ranks, options.build.resolve() / "bin" / name, *usual, *flags,
                   f"--json-file={path}"]
        command = list(map(str, command))
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            try:
                out, err = process.communicate(timeout=LIMIT)
            except subprocess.TimeoutExpired:  # MPICH 4.0.2 over TCP may hang in its MPI_Finalize
                process.terminate()
                out, err = process.communicate()
        if not path.exists():
            raise SystemExit(f"weak: {' '.join(command)} failed: {out[-1000:]}{err[-1000:]}")
        return out, json.loads(path.read_text())


def times_of(results):
    """In seconds."""
    run = results["modes"][0] if "modes" in results else results
    return {"step": run["ms_per_iteration"] / 1e3, "exposed": run["exposed_communication_ms"] / 1e3,
            "phases": {phase: ms / 1e3 for phase, ms in run["phases"].items()}}


def quickest(runs):
    """What other work has disturbed least; its figures are medians over steps."""
    return {**min(runs, key=lambda run: run["step"]), "steps": sorted(round(run["step"], 6) for run in runs)}


def measure(options):
    """One rank, two ranks of this machine and two hosts of namespaces, in turn."""
    why = hosts.missing()
    here = [options.mpiexec, "-bind-to", "core"]
    with contextlib.ExitStack() as stack:
        places = {"1 rank": (here, 1), "2 ranks of one host": (here, 2)}
        if why:
            print(f"weak: without hosts of namespaces: {why}")
        else:
            two = stack.enter_context(hosts.Hosts(2, pins=True))
            places["2 hosts of namespaces"] = (two.launcher([options.mpiexec], 1), 2)
        runs = {}
        for _ in range(options.rounds):
            for app in steps.APPS:
                for place, (launcher, ranks) in places.items():
                    _, results = run_program(options, app, launcher, ranks)
                    runs.setdefault((app.name, place), []).append(times_of(results))
                    print(f"{app.name}, {place}: {1e3 * runs[app.name, place][-1]['step']:.3f} ms a step", flush=True)
    document = {"processor": processor(), "date": time.strftime("%Y-%m-%d"), "rounds": options.rounds}
    for (app, place), found in runs.items():
        document.setdefault(app, {})[place] = quickest(found)
    options.measure.write_text(json.dumps(document, indent=1) + "\n")


# The simulation.

def shards_of(options, app, network, nodes):
    """How plan_sharding() divides the tables of an app over nodes, from which the links have been measured."""
    if not hasattr(app, "rows"):
        return None
    links = options.folder / f"links-{network}-{nodes}x1"
    if nodes == 1:
        links.write_text("")
    done = subprocess.run([options.build / "tests/tutti_scale_shards", links, str(nodes), str(app.BATCH * nodes)],
                          text=True, input="".join(f"{rows} {app.DIM} 1\n" for rows in app.rows(nodes)),
                          capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"weak: {done.stderr}")
    first, *ways = done.stdout.splitlines()
    vectors, gradients, seconds, size = first.split()
    return steps.Shards(int(vectors), int(gradients), float(seconds), int(size), ", ".join(ways))


class Times:
    """Of a step's calls on one number of nodes: Tutti's, and those of the best selector of each call."""

    def __init__(self, calls, points, predictions, key):
        self.tutti, self.best = {}, {}
        self.predicted, self.incomplete = [], []  # not simulated by Tutti's choice, or by all selectors
        for name, call in calls.items():
            way, seconds = predictions[*key, *call]
            self.tutti[name] = points.get((*key, *call, way), seconds)
            if (*key, *call, way) not in points:
                self.predicted.append(name)
            found = [points[*key, *call, one] for one in study.SELECTORS if (*key, *call, one) in points]
            if found:
                self.best[name] = min(found)
            if len(found) < len(study.SELECTORS):
                self.incomplete.append(name)

    def all_of_best(self):
        return self.best if len(self.best) == len(self.tutti) else None


def simulate(options, sim, results, nodes):
    """For each app its shards and its times."""
    layout = f"{nodes}x1"
    study.measured_links(options, sim, options.network, nodes, 1)
    shards = {app.name: shards_of(options, app, options.network, nodes) for app in steps.APPS}
    calls = {app.name: app.calls(nodes, shards[app.name]) for app in steps.APPS}
    predictions = {}
    wanted = dict.fromkeys(call for app in steps.APPS for call in calls[app.name].values())
    study.study(options, sim, results, options.network, layout, list(wanted), predictions,
                ("tutti", *study.SELECTORS))
    key = (options.network, layout)
    return {app.name: (shards[app.name], Times(calls[app.name], results.points, predictions, key))
            for app in steps.APPS}


class Row:
    """A step on so many nodes that compute `speed` times as fast as was measured."""

    def __init__(self, app, nodes, compute, times, speed):
        self.app, self.nodes, self.times = app, nodes, times
        self.parts = {part: seconds / speed for part, seconds in compute.items()}
        self.compute = sum(self.parts.values())

    def steps(self, seconds):
        """Without and with overlap."""
        return self.compute + sum(seconds.values()), self.app.overlapped(self.parts, seconds)


def rows_of(options, measured, simulated, app, speed):
    """The first is one rank's, without communication."""
    phases = measured[app.name]["1 rank"]["phases"]
    sgd = steps.Sgd()
    update_of_value = measured["sgd"]["1 rank"]["phases"]["update"] / steps.values(sgd.WIDTHS)
    one = shards_of(options, app, options.network, 1)
    rows = [Row(app, 1, app.compute(phases, 1, update_of_value), None, speed)]
    for nodes, found in simulated.items():
        shards, times = found[app.name]
        factor = shards.seconds / one.seconds if shards else 1
        rows.append(Row(app, nodes, app.compute(phases, factor, update_of_value), times, speed))
    return rows


def check_step(row, seconds):
    """Nothing is lost: a step is as long as its computation or its communication where there is no other."""
    plain, overlapped = row.steps(seconds)
    alone = row.app.overlapped(row.parts, dict.fromkeys(seconds, 0))
    bare = row.app.overlapped(dict.fromkeys(row.parts, 0), seconds)
    if not (math.isclose(alone, row.compute) and math.isclose(bare, sum(seconds.values())) and
            max(alone, bare) < overlapped < plain):
        raise SystemExit(f"weak: {row.app.name}, {row.nodes} nodes: {plain} {overlapped} {alone} {bare} {seconds}")


def smoke(options, sim):
    """What the tables rest on: buckets and dense parameters are those of the programs, columns those of the tables; and
    the bounds of each step."""
    sgd, dlrm = steps.Sgd(), steps.Dlrm()
    printed, _ = run_program(options, sgd, [options.mpiexec], 1, 2, ["--print-map"])
    buckets = [int(size) for size in re.findall(r"^ +\d+ +(\d+)  float32", printed, re.MULTILINE)]
    if buckets != [size for size, _ in sgd.buckets()]:
        raise SystemExit(f"weak: tutti-sgd has the buckets {buckets}, not {sgd.buckets()}")
    _, results = run_program(options, dlrm, [options.mpiexec], 1, 2,
                             ["--arch-embedding-size=" + "-".join("8" for _ in dlrm.ROWS)])
    dense = sum(size for name, (_, size) in dlrm.calls(1, steps.Shards(0, 0, 0, 0, "")).items() if "dense" in name)
    if not results["configuration"]["dense"].startswith(f"{dense / 1e6:.1f} MB on every rank"):
        raise SystemExit(f"weak: tutti-dlrm has {results['configuration']['dense']}, not {dense} bytes")
    all_columns = dlrm.DIM * len(dlrm.ROWS)
    if shards_of(options, dlrm, options.network, 1).vectors != all_columns:
        raise SystemExit("weak: one rank has not all columns")
    path = options.folder / "smoke.jsonl"
    path.unlink(missing_ok=True)
    for nodes in (2, 4):
        for name, (shards, times) in simulate(options, sim, study.Results(path), nodes).items():
            app = next(app for app in steps.APPS if app.name == name)
            if shards and not all_columns <= nodes * shards.gradients < 2 * all_columns:
                raise SystemExit(f"weak: {nodes} nodes have {shards.gradients} columns each of {all_columns}")
            compute = app.compute(dict.fromkeys(app.PHASES, 1e-3), 1, 1e-10)
            row = Row(app, nodes, compute, times, 1)
            for seconds in (times.tutti, times.all_of_best()):
                check_step(row, seconds)
            if times.predicted:
                raise SystemExit(f"weak: {name}, {nodes} nodes: {times.predicted} were not simulated")
            print(f"{name} on {nodes} nodes: {1e3 * row.steps(times.tutti)[1]:.3f} ms")


def main():
    options = arguments()
    if options.measure:
        return measure(options)
    sim = simulator.built(options.folder)
    if sim is None:
        return 77
    if options.smoke:
        return smoke(options, sim)
    results = study.Results(options.folder / "weak.jsonl")
    simulated = {nodes: simulate(options, sim, results, nodes) for nodes in options.nodes}
    if options.report:
        measured = json.loads(options.measured.read_text())
        tables = {(app, speed): rows_of(options, measured, simulated, app, speed) for app in steps.APPS
                  for speed in options.speeds}
        shards = {1: shards_of(options, steps.Dlrm(), options.network, 1),
                  **{nodes: found["dlrm"][0] for nodes, found in simulated.items()}}
        weak_report.write(options, measured, tables, shards)
    return 0


if __name__ == "__main__":
    sys.exit(main())
