# SPDX-License-Identifier: BSD-3-Clause
"""tutti tune as a user runs it: within a budget, killed and continued, with damaged files and wrong words; and programs
that use what it made."""
import argparse
import json
import math
import os
import re
import signal
import shlex
import subprocess
import sys
import tempfile
import time

SMALL = ["--operations", "allreduce,barrier", "--calls", "blocking", "--types", "float32", "--largest", "64K",
         "--rounds", "3"]


class Failed(Exception):
    pass


def expect(what, condition):
    if not condition:
        raise Failed(what)


class Runner:
    def __init__(self, args, folder):
        self.args = args
        self.table = os.path.join(folder, "deep", "table.json")
        self.environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"))
        self.environment.pop("TUTTI_TUNING", None)

    def command(self, flags, ranks=2):
        """Whatever else runs on the machine of the tests must not leave cells out."""
        return shlex.split(self.args.launcher) + ["-n", str(ranks), self.args.program, "tune", "--accept-disturbed"] + flags

    def start(self, flags, ranks=2, **environment):
        return subprocess.run(self.command(flags, ranks), capture_output=True, text=True, timeout=60,
                              env=dict(self.environment, **environment))

    def tune(self, flags, ranks=2, **environment):
        done = self.start(flags, ranks, **environment)
        expect(f"{' '.join(flags)}: exit code {done.returncode}\n{done.stdout}{done.stderr}", done.returncode == 0)
        return [int(n) for n in re.match(r"(\d+) cells measured, (\d+) taken over, (\d+) left", done.stdout).groups()]

    def refused(self, what, flags, *words, ranks=2):
        done = self.start(flags, ranks)
        lines = [line for line in done.stderr.splitlines() if line.startswith("tutti")]
        expect(f"{what}: exit code {done.returncode}\n{done.stderr}", done.returncode == 1)
        expect(f"{what}: {len(lines)} lines of error\n{done.stderr}", len(lines) == 1)
        for word in words:
            expect(f"{what}: '{word}' is not in: {lines[0]}", word in lines[0])

    def cells(self):
        with open(self.table, encoding="utf-8") as file:
            return json.load(file)["tables"][0]["cells"]


def stops_at_its_budget(runner):
    everything = ["--output", runner.table, "--budget", "0.4"]
    measured, taken, left = runner.tune(everything)
    expect(f"a budget ends a run: {measured} measured, {left} left", measured > 0 and left > 100 and taken == 0)
    expect("what was measured is in the file", len(runner.cells()) == measured)
    first = runner.cells()[0]
    expect("the most important call comes first", first["operation"] == "allreduce" and first["bytes"] == 4)
    measured_next, taken, _ = runner.tune(everything)
    expect(f"a second run goes on: {taken} taken over of {measured}", taken == measured)
    expect("and adds to the file", len(runner.cells()) == measured + measured_next)


def begins_no_cell_that_does_not_fit(runner):
    large = ["--output", runner.table + ".large", "--operations", "allreduce,bcast", "--calls", "blocking", "--types", "float32", "--sizes", "64M"]
    done = runner.start(large + ["--budget", "0.05"])
    expect(f"no cell of 64 MiB takes 50 ms\n{done.stdout}{done.stderr}", done.stdout.startswith("0 cells measured"))
    expect(f"the time is told before\n{done.stderr}", re.search(r"cells to measure, about \d+ (s|min)", done.stderr) and
           "--budget ends after" in done.stderr)


def leaves_disturbed_cells_out(runner):
    """While every core has other work, a figure is that of a calm round, or there is none and a word about it."""
    cores = sorted(os.sched_getaffinity(0))
    spin = "import os, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\nwhile True: pass"
    others = [subprocess.Popen([sys.executable, "-c", spin, str(core)]) for core in cores * 2]
    path = runner.table + ".busy"
    try:
        command = [word for word in runner.command(["--operations", "allreduce", "--calls", "blocking", "--types",
                                                    "float32", "--sizes", "4", "--output", path])
                   if word != "--accept-disturbed"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=runner.environment)
    finally:
        for other in others:
            other.kill()
            other.wait()
    expect(f"busy: {done.returncode}\n{done.stderr}", done.returncode == 0)
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["tables"][0]["cells"]
    if not cells:
        expect(f"left out, and said\n{done.stdout}", "1 cells were left out" in done.stdout)
        return
    best = min(cells[0]["seconds"].values())
    expect(f"4 bytes take no {best} s: {cells}", best < 1e-3)


def survives_being_killed(runner):
    os.remove(runner.table)
    process = subprocess.Popen(runner.command(["--output", runner.table]), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env=runner.environment, start_new_session=True)
    deadline = time.monotonic() + 40
    while not (os.path.exists(runner.table) and len(runner.cells()) >= 3):
        expect("cells come before long", time.monotonic() < deadline)
        time.sleep(0.02)
    kill_all(process)
    for name in os.listdir(os.path.dirname(runner.table)):
        if name.endswith(".tmp"):
            os.remove(os.path.join(os.path.dirname(runner.table), name))
    expect("the file is whole", len(runner.cells()) >= 3)
    known = {(c["operation"], c["call"], c["arithmetic"], c["bytes"]) for c in runner.cells()}
    shared = sum(1 for key in known if key[0] in ("allreduce", "barrier") and key[1] == "blocking" and
                 key[2] in ("plain", "moved") and key[3] <= 65536)
    measured, taken, left = runner.tune(SMALL + ["--output", runner.table])
    expect(f"what the killed run had is taken over: {taken} of {shared}", taken == shared and taken > 0 and left == 0)
    expect("the rest is measured", measured + taken == 9)
    expect("nothing is measured twice", runner.tune(SMALL + ["--output", runner.table]) == [0, 9, 0])


