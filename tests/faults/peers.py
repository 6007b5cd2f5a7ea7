#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of one node die; the others must say which one within a second, and go on without it.

peers.py --program PEERS --launcher LINE --ranks N --how kill|exit --form FORM [--set NAME=VALUE]
Ends with 77 where the launcher kills the survivors, as all but Hydra and Open MPI 5 do.
"""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from deaths import Job, survives_deaths  # noqa: E402

SKIPPED = 77
LIMIT = 25


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--how", required=True)
    parser.add_argument("--form", required=True)
    parser.add_argument("--set", action="append", default=[])
    options = parser.parse_args()
    if not survives_deaths(options.launcher):
        print("SKIPPED: the launcher kills the ranks that live on")
        return SKIPPED
    victim = options.ranks - 1 if options.form == "shrink" else options.ranks // 2
    dead = 2 if options.form == "shrink" else 1
    folder = tempfile.TemporaryDirectory()
    job = Job(options.launcher, options.ranks,
              [options.program, options.how, options.form, str(victim), f"{folder.name}/will", "1"],
              dict(entry.split("=", 1) for entry in options.set))
    problems = [] if job.wait(LIMIT) else ["did not end in time"]
    problems += job.problems()
    output = job.text()
    print(output)
    if output.count("goes on: ") != options.ranks - dead:
        problems.append("not all survivors went on")
    for problem in problems:
        print(f"peers.py: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
