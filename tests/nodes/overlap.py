#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""By hand: how much of a nonblocking call hides behind computing, on hosts of namespaces with a slow network, which moves
data while the ranks' cores compute.

overlap.py [--build build/release] [--mpiexec mpiexec.mpich] [--libraries DIR] [--rate 200mbit] [--set VARIABLE=x...]
  [options of tutti-commbench]

Two hosts, each with one core and one rank. --libraries: where the ranks find their MPI first, as build/mpis/mpich/lib
after `.ci/run abi`, where MPICH 5 has the name of the MPICH that Tutti was built with. Needs root.
"""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from hosts import Hosts, missing  # noqa: E402

DEFAULTS = ["-o", "allreduce", "-t", "float32", "--low", "1MiB", "--high", "1MiB", "--modes", "nonblocking,persistent", "-a",
            "auto,host-mpi", "--overlap-probes", "200", "--budget", "1"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--mpiexec", default="mpiexec.mpich")
    parser.add_argument("--libraries")
    parser.add_argument("--rate", default="200mbit", help="of each network card")
    parser.add_argument("--set", action="append", default=[], metavar="VARIABLE=x")
    options, rest = parser.parse_known_args()
    why = missing()
    if why:
        sys.exit(f"overlap.py: {why}")
    variables = list(options.set)
    if options.libraries:
        variables.append(f"LD_LIBRARY_PATH={pathlib.Path(options.libraries).resolve()}")
    os.environ.setdefault("UCX_LOG_LEVEL", "fatal")
    program = pathlib.Path(options.build).resolve() / "bin" / "tutti-commbench"
    # Data that the card takes at once would be moved in no time, while the next computing pays for them.
    with Hosts(2, options.rate, pins=True, burst="64kb") as hosts:
        command = [*hosts.launcher([options.mpiexec], 1), "-n", "2", "env", *variables, str(program), *DEFAULTS, *rest]
        try:
            return subprocess.run(command, check=False).returncode
        finally:
            hosts.end_all()


if __name__ == "__main__":
    sys.exit(main())