def kill_all(process):
    """The launcher's children too, wherever they put themselves."""
    found = {process.pid}
    for _ in range(3):
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    if int(file.read().rsplit(")", 1)[1].split()[1]) in found:
                        found.add(int(entry))
            except (OSError, ValueError):
                pass
    for pid in found:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


def is_used_by_programs(runner):
    command = shlex.split(runner.args.launcher) + ["-n", "2", runner.args.reader,
                                                        "--gtest_filter=Tables.OfTheCommandDecideThePlans"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          env=dict(runner.environment, TUTTI_TEST_TABLE=runner.table))
    expect(f"a program uses the table\n{done.stdout}{done.stderr}", done.returncode == 0)


def counts_and_lists_its_gains(runner):
    """Copies by the kernel take 2 ms more than the library believes, so that its choice for large calls is wrong."""
    if not runner.args.interposer:
        return
    flags = ["--operations", "allreduce", "--calls", "blocking", "--types", "float32", "--largest", "1M", "--rounds",
             "3", "--gains", "--accept-disturbed", "--output", runner.table + ".gains"]
    command = shlex.split(runner.args.launcher) + ["-n", "2", "env", "LD_PRELOAD=" + runner.args.interposer,
                                                   runner.args.program, "tune"] + flags
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          env=dict(runner.environment, TUTTI_TEST_KERNEL_COPY_NS="2000000", TUTTI_CALIBRATION="off"))
    expect(f"tune --gains: exit code {done.returncode}\n{done.stderr}", done.returncode == 0)
    measured = int(re.match(r"(\d+) cells measured", done.stdout).group(1))
    same, of = map(int, re.search(r"in (\d+) of (\d+) cells", done.stdout).groups())
    gains = [float(untuned) / float(best)
             for best, untuned in re.findall(r"^allreduce .* B +\S+ +([0-9.]+) +\S+ +([0-9.]+)$", done.stdout, re.M)]
    expect(f"a slow choice is found\n{done.stdout}", gains and max(gains) > 2)
    expect(f"each cell is counted once: {same} of {of}, {len(gains)} gains\n{done.stdout}",
           of == measured and same + len(gains) == measured)
    mean = math.exp(sum(map(math.log, gains)) / len(gains))
    said = float(re.search(r"takes 1/([0-9.]+) of its time", done.stdout).group(1))
    expect(f"the geometric mean is {mean:.2f}, not {said}", abs(said - mean) <= 0.01 + 0.02 * mean)


def measures_the_sizes_it_is_told(runner):
    one = ["--operations", "allreduce", "--calls", "blocking", "--types", "float32", "--smallest", "64K", "--largest",
           "64K", "--rounds", "3", "--output", runner.table + ".one"]
    expect("one size is one cell", runner.tune(one) == [1, 0, 0])


def keeps_tables_of_other_ranks(runner):
    tiny = ["--operations", "barrier", "--calls", "blocking"]
    expect("another number of ranks begins anew", runner.tune(tiny + ["--output", runner.table], ranks=3) == [1, 0, 0])
    with open(runner.table, encoding="utf-8") as file:
        ranks = sorted(table["machine"]["ranks"] for table in json.load(file)["tables"])
    expect(f"both tables are there: {ranks}", ranks == [2, 3])
    expect("the first is as it was", runner.tune(SMALL + ["--output", runner.table]) == [0, 9, 0])


def writes_where_it_is_told(runner):
    tiny = ["--operations", "barrier", "--calls", "blocking"]
    runner.tune(tiny)
    expect("the cache folder", os.path.exists(os.path.join(runner.environment["XDG_CACHE_HOME"], "tutti",
                                                           "tuning.json")))
    named = runner.table + ".named"
    runner.tune(tiny, TUTTI_TUNING=named)
    expect("the file that TUTTI_TUNING names", os.path.exists(named))


def refuses(runner):
    runner.refused("an unknown operation", ["--operations", "alreduce"], "'alreduce'; valid: allreduce")
    runner.refused("an unknown kind of call", ["--calls", "async"], "--calls", "blocking")
    runner.refused("an unknown type", ["--types", "float33"], "valid: float32")
    runner.refused("a single rank", SMALL + ["--output", runner.table], "one rank", ranks=1)
    runner.refused("a file that cannot be written", SMALL + ["--output", "/proc/tutti/x.json"], "/proc/tutti/x.json")
    with open(runner.table, "r+b") as file:
        file.truncate(200)
    runner.refused("a damaged file", SMALL + ["--output", runner.table], runner.table, "truncated", "--restart")
    expect("--restart replaces it", runner.tune(SMALL + ["--output", runner.table, "--restart"]) == [9, 0, 0])
    expect("no drafts are left", not [n for n in os.listdir(os.path.dirname(runner.table)) if n.endswith(".tmp")])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "reader", "launcher"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--interposer", default="", help="library that makes copies by the kernel slow")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutti-tune-") as folder:
        runner = Runner(args, folder)
        for step in (stops_at_its_budget, begins_no_cell_that_does_not_fit, leaves_disturbed_cells_out,
                     survives_being_killed, counts_and_lists_its_gains, measures_the_sizes_it_is_told,
                     is_used_by_programs, keeps_tables_of_other_ranks,
                     writes_where_it_is_told, refuses):
            step(runner)
            print(f"{step.__name__}: as it should")


try:
    main()
except Failed as failure:
    print(f"FAILED: {failure}")
    sys.exit(1)
