#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Choices of jobs whose nodes are scattered over a simulated cluster, by links that were measured on other nodes.

    tests/scale/orders.py --build build/release [--report docs/scale/orders.md]

The links are measured on the first nodes of the cluster, with the groups of its network. Jobs of as many nodes elsewhere
are then planned three times: by the groups of their nodes, as the library does; by the distances that were measured on
the first nodes, as it does without groups; and by links measured on the job's own nodes, which no user has in time. All
schedules that any of these takes for fast run on the cluster. For each job: the time of the choice over the least, and
the prediction over the simulated time of all that ran. Needs what study.py needs.
"""
import argparse
import math
import pathlib
import random
import sys

import simulator
import study

NETWORKS = {simulator.TAPERED: "32", "dragonfly": "128,64,4"}  # nodes of each group of the cluster
NODES = 64
CALLS = [(operation, size) for operation in ("allreduce", "reduce_scatter_block", "allgather", "bcast")
         for size in (32 << 10, 256 << 10, 2 << 20)]
PLANS = ("groups", "distances", "own links")
NEARLY = 1.2  # ways that are predicted to take up to as many times the best run too


def runs(random_of, nodes, longest):
    """Free nodes as a scheduler finds them: runs of a few, in order."""
    found, at = [], 0
    while len(found) < nodes:
        at += 1 + int(random_of.expovariate(1 / (longest * (simulator.NODES / nodes / 3))))
        length = random_of.randint(1, longest)
        found += range(at, at + length)
        at += length
    return [node for node in found if node < simulator.NODES][:nodes]


def jobs():
    """The nodes of each job: one block, runs, single nodes, and the same out of order."""
    random_of = random.Random(7)
    single = sorted(random_of.sample(range(simulator.NODES), NODES))
    made = {"a block elsewhere": list(range(300, 300 + NODES))}
    for longest in (24, 8):
        found = runs(random_of, NODES, longest)
        while len(found) < NODES:
            found = runs(random_of, NODES, longest)
        made[f"runs of up to {longest}"] = found
    made["single nodes"] = single
    made["single nodes, out of order"] = random_of.sample(single, NODES)
    block = list(range(300, 300 + NODES))
    made["a block, out of order"] = random_of.sample(block, NODES)
    return made


def order_line(nodes, sizes):
    """As given_links.hpp reads it."""
    levels = [[node // int(size) for node in nodes] for size in sizes.split(",")]
    return f"order {len(levels)} {len(nodes)} " + " ".join(str(group) for level in levels for group in level) + "\n"


def without_groups(links):
    return "".join(line for line in links.splitlines(True) if not line.startswith("groups"))


def geometric(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else float("nan")


def planned(options, name, text):
    """The starts, and by call the ways with their predictions."""
    path = options.folder / f"links-{name.replace(' ', '_')}"
    path.write_text(text)
    return study.choices_of(options, path, NODES, 1, CALLS)


def judged(options, sim, network, nodes, links):
    """By plan: the ratios of the choices to the least, and of predictions to times."""
    own = links.splitlines(True)[0] + sim.fabric(network, nodes, 1, NETWORKS[network])
    texts = {"groups": links + order_line(nodes, NETWORKS[network]), "distances": without_groups(links),
             "own links": without_groups(own)}
    plans = {plan: planned(options, f"{network}-{plan}", texts[plan]) for plan in PLANS}
    calls = {(*call, way) for _, ways in plans.values() for call in CALLS for way, seconds in ways[call]
             if seconds <= NEARLY * ways[call][0][1]}
    times = sim.time(network, nodes, 1, "ompi", sorted(calls), plans["groups"][0], options.limit)
    found = {}
    for plan, (_, ways) in plans.items():
        least = {call: min(times[key] for key in times if key[:2] == call) for call in CALLS}
        regret = [times[(*call, ways[call][0][0])] / least[call] for call in CALLS]
        off = [seconds / times[(*call, way)] for call in CALLS for way, seconds in ways[call] if (*call, way) in times]
        found[plan] = regret, off
    return found, {call: min(times[key] for key in times if key[:2] == call) for call in CALLS}


def row(network, job, found):
    cells = [f"{geometric(regret):.3f} | {max(regret):.2f} | {geometric([max(one, 1 / one) for one in off]):.2f}"
             for regret, off in found.values()]
    return f"| {network} | {job} | {' | '.join(cells)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="build folder of Tutti")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/scale"), help="for program and results")
    parser.add_argument("--limit", type=float, default=600, help="seconds for the calls of one job")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--report", type=pathlib.Path, metavar="FILE", help="writes the table here")
    options = parser.parse_args()
    sim = simulator.built(options.folder)
    if sim is None:
        return 77
    heads = " | ".join(f"by {plan}: choice over least, mean | worst | prediction off by" for plan in PLANS)
    lines = [f"| network | job | {heads} |", "|---" * (2 + 3 * len(PLANS)) + "|"]
    least = {}
    for network in options.networks:
        first = list(range(NODES))
        links = sim.links(network, NODES, 1).splitlines(True)[0] + sim.fabric(network, first, 1, NETWORKS[network])
        for job, nodes in jobs().items():
            found, least[network, job] = judged(options, sim, network, nodes, links)
            lines.append(row(network, job, found))
            print(lines[-1], flush=True)
        for job in ("single nodes", "a block"):
            there = least[network, f"{job}, out of order"]
            here = least[network, job if job in jobs() else "a block elsewhere"]
            ratios = [there[call] / here[call] for call in CALLS]
            lines.append(f"\n{network}, {job}: the best schedule out of order takes {geometric(ratios):.3f} times as long as "
                         f"in order, at most {max(ratios):.2f}.\n")
            print(lines[-1], flush=True)
    if options.report:
        options.report.write_text("\n".join(lines) + "\n")
    return 0


sys.exit(main())
