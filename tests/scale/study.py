#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tutti's choices on large simulated clusters, beside those of MPICH, Open MPI and MVAPICH2, by SimGrid's SMPI.

    tests/scale/study.py --build build/release                     # both networks: some hours
    tests/scale/study.py --build build/release --layouts 16x1 1x64 --networks fat_tree    # a part
    tests/scale/study.py --build build/release --smoke             # a minute: few calls, their results compared

For each network and layout (nodes x ranks of a node) the links of the simulated cluster are measured by the code of
`tutti tune --links`; the planner is asked for its choice of each call, with these links, and with nothing else known;
the chosen schedule runs on the cluster, and the same call runs by the algorithm that each selector of SMPI takes, and
as MPICH 5 (mpich5.py) and HAN of Open MPI 5 (han.py) have it.
Finished points are kept in the folder, and a later run goes on behind them. Needs smpirun, smpicxx (Debian: simgrid,
libsimgrid-dev), and the targets tutti_scale_choices and, for plots, tutti-commbench of the build folder.
"""
import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

import han
import mpich5
import report
import simulator

SELECTORS = ("mpich", "ompi", "mvapich2")
MODELS = {"mpich5": mpich5, "han": han}  # of choices that SMPI has not
JOBS = ("tutti", *SELECTORS, *MODELS)
OPERATIONS = ("barrier", "bcast", "reduce", "scatter", "gather", "scan", "exscan", "allreduce",
              "reduce_scatter_block", "allgather", "alltoall")
ORDER = (*OPERATIONS, "alltoallv")
BLOCKS = ("reduce_scatter_block", "gather", "scatter", "allgather", "alltoall")
SIZES = [8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 64 << 20]
LAYOUTS = ("1x64", "16x1", "64x1", "16x16", "128x8", "1024x1")
# Messages of all pairs of many ranks take minutes a call: there fewer sizes are simulated, and none on more ranks. Scans
# are left out on many, because SMPI's MPI sends from each rank to all above.
ALL_PAIRS = ("reduce_scatter_block", "allgather", "alltoall")
SCANS = ("scan", "exscan")
MANY = 256
FEW_SIZES = [256 << 10, 16 << 20]
# Of the short run: for segments of HAN, and for what MPICH 5 takes for long messages.
LONG_CALLS = [*((operation, 3 * han.SEGMENT + 64) for operation in han.OPERATIONS),
              *((operation, mpich5.LONG) for operation in ("bcast", "reduce_scatter_block", "allgather")),
              ("alltoall", 2 * mpich5.LONG)]
ELEMENT = 4


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="build folder of Tutti")
    add("--folder", type=pathlib.Path, default=pathlib.Path("build/scale"), help="for the program and the results")
    add("--networks", nargs="+", default=list(simulator.NETWORKS), choices=simulator.NETWORKS)
    add("--layouts", nargs="+", default=list(LAYOUTS), metavar="NODESxRANKS")
    add("--operations", nargs="+", default=list(OPERATIONS), choices=OPERATIONS)
    add("--of", nargs="+", default=list(JOBS), choices=JOBS, help="whose choices to run")
    add("--limit", type=float, default=1800, help="seconds for the calls of one selector on one layout")
    add("--jobs", type=int, default=2, help="simulations at the same time")
    add("--report", type=pathlib.Path, metavar="DIR", help="writes tables and plots of all results here")
    add("--smoke", action="store_true", help="few calls on small layouts, with data; ends with 77 without SMPI")
    return parser.parse_args()


def sizes_of(operation, ranks):
    """Of the vector, or of all blocks of a rank, from one element a block."""
    if (operation in SCANS and ranks >= MANY) or (operation in ALL_PAIRS and ranks > MANY):
        return []
    if operation == "barrier":
        return [0]
    if operation not in BLOCKS:
        return SIZES
    least = ELEMENT * ranks
    sizes = FEW_SIZES if ranks >= MANY and operation in ALL_PAIRS else SIZES
    return [least] + [size for size in sizes if size > least and size % least == 0]


class Results:
    """Finished points by (network, layout, operation, bytes, way), in a file."""

    def __init__(self, path):
        self.path = path
        self.points = {}
        if path.exists():
            for line in path.read_text().splitlines():
                *key, seconds = json.loads(line)
                self.points[tuple(key)] = seconds

    def add(self, network, layout, found):
        with self.path.open("a") as out:
            for (operation, size, way), seconds in found.items():
                key = (network, layout, operation, size, way)
                self.points[key] = seconds
                out.write(json.dumps([*key, seconds]) + "\n")


def choices_of(options, links, nodes, per_node, calls):
    """The starts of rounds, and for each call the schedules and their predictions, the fastest first."""
    done = subprocess.run([options.build / "tests/tutti_scale_choices", links, str(nodes), str(per_node)], text=True,
                          input="".join(f"{operation} {size}\n" for operation, size in calls), capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"study: {done.stderr}")
    starts, ways = None, {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words[0] == "starts":
            starts = [float(word) for word in words[1:]]
        else:
            ways.setdefault((words[0], int(words[1])), []).append((words[2], float(words[3])))
    return starts, ways


def measured_links(options, sim, network, nodes, per_node):
    """The file of them."""
    links = options.folder / f"links-{network}-{nodes}x{per_node}"
    links.write_text(sim.links(network, nodes, per_node))
    return links


def modelled_ways(options, links, nodes, per_node, calls, of):
    """By library, the way of each call that its model has; none has v-forms."""
    def choices(*question):
        return choices_of(options, links, *question)[1]
    calls = [call for call in calls if call[0] in OPERATIONS]
    return {one: model.ways(choices, calls, nodes, per_node) for one, model in MODELS.items() if one in of}


def expensive_last(call):
    """A simulation costs by messages: those of all pairs come last, and long vectors, which rings cut up."""
    place = ORDER.index(call[0])
    return (place >= ORDER.index("allreduce")) + (call[0] == "alltoallv"), call[1], place


def jobs_of(options, links, nodes, per_node, calls, ways, of):
    """What runs together, by name: the selector of SMPI, and (call, name of the result, way of the program)."""
    calls = sorted(calls, key=expensive_last)
    jobs = {"tutti": ("ompi", [(call, ways[call][0][0], ways[call][0][0]) for call in calls])}
    jobs |= {one: (one, [(call, one, "selector") for call in calls]) for one in SELECTORS}
    for one, found in modelled_ways(options, links, nodes, per_node, calls, of).items():
        jobs[one] = ("ompi", [(call, one, found[call]) for call in calls if call in found])
    return {one: jobs[one] for one in of if jobs[one][1]}


def study(options, sim, results, network, layout, calls, predictions, of=JOBS):
    nodes, per_node = map(int, layout.split("x"))
    links = measured_links(options, sim, network, nodes, per_node)
    starts, ways = choices_of(options, links, nodes, per_node, calls)
    for call in sorted(calls, key=expensive_last):
        predictions[network, layout, *call] = ways[call][0]
    jobs = jobs_of(options, links, nodes, per_node, calls, ways, of)

    def run(job):
        selector, lines = jobs[job]
        missing = {(*call, way): name for call, name, way in lines
                   if (network, layout, *call, name) not in results.points}
        if not missing:
            return {}
        found = sim.time(network, nodes, per_node, selector, list(missing), starts, options.limit)
        return {(operation, size, missing[operation, size, way]): seconds
                for (operation, size, way), seconds in found.items()}

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for job, found in zip(jobs, pool.map(run, jobs)):
            results.add(network, layout, found)
            print(f"{network} {layout} {job}: {len(found)} points", flush=True)


def smoke(options, sim):
    """The chosen schedules with data, on clusters of 16 ranks: results are those of the simulated MPI."""
    calls = [(operation, size) for operation in OPERATIONS for size in sizes_of(operation, 16) if size <= 32 << 10]
    calls += [("alltoallv", size) for operation, size in calls if operation == "alltoall"]
    for network in simulator.NETWORKS:
        for layout in ("1x16", "4x4", "16x1"):
            nodes, per_node = map(int, layout.split("x"))
            links = measured_links(options, sim, network, nodes, per_node)
            starts, ways = choices_of(options, links, nodes, per_node, calls)
            lines = [(*call, ways[call][0][0]) for call in calls]
            modelled = modelled_ways(options, links, nodes, per_node, calls + LONG_CALLS, MODELS).values()
            of_others = [(*call, way) for found in modelled for call, way in found.items()]
            all_lines = dict.fromkeys([*lines, *of_others, ("alltoall", 4 << 10, "scattered:6")])
            found = sim.time(network, nodes, per_node, "mpich", list(all_lines), starts, 300, data=True)
            if set(found) != set(all_lines) or min(found.values()) <= 0:
                missing = sorted(set(all_lines) - set(found))
                raise SystemExit(f"study: {network} {layout}: {missing} were not simulated")
            worst = max(max(found[line] / ways[line[:2]][0][1], ways[line[:2]][0][1] / found[line])
                        for line in lines)
            if worst > 2.5:
                raise SystemExit(f"study: {network} {layout}: a prediction is off by a factor of {worst:.2f}")
            print(f"{network} {layout}: {len(found)} calls are right, predictions within a factor of {worst:.2f}")


def main():
    options = arguments()
    sim = simulator.built(options.folder)
    if sim is None:
        return 77
    if options.smoke:
        smoke(options, sim)
        return 0
    results = Results(options.folder / "results.jsonl")
    predictions = {}
    for network in options.networks:
        for layout in options.layouts:
            nodes, per_node = map(int, layout.split("x"))
            calls = [(operation, size) for operation in options.operations
                     for size in sizes_of(operation, nodes * per_node)]
            study(options, sim, results, network, layout, calls, predictions, options.of)
    if options.report:
        report.write(options, results.points, predictions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
