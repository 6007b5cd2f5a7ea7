#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs programs of others, each without and with libtutti-mpi.so preloaded, and prints a table.

    tests/interop/run.py                              a short set of what is here: at most four minutes on two cores
    tests/interop/run.py --get                        brings mpi4py and MPICH's tests first (pip, apt-get source)
    tests/interop/run.py --set all --markdown FILE    everything: hours on two cores
    tests/interop/run.py --suites mpich --match coll --ranks 2    some of it, on at most two ranks
    tests/interop/run.py --library build/openmpi/lib/libtutti-mpi.so    what is here for Open MPI
    tests/interop/run.py --suites abi --library build/abi/lib/libtutti-mpi-abi.so --mpis DIR...    on several MPIs
    tests/interop/run.py --show --markdown FILE       a table of all earlier results, without running anything

A program passes if it prints its own end marker and no error; one that fails without the library is left out, and the
remarks under the table say so. Ends with 1 if a program fails with the library only, with 77 if nothing is here.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import signal
import sys

sys.dont_write_bytecode = True
import applications  # noqa: E402
import benchmarks  # noqa: E402
import every_mpi  # noqa: E402
import mpich  # noqa: E402
import python_tests  # noqa: E402
import scalapack  # noqa: E402
import table  # noqa: E402
from get import get  # noqa: E402
from job import SKIPPED, End, Runner, is_for_open_mpi, last_words, launchers, limit_with  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUITES = {"scalapack": scalapack.find, "mpi4py": python_tests.find, "mpich": mpich.find, "osu": benchmarks.find_osu,
          "imb": benchmarks.find_imb, "netpipe": benchmarks.find_netpipe, "nwchem": applications.find_nwchem,
          "bagel": applications.find_bagel, "hpcc": applications.find_hpcc, "mumps": applications.find_mumps,
          "espresso": applications.find_espresso, "abi": every_mpi.find}


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    folder = ROOT / "build" / "interop"
    parser.add_argument("--set", choices=["short", "all"], default="short", help="how much of each suite")
    parser.add_argument("--suites", nargs="+", choices=list(SUITES), default=list(SUITES), metavar="NAME",
                        help="some of: " + ", ".join(SUITES))
    parser.add_argument("--match", metavar="REGEX", default="", help="only programs whose 'suite | name | ranks' match")
    parser.add_argument("--ranks", type=int, nargs="+", metavar="N",
                        help="numbers of ranks; MPICH's tests run on as many as they want, but at most so many")
    parser.add_argument("--library", type=pathlib.Path, default=ROOT / "build" / "release" / "lib" / "libtutti-mpi.so")
    parser.add_argument("--baseline", action="store_true", help="only without the library")
    parser.add_argument("--launcher", help="the launcher and its options, in one word")
    parser.add_argument("--folder", type=pathlib.Path, default=folder, help="of what is brought, built and measured")
    parser.add_argument("--get", action="store_true", help="bring first what registries have")
    parser.add_argument("--mpich-tests", type=pathlib.Path, metavar="DIR", help="test/mpi of MPICH's sources")
    parser.add_argument("--osu", type=pathlib.Path, metavar="DIR", help="OSU's micro-benchmarks, built")
    parser.add_argument("--imb", type=pathlib.Path, metavar="DIR", help="folder of IMB-MPI1")
    parser.add_argument("--mpis", type=pathlib.Path, nargs="+", metavar="DIR",
                        help="prefixes of MPIs with the ABI of MPI 5 (bin/mpiexec, lib/libmpi_abi.so.1)")
    parser.add_argument("--mpicc", default="mpicc_abi", metavar="FILE", help="compiler of MPICH's tests for these")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help="write the table there too")
    parser.add_argument("--words", type=int, default=12, metavar="N", help="last lines to show of a program that fails")
    parser.add_argument("--list", action="store_true", help="only name the programs")
    parser.add_argument("--show", action="store_true", help="only show earlier results")
    options = parser.parse_args()
    for name in ("folder", "library", "mpich_tests", "osu", "imb"):
        value = getattr(options, name)
        setattr(options, name, value and value.resolve())
    options.mpis = [prefix.absolute() for prefix in options.mpis or []]
    options.folder.mkdir(parents=True, exist_ok=True)
    options.open_mpi = is_for_open_mpi(options.library)
    options.abi = abi_folder(options.folder)
    return options


