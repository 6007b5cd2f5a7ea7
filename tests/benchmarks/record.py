#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures a build of Tutti on this machine, and writes a file of docs/results.

Each measurement runs one program of the tree, with its peers in turn, and its cells keep their 95 % intervals, so that
compare.py can tell a loss from noise. docs/results/tables.py then writes the pages. Run it on an idle machine.

    record.py --list                                       # the measurements
    record.py --build build/release                        # all of them, into docs/results/DATE-PROCESSOR.json
    record.py --install-peers DIR --seconds 1200           # more MPIs; no measurement begins after 20 minutes
    record.py --only collectives,preload --output mine.json
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import compare
import kinds

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "miniapps" / "commbench"))
import compare_peers  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=ROOT / "build" / "release", help="folder that Tutti was built in")
    add("--install-peers", type=pathlib.Path, metavar="DIR", help="installs and uses the MPIs of PyPI in DIR")
    add("--ranks", "-n", type=int, default=2)
    add("--rounds", type=int, default=9)
    add("--high", type=int, default=64 << 20, help="largest collectives, in bytes")
    add("--seconds", type=float, default=1800, help="no measurement begins later")
    add("--only", default=",".join(MEASUREMENTS), metavar="NAME,...", help="these measurements")
    add("--id", help="word for the processor, its place in docs/performance.md (default: by its model)")
    add("--output", type=pathlib.Path, metavar="FILE")
    add("--list", action="store_true", help="lists the measurements and ends")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.only = options.only.split(",")
    unknown = [name for name in options.only if name not in MEASUREMENTS]
    if unknown:
        parser.error(f"--only: there is no {unknown[0]}; one of {', '.join(MEASUREMENTS)}")
    if options.ranks < 2 or options.rounds < 1:
        parser.error("--ranks: at least 2; --rounds: at least 1")
    if not options.list and not (options.build / "bin" / "tutti").exists():
        parser.error(f"--build {options.build}: there is no bin/tutti; build the preset release first")
    return options


def output_of(command, folder=None):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}: {done.stderr[-600:]}")
    return done.stdout


def launch(options, *command):
    launcher = compare_peers.cache_entry(options.build, "MPIEXEC_EXECUTABLE")
    return [*compare_peers.launch_command(launcher, options.ranks), *command]


def text_of(report):
    """JSON with a line for each row of a table."""
    text = json.dumps(report, indent=1, ensure_ascii=False)
    texts = r'(?:"(?:[^"\\]|\\.)*"|\[[^][]*\])'
    for _ in range(2):
        text = re.sub(rf"\[\s+({texts}(?:,\s+{texts})*)\s+\]", lambda m: f"[{re.sub(chr(10) + ' *', ' ', m[1])}]", text)
    return text + "\n"


def three_digits(value):
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}".rstrip(".")


def grid(title, names, labels, cells):
    """Columns, rows and intervals of `cells`: (name of the column, label of the row) → (time, ratios)."""
    rows, intervals = [], []
    for label in labels:
        row, ranges = [label], [""]
        for name in names:
            found = cells.get((name, label))
            low, high = compare_peers.median_interval(found[1]) if found else (0, 0)
            mark = ["behind"] if high < compare_peers.SLOW else []
            row.append([three_digits(found[0]), three_digits(statistics.median(found[1])), *mark] if found else "")
            ranges.append([f"{low:.3f}", f"{high:.3f}"] if found else "")
        rows.append(row)
        intervals.append(ranges)
    ratios = [float(three_digits(statistics.median(found[1]))) for found in cells.values()]
    behind = sum(isinstance(cell, list) and len(cell) == 3 for row in rows for cell in row)
    return {"columns": [title, *names], "rows": rows, "intervals": intervals, "cells": str(len(ratios)),
            "mean": f"{statistics.geometric_mean(ratios):.3f}", "behind": str(behind)}


def collectives(options, folder):
    command = [ROOT / "miniapps/commbench/compare_peers.py", "--build", options.build, "--ranks", options.ranks, "--rounds",
               options.rounds, "--high", options.high, "--json", folder / "peers.json"]
    if options.install_peers:
        command += ["--install-peers", options.install_peers.resolve()]
    output_of([sys.executable, *command])
    document = json.loads((folder / "peers.json").read_text(encoding="utf-8"))
    rounds = [{name: {(c["operation"], c["bytes"]): c["us"] for c in cells} for name, cells in r.items()}
              for r in document["rounds"]]
    cells = {}
    for row in document["cells"]:
        cell = row["operation"], row["bytes"]
        ratios = [r[row["best"]][cell] / r["tutti"][cell] for r in rounds if cell in r[row["best"]] and cell in r["tutti"]]
        cells[cell] = row["medians"]["tutti"], ratios
    barrier = next((cell for cell in cells if cell[0] == "barrier"), None)
    names = [name for name in compare_peers.OPERATIONS if any(cell[0] == name for cell in cells) and name != "barrier"]
    ratio = statistics.median(cells[barrier][1]) if barrier else 0
    own = {"barrier": [three_digits(cells[barrier][0]), three_digits(ratio)]} if barrier else {}
    sizes = sorted({size for name, size in cells if name in names})
    table = grid("bytes", names, list(map(kinds.size_text, sizes)),
                 {(name, kinds.size_text(size)): found for (name, size), found in cells.items() if name in names})
    every = [float(cell[1]) for row in table["rows"] for cell in row if isinstance(cell, list)] + ([ratio] if barrier else [])
    table.update(mean=f"{statistics.geometric_mean(every):.3f}", cells=str(len(every)))
    peers = sorted(set().union(*rounds) - set(compare_peers.NO_PEERS))
    return {"kind": "Collectives on one node", "title": "recorded", "peers": peers,
            "command": "miniapps/commbench/compare_peers.py --build build/release" +
                       (" --install-peers DIR" if options.install_peers else ""),
            "how": f"{options.ranks} ranks, {options.rounds} rounds; µs.", **table, **own}


