#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the codes of the MPI Bugs Initiative, each without and with libtutti-mpi in check mode, and prints a table.

FOLDER has the codes that MBI's generators have written (teshsuite/smpi/MBI of SimGrid, run in an empty folder). Each
code's header says how many ranks it needs and which error it has. A code with an error counts as found if a message
names the ranks and a place in the code, a correct one as a false alarm if there is a message or it does not end."""
import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from session import end_session  # noqa: E402

TEST = re.compile(r"^ *\$ mpirun -np (\d+) (.*)\$\{EXE\}(.*)\n *\| (OK|ERROR: (\w+))", re.MULTILINE)
MESSAGE = re.compile(r"^tutti(-mpi)?: .*", re.MULTILINE)
SKIPPED = 77


@dataclasses.dataclass
class Code:
    path: pathlib.Path
    ranks: int
    arguments: list
    label: str  # "OK", or the error
    needs_synchronous: bool


@dataclasses.dataclass
class Verdict:
    code: Code
    alone: str
    found: bool
    alarm: bool
    text: str


def codes_of(folder):
    for path in sorted(folder.glob("*.c")):
        for ranks, buffers, arguments, outcome, label in TEST.findall(path.read_text()):
            yield Code(path, int(ranks), arguments.split(), label or outcome, "zero_buffer" in buffers)


def run(command, environment, limit):
    """The end of a program in words, and its output."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                               env={**os.environ, **environment}, start_new_session=True)
    try:
        text, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        end_session(process.pid)
        text, _ = process.communicate()
        return "hangs", text
    return ("ends" if process.returncode == 0 else "error"), text


def judge(code, options, folder):
    program = folder / f"{code.path.stem}.{os.getpid()}.{id(code)}"
    built = subprocess.run([options.mpicc, "-g", "-w", "-include", "string.h", str(code.path), "-o", str(program), "-lm"],
                           capture_output=True, text=True)
    if built.returncode != 0:
        return None
    command = [options.launcher, "-n", str(code.ranks)]
    alone, _ = run([*command, str(program), *code.arguments], {}, options.limit)
    environment = {"TUTTI_CHECK": "2" if code.needs_synchronous else "1", "TUTTI_WATCHDOG": str(options.watchdog),
                   "TUTTI_WATCHDOG_ABORT": "1"}
    preload = ["env", f"LD_PRELOAD={options.library}"]
    end, text = run([*command, *preload, str(program), *code.arguments], environment, options.limit + 2)
    program.unlink()
    said = "\n".join(match[0] for match in MESSAGE.finditer(text))
    place = re.search(re.escape(code.path.name) + r":\d+", said) is not None
    if code.label == "OK":
        return Verdict(code, alone, False, bool(said) or end != "ends", f"{end}: {text[-600:]}")
    return Verdict(code, alone, place and "rank" in said, False, f"{end}: {text[-600:]}")


def print_table(verdicts):
    by_label = collections.defaultdict(list)
    for verdict in verdicts:
        by_label[verdict.code.label].append(verdict)
    print("| error of the code | runs | named | missed | the MPI alone: error | hangs | ends |\n|---|---|---|---|---|---|---|")
    for label, some in sorted(by_label.items()):
        alone = collections.Counter(verdict.alone for verdict in some)
        ends = f"{alone['error']} | {alone['hangs']} | {alone['ends']} |"
        found = sum(verdict.found for verdict in some)
        if label == "OK":
            print(f"| none | {len(some)} | false alarms: {sum(verdict.alarm for verdict in some)} | | {ends}")
        else:
            print(f"| {label} | {len(some)} | {found} | {len(some) - found} | {ends}")


def sample(codes, number):
    """The same codes each time: at most so many of each label."""
    by_label = collections.defaultdict(list)
    for code in codes:
        by_label[code.label].append(code)
    chooser = random.Random(1)
    return [code for some in by_label.values() for code in chooser.sample(some, min(number, len(some)))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--library", type=pathlib.Path, required=True, help="libtutti-mpi.so")
    parser.add_argument("--mpicc", default="mpicc.mpich")
    parser.add_argument("--launcher", default="mpiexec.mpich")
    parser.add_argument("--limit", type=float, default=4, help="seconds of a run")
    parser.add_argument("--watchdog", type=float, default=1, help="seconds")
    parser.add_argument("--sample", type=int, help="at most so many codes of each error")
    parser.add_argument("--match", default="", help="regular expression on names of files")
    parser.add_argument("--labels", nargs="*", help="errors to run, and OK")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print the output of missed codes and false alarms")
    options = parser.parse_args()
    options.library = options.library.resolve()
    codes = [code for code in codes_of(options.folder) if re.search(options.match, code.path.name)]
    if options.labels:
        codes = [code for code in codes if code.label in options.labels]
    if not codes:
        print(f"skipped: no codes of MBI in {shlex.quote(str(options.folder))}")
        return SKIPPED
    if options.sample:
        codes = sample(codes, options.sample)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = list(pool.map(lambda code: judge(code, options, pathlib.Path(folder)), codes))
    verdicts = [verdict for verdict in made if verdict is not None]
    for verdict in verdicts:
        if verdict.alarm or (verdict.code.label != "OK" and not verdict.found):
            print("false alarm:" if verdict.alarm else "missed:", verdict.code.label, verdict.code.path.name)
            if options.show:
                print("   ", verdict.text.replace("\n", "\n    "))
    print_table(verdicts)
    if len(verdicts) != len(made):
        print(f"{len(made) - len(verdicts)} codes do not compile.")
    return int(any(verdict.alarm for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
