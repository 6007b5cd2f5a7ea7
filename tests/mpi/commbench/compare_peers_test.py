# SPDX-License-Identifier: BSD-3-Clause
"""compare_peers.py: its statistics on figures made up, and a short run of it all on this machine."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77


def expect(condition, what):
    if not condition:
        print(f"FAILED: {what}")
        sys.exit(1)


def statistics(compare):
    # Coverage of order statistics (David, Nagaraja, Order Statistics): 9 values, second to eighth, 96.1 %.
    expect(compare.median_interval([5, 3, 9, 1, 7, 2, 8, 4, 6]) == (2, 8), "interval of 9 values")
    expect(compare.median_interval([2, 1]) == (1, 2), "interval of 2 values")
    expect(compare.median_interval(list(range(1, 7))) == (1, 6), "interval of 6 values")
    expect(compare.median_interval(list(range(1, 16))) == (4, 12), "interval of 15 values")
    cell = ("allreduce", 4)
    rounds = [{"tutti": {cell: 2.0 + k}, "a": {cell: 3.0 + k}, "b": {cell: 10.0}} for k in range(3)]
    rows = compare.summarise(rounds, ["tutti", "a", "b"])
    expect(len(rows) == 1 and rows[0]["best"] == "a", f"best peer: {rows}")
    expect(rows[0]["ratio"] == 4 / 3 and rows[0]["interval"] == (5 / 4, 3 / 2), f"ratio: {rows}")
    expect(rows[0]["medians"] == {"tutti": 3, "a": 4, "b": 10}, f"medians: {rows}")
    with_bound = [{**measured, "bare": {cell: 1.0}} for measured in rounds]
    rows = compare.summarise(with_bound, ["tutti", "bare", "a", "b"])
    expect(rows[0]["best"] == "a" and rows[0]["medians"]["bare"] == 1, f"bare loops are no peer: {rows}")


def mpi_without_headers(folder):
    """A prefix as of a package whose headers are in another one: the launcher is there, and mpicc cannot compile."""
    (folder / "bin").mkdir(parents=True)
    for name, text in (("mpiexec", "exit 0"), ("mpicc", "echo 'x.c:1:10: fatal error: mpi.h: No such file' >&2; exit 1")):
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    return folder


def short_run(options):
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder) / "out.json"
        headless = mpi_without_headers(pathlib.Path(folder) / "an mpi")
        # barrier; three with sizes from 4 bytes; five with a block a rank. Then: from 4 bytes, and a block a rank.
        # Bare loops by lines, and at 4 KiB by each way.
        for cells, more in ((1 + 3 * 3 + 5 * 2, ["--bare"]),
                            (9, ["--bare", "--low", "4096", "--high", "4096"]),
                            (3 + 2, ["--ops", "allreduce,alltoall", "--cold", "--cold-bytes", "4194304", "--start", "clock",
                                     "--mpi", f"headless={headless}"])):
            script = options.source / "miniapps" / "commbench" / "compare_peers.py"
            run = subprocess.run([sys.executable, script, "--build", options.build, "--rounds", "2", "--high", "64",
                                  "--budget", "0.0005", "--json", target, *more],
                                 capture_output=True, text=True, check=False)
            if "no MPI to compare with" in run.stderr:
                print(run.stderr)
                return SKIPPED
            expect(run.returncode == 0, run.stdout + run.stderr)
            document = json.loads(target.read_text())
            expect(len(document["cells"]) == cells, f"{len(document['cells'])} cells")
            expect(len(document["rounds"]) == 2 and "tutti" in document["rounds"][0], "rounds")
            expect("headless" not in document["rounds"][0], "an MPI without headers has no times")
            expect("geometric mean" in run.stdout, run.stdout)
            has_bare = "--bare" in more
            expect(("bare" in document["rounds"][0]) == has_bare, "bare loops are run where they are wanted")
            expect(("bare loops: Tutti takes" in run.stdout) == has_bare, run.stdout)
            start = "clock" if "--start" in more else "barrier"
            expect(document["start"] == start and f"begun by the {start}" in run.stdout, run.stdout)
            told = [line for line in run.stderr.splitlines() if line.startswith("headless is passed over: ")]
            expect(len(told) == (1 if "--mpi" in more else 0), run.stderr)
            expect(all("mpi.h: No such file" in line for line in told), run.stderr)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.source / "miniapps" / "commbench"))
    import compare_peers
    statistics(compare_peers)
    return short_run(options)


sys.exit(main())