def preload(options, folder):
    library = options.build / "lib" / "libtutti-mpi.so"
    if not library.exists():
        raise RuntimeError(f"{library} is not there: build with TUTTI_ENABLE_PRELOAD=ON")
    output_of([sys.executable, ROOT / "tests/benchmarks/kinds.py", "--library", library, "--ranks", options.ranks,
               "--rounds", options.rounds, "--json", folder / "kinds.json", "--mpicc",
               compare_peers.cache_entry(options.build, "MPI_C_COMPILER"), "--mpiexec",
               compare_peers.cache_entry(options.build, "MPIEXEC_EXECUTABLE")])
    found = {(c["kind"], c["bytes"]): (statistics.median(c["mpi_seconds"]) * 1e6, c["ratios"])
             for c in json.loads((folder / "kinds.json").read_text(encoding="utf-8"))["cells"]}
    sizes = sorted({size for _, size in found})
    cells = {(kinds.size_text(size), kind): cell for (kind, size), cell in found.items()}
    names, kind_names = list(map(kinds.size_text, sizes)), list(dict.fromkeys(kind for kind, _ in found))
    return {"kind": "An unchanged program under libtutti-mpi", "title": "recorded", "peers": ["the MPI alone"],
            "command": "tests/benchmarks/kinds.py", "how": f"{options.ranks} ranks, {options.rounds} rounds; the MPI's µs.",
            **grid("kind", names, kind_names, cells)}


def regret(options, _):
    text = output_of(launch(options, options.build / "bin" / "tutti", "regret", "--json", "--budget", 240))
    summary = json.loads(text)["summary"]
    mean = f"{summary['geometric_mean']:.3f}"
    return {"kind": "Costs and choices", "title": "recorded regret", "command": "mpiexec -n 2 tutti regret --budget 240",
            "result": [f"{mean} (geometric mean)", "1, the fastest way of each cell"],
            "columns": ["cells", f"within {summary['near_ratio']:.2f} of the fastest way", "certainly slower", "mean"],
            "rows": [[str(summary["cells"]), str(summary["near"]), str(summary["certainly_slower"]), mean]]}


def planner(options, _):
    program = options.build / "tests" / "tutti_planner_benchmark"
    if not program.exists():
        raise RuntimeError(f"{program} is not there: build with TUTTI_ENABLE_BENCHMARKS=ON and Google Benchmark")
    command = [program, "--benchmark_filter=ranks:10240/", "--benchmark_repetitions=5", "--benchmark_format=json"]
    runs = [run for run in json.loads(output_of(command))["benchmarks"] if run.get("aggregate_name") == "median"]
    rows = [[run["run_name"], three_digits(run["cpu_time"])] for run in runs]
    return {"kind": "Memory and plans", "title": "recorded plans for 160 nodes of 64 ranks, µs", "result": [
        f"at most {max(float(row[1]) for row in rows):.0f} µs", "50 µs, the target"],
            "command": "tests/tutti_planner_benchmark --benchmark_filter=ranks:10240/", "columns": ["plan", "median"],
            "how": "Medians of 5, of processor time.", "rows": rows}


MEASUREMENTS = {"collectives": collectives, "preload": preload, "regret": regret, "planner": planner}


def of_processor():
    """Name and word of the processor. A virtual one may have a name that says little."""
    lines = pathlib.Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = re.sub(r"\((R|TM)\)", "", facts.get("model name", "processor"))
    model = f"family {facts.get('cpu family', '?')}, model {facts.get('model', '?')}"
    return f"{name}, {model}", "-".join(re.findall(r"[a-z0-9]+", f"{name} {facts.get('model', '')}".lower()))


def state_of_cores():
    """A sentence on what can disturb a measurement."""
    governor = pathlib.Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    how = f"governor {governor.read_text(encoding='ascii').strip()}" if governor.exists() else "no governor to be seen"
    return f"{len(os.sched_getaffinity(0))} cores, {how}, load {os.getloadavg()[0]:.2f} before the first measurement."


def commit_of(build):
    found = re.search(r"^commit (\S+)", output_of([build / "bin" / "tutti", "--version"]), re.MULTILINE)
    return found.group(1) if found else "unknown"


def measure(options):
    begin, measured = time.monotonic(), []
    common = {"date": str(datetime.date.today()), "commit": commit_of(options.build)}
    for number, name in enumerate(options.only):
        if time.monotonic() - begin > options.seconds:
            print(f"{name}: left out, {options.seconds:.0f} s have passed", file=sys.stderr)
            continue
        print(f"{name} ({number + 1} of {len(options.only)})", file=sys.stderr, flush=True)
        try:
            with tempfile.TemporaryDirectory() as folder:
                measured.append({**MEASUREMENTS[name](options, pathlib.Path(folder)), **common})
        except RuntimeError as failed:
            print(f"{name}: left out, {failed}", file=sys.stderr)
    return measured


def main():
    options = arguments()
    if options.list:
        print("\n".join(MEASUREMENTS))
        return 0
    name, word = of_processor()
    word = options.id or word
    notes = [state_of_cores()]
    report = {"id": word, "name": name, "date": str(datetime.date.today()), "processor": name, "notes": notes,
              "measurements": measure(options)}
    if not report["measurements"]:
        sys.exit("nothing was measured")
    path = options.output or ROOT / "docs" / "results" / f"{report['date']}-{word}.json"
    path.write_text(text_of(report), encoding="utf-8")
    compare.read(path)
    print(f"wrote {path}; docs/performance.md needs the place <!-- results: {word} -->, then run docs/results/tables.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