def abi_folder(folder):
    """Where MPICH's library has the name that programs of all MPIs of its ABI load; None if it is not installed."""
    library = next(pathlib.Path("/usr/lib").glob("*/libmpich.so.12"), None)
    if library is None:
        return None
    link = folder / "abi" / "libmpi.so.12"
    link.parent.mkdir(exist_ok=True)
    if not link.is_symlink():
        link.symlink_to(library)
    return link.parent


def find_jobs(options):
    for name in options.suites:
        found = SUITES[name](options)
        if isinstance(found, str):
            print(f"SKIPPED: {name}: {found}", flush=True)
            continue
        if options.open_mpi:
            found = [dataclasses.replace(job, suite=f"{job.suite}, Open MPI") for job in found]
        yield from (job for job in found if re.search(options.match, job.key))


def measure(jobs, options, results):
    runner = Runner(launcher(options), options.library, options.folder)
    for done, job in enumerate(jobs, 1):
        plain = End("", 0.0) if job.needs_library else runner.run(job, job.limit, False)
        loaded = None
        if not plain.why and not options.baseline:
            loaded = runner.run(job, limit_with(plain.seconds), True)
            if loaded.why == SKIPPED:
                plain, loaded = loaded, None
        entry = results.add(job, plain, loaded)
        print(f"[{done}/{len(jobs)}] {line(entry)}", flush=True)
        if table.failed(entry) or (options.baseline and table.left_out(entry)):
            print(last_words((loaded or plain).text, options.words), flush=True)


def line(entry):
    word = "left out" if table.left_out(entry) else "FAILED" if table.failed(entry) else "passed"
    text = f"{word:8} {table.told(entry)}: {entry['seconds']:.1f} s"
    if "with" in entry:
        text += f", with {entry['seconds_with']:.1f} s, {table.share(entry['through'], entry['calls'])}"
    why = entry["without"] or entry.get("with")
    return text + (f": {why}" if why else "")


def launcher(options):
    if options.launcher:
        return options.launcher.split()
    found = next(launchers(options.open_mpi), None)
    if found is None:
        skip(f"no mpiexec.{'openmpi' if options.open_mpi else 'mpich'}")
    return found


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def finish(entries, options):
    print(f"\n{table.text(entries)}\n")
    print("\n".join(table.remarks(entries)))
    if options.markdown:
        options.markdown.write_text(table.markdown(entries) + "\n", encoding="utf-8")
    bad = sum(table.failed(entry) for entry in entries)
    good = sum(table.passed(entry) or (options.baseline and not table.left_out(entry)) for entry in entries)
    dead = table.dead_suites(entries)
    if dead:
        print(f"nothing passes without the library: {', '.join(dead)}: a mistake of the set-up")
    print(f"{good} passed, {bad} failed, {sum(table.left_out(entry) for entry in entries)} left out")
    return 1 if bad or dead else 0


def main():
    options = parse()
    results = table.Results(options.folder / "results.json")
    if options.show:
        return finish(list(results.entries.values()), options)
    if not options.baseline and not options.list and not options.library.exists():
        skip(f"{options.library} is not built")
    if options.get:
        get(options.folder, options.suites)
    jobs = list(find_jobs(options))
    if options.list:
        print("\n".join(job.key for job in jobs))
        return 0
    if not jobs:
        skip("no program of others is here")
    measure(jobs, options, results)
    return finish(results.of(job.key for job in jobs), options)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no rank outlives its runner
    sys.exit(main())
