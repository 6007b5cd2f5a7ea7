#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Many seeds of tutti_fuzz_mpi on several numbers of ranks and on several kinds of machine; a failure is made small.

seeds.py --launcher LINE --program tutti_fuzz_mpi --library libtutti-mpi.so [--first 1] [--seeds 1000] [--ranks 2,3,4]
A seed that fails is played again by the MPI alone, with nonblocking calls in the place of persistent ones. Where that
fails too, the seed is counted as the MPI's own. Ends with 1 if any other seed failed, or no call went through Tutti.
"""
import argparse
import os
import re
import shlex
import subprocess
import sys

WAYS = {"one node": {}, "one node without single copies": {"TUTTI_SINGLE_COPY": "0"},
        "two nodes": {"MPIR_CVAR_ODD_EVEN_CLIQUES": "1"},
        "two nodes without single copies": {"MPIR_CVAR_ODD_EVEN_CLIQUES": "1", "TUTTI_SINGLE_COPY": "0"},
        "messages alone": {"TUTTI_SHM": "0"}}


class Job:
    def __init__(self, options, ranks, way):
        self.options, self.ranks, self.environment = options, ranks, WAYS[way]

    def run(self, *arguments, by_mpi=False):
        """The seed that failed (None if none did) and the output."""
        settings = {"TUTTI_CALIBRATION": "off", "TUTTI_TUNING": "off", **self.environment}
        if not by_mpi:
            settings |= {"LD_PRELOAD": self.options.library, "TUTTI_MPI_REPORT": "1"}
        line = [*shlex.split(self.options.launcher), "-n", str(self.ranks), "env",
                *(f"{name}={value}" for name, value in settings.items()),
                self.options.program, "--tell", "--hang", "10", "--largest", str(self.options.largest), "--threads",
                str(self.options.threads), *map(str, arguments)]
        done = subprocess.run(line, capture_output=True, text=True, errors="replace", env=os.environ)
        output = done.stdout + done.stderr
        told = re.findall(r"^seed (\d+)$", output, re.MULTILINE)
        failed = done.returncode != 0 or "HANG" in output or not told
        return (int(told[-1]) if told else self.options.first) if failed else None, output

    def shrink(self, seed, output):
        """The fewest calls of one phase that fail, as options of the program."""
        found = re.search(rf"seed {seed}, phase (\d+)", output)
        if not found or self.options.threads > 1:
            return ["--seed", seed]
        best = ["--seed", seed, "--phase", found[1]]
        if self.run(*best)[0] is None:
            return ["--seed", seed]
        if self.run(*best, "--no-messages")[0] is not None:
            best.append("--no-messages")
        listed = re.search(rf"phase {found[1]}: \d+ rounds.*\n((?:  +\d+: .*\n)*)", self.run(*best, "--print")[1])
        calls = list(range(len(listed[1].splitlines()) if listed else 0))
        for call in list(calls):
            fewer = [other for other in calls if other != call]
            if fewer and self.run(*best, "--calls", ",".join(map(str, fewer)))[0] is not None:
                calls = fewer
        return [*best, "--calls", ",".join(map(str, calls))]


def play(options, ranks, way):
    """Plays all seeds; the numbers of failures, and of those that are the MPI's own."""
    job, seed, last, own, of_mpi = Job(options, ranks, way), options.first, options.first + options.seeds, 0, 0
    calls = 0
    while seed < last:
        failed, output = job.run("--first", seed, "--seeds", last - seed)
        calls += sum(map(int, re.findall(r"(\d+) calls of rank 0 went through Tutti", output)))
        if failed is None:
            break
        if job.run("--seed", failed, by_mpi=True)[0] is not None:
            of_mpi += 1
        else:
            own += 1
            small = " ".join(map(str, job.shrink(failed, output)))
            lines = [line for line in output.splitlines() if re.search("FAILED|HANG|differs|tutti-mpi:", line)]
            print(f"seeds.py: {ranks} ranks, {way}: {small}\n  " + "\n  ".join(lines[:4]), file=sys.stderr, flush=True)
        seed = failed + 1
    print(f"{ranks} ranks, {way}: {options.seeds} seeds, {own} failed, {of_mpi} by the MPI alone too; "
          f"{calls} calls of rank 0 went through Tutti", flush=True)
    return own + (calls == 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--library", required=True)
    parser.add_argument("--first", type=int, default=1, help="first seed")
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--ranks", type=lambda text: [int(part) for part in text.split(",")], default=[2, 3, 4])
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS), help="of: " + ", ".join(WAYS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--largest", type=int, default=2000, help="bytes of a block, about")
    options = parser.parse_args()
    failed = sum(play(options, ranks, way) for way in options.ways for ranks in options.ranks)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
