# SPDX-License-Identifier: BSD-3-Clause
"""Runs tutti-commbench on tiny sizes and looks at its files: complete, consistent, nothing wrong, plots well-formed."""
import argparse
import collections
import csv
import json
import math
import os
import shlex
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

OPERATIONS = ["barrier", "bcast", "reduce", "allreduce", "reduce_scatter_block", "scan", "exscan", "gather", "scatter",
              "allgather", "alltoall", "gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter"]
TRAFFIC = ["sendrecv", "pairwise", "incast", "multicast"]
MODES = ["blocking", "nonblocking", "persistent"]
QUICK = ["--budget=1e-5", "--rounds=1", "--min-iterations=4", "--warm-up=2", "--overlap-tests=2"]


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


class Runner:
    def __init__(self, options):
        self.command = shlex.split(options.launcher) + ["-n", str(options.ranks), options.program]
        self.program, self.ranks = options.program, options.ranks
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-commbench-")

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, flags):
        return subprocess.run(self.command + flags, capture_output=True, text=True, timeout=110, check=False)

    def measure(self, flags):
        """Runs to a good end; gives the points of the JSON file, which agree with the CSV file."""
        files = [f"--json={self.path('out.json')}", f"--csv={self.path('out.csv')}"]
        done = self.start(QUICK + flags + files)
        expect(done.returncode == 0, f"{flags}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr}")
        with open(self.path("out.json"), encoding="utf-8") as file:
            document = json.load(file)
        expect(document["machine"]["ranks"] == self.ranks, "the number of ranks")
        measured = [p for p in document["points"] if "skipped" not in p]
        for point in measured:
            check_point(point, document["settings"]["communicators"])
        with open(self.path("out.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        expect([(r["operation"], r["bytes"], r["algorithm"]) for r in rows]
               == [(p["operation"], str(p["bytes"]), p["algorithm"]) for p in measured], "CSV and JSON differ")
        return measured, [p for p in document["points"] if "skipped" in p]

    def computations(self):
        """Those that this build has."""
        found = []
        for kind in ("gemm", "embedding", "copy"):
            done = self.start(QUICK + ["-o", "barrier", "-a", "auto", "--beside", kind])
            if done.returncode:
                expect("is built without" in done.stderr, done.stderr)
                print(f"skipped: {done.stderr}")
            else:
                found.append(kind)
        expect("copy" in found, found)
        return found

    def plot(self, panels):
        target = self.path("out.svg")
        for metric in ("latency", "busbw"):
            done = subprocess.run([self.program, "plot", self.path("out.json"), "-o", target, "--metric", metric],
                                  capture_output=True, text=True, check=False)
            if metric == "busbw" and self.ranks == 1 and done.returncode:
                continue  # factors of one rank are 0 where all move to others
            expect(done.returncode == 0, done.stderr)
            root = xml.etree.ElementTree.parse(target).getroot()
            expect(root.tag.endswith("svg"), "the plot is no SVG")
            drawn = [e for e in root.iter() if e.get("class") == "panel"]
            expect(len(drawn) == panels or metric == "busbw", f"{len(drawn)} panels instead of {panels}")


def check_point(point, communicators):
    latency, where = point["latency_us"], f"{point['operation']} {point['mode']} {point['algorithm']}"
    expect(0 < latency["min"] <= latency["p50"] <= latency["p95"] <= latency["p99"] <= latency["max"], f"{where}: order")
    expect(point["iterations"] >= 4, f"{where}: {point['iterations']} iterations")
    expect(point["checked"] > 0 and point["wrong"] == 0, f"{where}: {point['checked']} checked, {point['wrong']} wrong")
    expect(math.isclose(point["algbw_gb_s"], communicators * point["bytes"] / latency["p50"] / 1e3, rel_tol=1e-6), f"{where}: algbw")
    overlap = point.get("overlap")
    expect((overlap is None) == (point["mode"] == "blocking"), f"{where}: overlap")
    if overlap:
        expect(0 <= overlap["percent"] <= 100 and 0 <= overlap["percent_with_tests"] <= 100, f"{where}: {overlap}")
        expect(overlap["total_us"] >= 0.9 * overlap["compute_us"] > 0, f"{where}: {overlap}")


def check_probes(point, probes):
    overlap, where = point["overlap"], f"{point['operation']} {point['mode']}"
    expect(overlap["probes"] == probes and 0 <= overlap["percent_with_probes"] <= 100, f"{where}: {overlap}")
    expect(0 < overlap["wait_with_probes_us"] <= overlap["total_with_probes_us"], f"{where}: {overlap}")


def operations(runner):
    """Every collective in every form."""
    measured, skipped = runner.measure(["-o", "all", "--modes", "all", "-a", "auto", "--low=64", "--high=1KB",
                                        "--factor=16", "--check=all", "--splits=uneven", "--overlap-probes=3"])
    for point in measured:
        if point["mode"] != "blocking":
            check_probes(point, 3)
    expect(not skipped, f"left out: {skipped[:1]}")
    found = {(p["operation"], p["mode"]) for p in measured}
    expect(found == {(o, m) for o in OPERATIONS for m in MODES}, f"{len(found)} of {len(OPERATIONS) * 3} were measured")
    runner.plot(len(found))
    root = ["--root", str(runner.ranks - 1)]
    runner.measure(["-o", "bcast,reduce,gather,scatter,gatherv,scatterv", "--high=4", "--low=4", "-a", "auto"] + root
                   if runner.ranks == 1 else
                   ["-o", "bcast,reduce,gather,scatter,gatherv,scatterv", "--low=64", "--high=64", "-a", "auto"] + root)


def types(runner):
    """Every datatype and reduction that the library has."""
    measured, _ = runner.measure(["-o", "allreduce,scan,bcast", "-t", "all", "--ops", "all", "--low=512", "--high=512",
                                  "-a", "auto", "--check=all"])
    ops = {p["reduce_op"] for p in measured if p["operation"] == "allreduce"}
    expect(len(ops) == 15, f"operations {sorted(ops)}")
    kinds = {p["datatype"] for p in measured if p["operation"] == "bcast"}
    expect(len(kinds) == 29, f"datatypes {sorted(kinds)}")


def algorithms(runner):
    """All algorithms beside the host MPI."""
    sizes = ["-o", "all", "--low=256", "--high=64KB", "--factor=256"]
    # The persistent gather, scatter and allgather of MPICH 4.0.2 give wrong results from the second start on.
    runner.measure(sizes + ["--modes=persistent", "-a", "all"])
    measured, _ = runner.measure(sizes + ["--modes=blocking,nonblocking", "-a", "all,host-mpi,native"])
    names = {p["algorithm"] for p in measured}
    expect({"mpi:ring", "mpi:binomial", "native", "host-mpi"} <= names, f"algorithms {sorted(names)}")
    direct = {(p["operation"], p["mode"]) for p in measured if p["algorithm"] == "host-mpi"}
    expect(len({o for o, _ in direct}) == len(OPERATIONS), f"host-mpi: {sorted(direct)}")


def buffers(runner):
    """Cold and fresh buffers, and what the checks may be."""
    for kind in ("cold", "fresh"):
        measured, _ = runner.measure(["-o", "bcast,allreduce,alltoall,exscan", "--modes", "all", "--low=64",
                                      "--high=64KB", "--factor=1024", "-a", "auto", "--buffers", kind,
                                      "--cold-bytes=4MB"])
        expect(len(measured) == 2 * 4 * 3, f"{kind}: {len(measured)} points")
    done = runner.start(QUICK + ["--check=off", "--high=4", "-a", "auto"])
    expect(done.returncode == 0 and "unchecked" in done.stdout, done.stdout + done.stderr)
    measured, _ = runner.measure(["-o", "all", "--low=64", "--high=64KB", "--factor=1024", "-a", "auto", "-m", "shared"])
    expect({p["memory"] for p in measured} == {"shared"}, "shared memory")
    done = runner.start(QUICK + ["--memory=all", "--high=4", "-a", "auto"])
    expect(done.returncode == 0, "memory kinds that are not there are left out: " + done.stderr)


def traffic(runner):
    """Messages in every form, by Tutti and by the host MPI."""
    flags = ["-o", "sendrecv,pairwise,incast,multicast,barrier", "--modes", "all", "--low=4", "--high=64KB",
             "--factor=16384", "--check=all", "--root", str(runner.ranks - 1)]
    measured, skipped = runner.measure(flags)
    found = collections.Counter((p["operation"], p["mode"], p["algorithm"]) for p in measured if p["bytes"])
    names = TRAFFIC if runner.ranks > 1 else []
    expect(not skipped and found == {(t, m, a): 2 for t in names for m in MODES for a in ("auto", "host-mpi")}, found)
    factors = {"sendrecv": 2, "pairwise": 1, "incast": runner.ranks - 1, "multicast": runner.ranks - 1, "barrier": 0}
    for point in measured:
        expect(math.isclose(point["busbw_gb_s"], factors[point["operation"]] * point["algbw_gb_s"]), point)
    if runner.ranks > 1:
        measured, skipped = runner.measure(["-o", "incast", "-a", "mpi,auto", "--high=4"])
        expect(len(measured) == 1 and "have no algorithms" in skipped[0]["skipped"], skipped)
        measured, skipped = runner.measure(["-o", "incast", "-a", "auto", "--high=4", "--in-place"])
        expect(not measured and "two buffers" in skipped[0]["skipped"], skipped)


def calls(runner):
    """In place, with bytes divided in all ways, and on several communicators at once."""
    counted = ["gatherv", "scatterv", "allgatherv", "alltoallv", "reduce_scatter"]
    parts = ",".join(str((rank * 2 + 1) % 3) for rank in range(runner.ranks))
    size = ["--low=1KB", "--high=1KB", "--check=all"]
    for splits in ("random:5", "zipf", "one", parts):
        measured, skipped = runner.measure(["-o", ",".join(counted), "--splits", splits, "-a", "auto,mpi"] + size)
        expect(len(measured) == 2 * len(counted) and not skipped, f"{splits}: {skipped}")
    measured, skipped = runner.measure(["-o", "all", "--modes", "all", "--in-place", "--splits=uneven", "-a", "auto"]
                                       + size)
    expect({(p["operation"], p["mode"]) for p in measured} == {(o, m) for o in OPERATIONS for m in MODES}, skipped)
    measured, _ = runner.measure(["-o", "all", "-a", "host-mpi", "--in-place", "--low=64", "--high=64", "--check=all"])
    expect(len(measured) == len(OPERATIONS), "host-mpi in place")
    _, skipped = runner.measure(["-o", "alltoallv,gatherv", "--in-place", "--splits=one", "--high=64", "--low=64"])
    expect({p["operation"] for p in skipped} == {"alltoallv"} and "--splits even" in skipped[0]["skipped"], skipped)
    measured, _ = runner.measure(["-o", "allreduce,alltoallv,gather", "--communicators=3", "-a", "auto,host-mpi"]
                                 + size)
    expect({p["mode"] for p in measured} == {"nonblocking"} and len(measured) == 6, f"{len(measured)} points")


def beside(runner):
    """A computation while a call is under way: its size comes from the time of the call, or is given."""
    for kind in runner.computations():
        flags = ["-o", "allreduce", "--beside", kind, "-a", "auto", "--high=256KB"]
        measured, _ = runner.measure(flags + ["-o", "allreduce,barrier", "--low=4", "--factor=65536"])
        expect({p["mode"] for p in measured} == {"nonblocking"} and len(measured) == 3, f"{kind}: {len(measured)}")
        for point in measured:
            check_beside(point)
        measured, _ = runner.measure(flags + ["--beside-size=77", "--low=256KB", "--overlap-tests=0", "-a", "host-mpi"])
        expect(len(measured) == 1 and measured[0]["beside"]["size"] == 77, f"{kind}: given size")
        check_beside(measured[0])
        expect(measured[0]["beside"]["call_beside_us"] == measured[0]["beside"]["both_us"],
               "without a test the wait finds it done")


def check_beside(point):
    found = point["beside"]
    for figure in ("call_us", "computation_us", "both_us", "call_beside_us", "computation_beside_us"):
        expect(found[figure] > 0, f"{figure}: {found}")
    expect(found["both_us"] >= found["call_beside_us"] and 0 <= found["percent"] <= 100, found)
    expect(math.isclose(found["call_slow_down"], found["call_beside_us"] / found["call_us"]), found)
    slow_down = found["computation_beside_us"] / found["computation_us"]
    expect(math.isclose(found["computation_slow_down"], slow_down), found)


def errors(runner):
    """Bad input ends with one message that names argument and remedy."""
    for flags, words in ((["-o", "allreduc"], ["--operations", "allreduce"]),
                         (["-a", "ringg"], ["--algorithms", "mpi:ring"]),
                         (["--root", "9"], ["--root", "2"]),
                         (["--types", "float32", "--ops", "band"], ["--list"]),
                         (["--json", "/no/such/folder/x.json"], ["/no/such/folder/x.json"]),
                         (["--splits", "1,2,3", "-o", "gatherv"], ["--splits 1,2,3", "2 ranks"]),
                         (["--beside", "copy", "--modes", "blocking"], ["--beside copy", "--modes"]),
                         (["--beside", "gemm", "--beside-size", "100000"], ["--beside-size 100000", "16384"]),
                         (["--communicators", "2", "--modes", "blocking"], ["--communicators 2", "--modes"]),
                         (["--high", "x"], ["--high"])):
        done = runner.start(flags)
        expect(done.returncode != 0, f"{flags} was accepted")
        expect(all(w in done.stderr for w in words), f"{flags}: {done.stderr}")
    for flags, words in ((["plot", "/no/such.json", "-o", runner.path("x.svg")], ["/no/such.json"]),
                         (["plot", __file__, "-o", runner.path("x.svg")], [__file__])):
        done = subprocess.run([runner.program] + flags, capture_output=True, text=True, check=False)
        expect(done.returncode == 1 and all(w in done.stderr for w in words), f"{flags}: {done.stderr}")
    done = subprocess.run([runner.program, "plot", "x.json", "-o", "x.svg"], capture_output=True, text=True, check=False,
                          env={**os.environ, "PATH": runner.folder.name})
    expect(done.returncode == 1 and "needs python3" in done.stderr and "share/tutti/chart.py" in done.stderr, done.stderr)
    done = runner.start(["--list"])
    expect(done.returncode == 0 and all(o in done.stdout for o in OPERATIONS), "--list")


def progress(runner):
    """Under the launcher, whose stderr is no terminal, a line comes every five seconds; columns stay columns."""
    done = runner.start(["-o", "reduce_scatter_block", "-a", "auto,mpi:recursive_halving", "--low", "64", "--high", "1K",
                         "--factor", "4", "--budget", "0.7", "--max-iterations", "10000000"])
    expect(done.returncode == 0, done.stderr)
    lines = [line for line in done.stderr.splitlines() if line.startswith("commbench ")]
    expect(lines and all(" s left" in line or " 100% " in line for line in lines), f"lines of progress: {done.stderr}")
    head, *rows = done.stdout.splitlines()
    for unit in ("total bytes", "p50 us", "algbw GB/s", "busbw GB/s", "overlap %"):
        expect(unit in head, f"{unit} is not in {head}")
    end = head.index("calls") + len("calls")
    for row in rows:
        expect(row[end - 1].isdigit() and row[end] == " ", f"calls stand under their head:\n{head}\n{row}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["operations", "types", "algorithms", "buffers", "traffic", "calls", "beside", "errors", "progress"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--launcher", required=True, help="launcher and its flags, one string")
    parser.add_argument("--ranks", type=int, required=True)
    options = parser.parse_args()
    globals()[options.what](Runner(options))


main()
