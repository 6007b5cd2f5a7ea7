#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""By hand: blocking collectives of Tutti beside those of MPIs, on hosts of namespaces, in one run.

compare.py [--hosts 2] [--per-host 1] [--rate 10gbit] [options of miniapps/commbench/compare_peers.py]

The programs, the rounds and the table are those of compare_peers.py. Each host has one core of this machine, as far as
there are enough. Needs root. Hydra's launchers (MPICH) and Open MPI's reach the hosts by the same script.
"""
import argparse
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(HERE.parent.parent / "miniapps" / "commbench"))
import compare_peers  # noqa: E402
from hosts import Hosts, missing  # noqa: E402


def over_hosts(hosts, per_host):
    """In place of compare_peers.launch_command."""
    def command(launcher, ranks):
        if not compare_peers.is_open_mpi(launcher):
            return [*hosts.launcher([launcher], per_host), "-n", str(ranks)]
        places = ",".join(f"{address}:{per_host}" for address in hosts.addresses())
        is_old = " 4." in subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
        option, agent = ("--mca", "plm_rsh_agent") if is_old else ("--prtemca", "plm_ssh_agent")
        network = [option, "oob_tcp_if_include", hosts.subnet(), "--mca", "btl_tcp_if_include", hosts.subnet()]
        return [launcher, "--allow-run-as-root", "--host", places, option, agent, hosts.script(), *network, "--bind-to",
                "none", "-n", str(ranks)]
    return command


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--per-host", type=int, default=1, help="ranks of a host")
    parser.add_argument("--rate", help="of each network card, as 10gbit")
    options, rest = parser.parse_known_args()
    why = missing()
    if why:
        sys.exit(f"compare.py: {why}")
    os.environ.setdefault("UCX_LOG_LEVEL", "fatal")
    with Hosts(options.hosts, options.rate, pins=options.hosts <= os.cpu_count()) as hosts:
        compare_peers.launch_command = over_hosts(hosts, options.per_host)
        run_once = compare_peers.run_once

        def run_alone(*arguments):
            try:
                return run_once(*arguments)
            finally:
                hosts.end_all()  # a program that hangs in its MPI_Finalize would take a core from the next one

        compare_peers.run_once = run_alone
        sys.argv = ["compare_peers.py", "--ranks", str(options.hosts * options.per_host), *rest]
        return compare_peers.main()


if __name__ == "__main__":
    sys.exit(main())
