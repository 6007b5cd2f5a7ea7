# SPDX-License-Identifier: BSD-3-Clause
"""Choices on machines with other costs than this one, which libtutti_interposer.so pretends. What is expected follows
from delays that no real machine has: which way is chosen, and times that a delay makes a least time. No test expects a
call to be fast."""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77
TRIALS = 3  # a calibration on a busy machine may be far off


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def expect(what, condition):
    if not condition:
        raise Failed(what)


class Machine:
    """A machine with these costs: TUTTI_TEST_<NAME>."""

    def __init__(self, args, **costs):
        self.args = args
        self.variables = [f"TUTTI_TEST_{name.upper()}={value}" for name, value in costs.items()]
        if "kernel_copy_refused" in costs:
            # UCX would send long messages over TCP then, and MPICH's MPI_Finalize may wait for ever for those.
            self.variables.append("UCX_TLS=self,posix")

    def run(self, *flags):
        # Only the ranks preload the library, not the launcher.
        command = shlex.split(self.args.launcher) + ["-n", "2", "env", "LD_PRELOAD=" + self.args.interposer,
                                                     "TUTTI_TEST_INTERPOSER_REPORT=1", *self.variables,
                                                     self.args.program, *flags]
        # The costs of a pretended machine stay out of the user's cache.
        environment = dict(os.environ, TUTTI_TUNING="off", TUTTI_CALIBRATION="now", XDG_CACHE_HOME=self.args.cache)
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment, check=False)
        expect(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}", done.returncode == 0)
        return done

    def explain(self, operation, size):
        return json.loads(self.run("explain", operation, "--bytes", size, "--json").stdout)

    def regret(self, operations, sizes):
        """The cells of tutti regret, and how often the ranks made each call of the report at their end."""
        done = self.run("regret", "--operations", operations, "--sizes", sizes, "--calls", "blocking", "--types",
                        "float32", "--rounds", "3", "--json")
        counts = {}
        for number, call in re.findall(r"(\d+) (kernel copies|slowed memory copies|messages)", done.stderr):
            counts[call] = counts.get(call, 0) + int(number)
        return json.loads(done.stdout)["cells"], counts


def predicted(answer, name):
    """The predicted seconds of a way; None if it cannot be chosen."""
    for one in answer["candidates"]:
        if one["name"] == name and "excluded" not in one:
            return one["seconds"]
    return None


def expect_calibrated(args):
    shown = Machine(args).run("explain", "bcast", "--bytes", "4KiB").stdout
    expect(f"costs are calibrated:\n{shown}", re.search(r"\bcalibrated now\b", shown))


def needs_single_copy(args):
    if not Machine(args).explain("bcast", "4MiB")["machine"]["single_copy"]:
        raise Skipped("this system refuses process_vm_readv between ranks")


def try_again(work):
    for trial in range(TRIALS):
        try:
            return work()
        except Failed as failure:
            print(f"trial {trial + 1}: {failure}")
            if trial + 1 == TRIALS:
                raise
    return None


def refused_kernel_copies(args):
    """Needs no calibration: the library finds out whether the kernel copies."""
    machine = Machine(args, kernel_copy_refused=1)
    answer = machine.explain("bcast", "4MiB")
    if not answer["machine"]["shm"]:
        raise Skipped("the ranks share no memory here")
    expect("the kernel refuses", not answer["machine"]["single_copy"])
    expect("refused copies cannot be chosen", predicted(answer, "shm:single_copy") is None)
    cells, counts = machine.regret("bcast,allreduce", "4K,4M")
    expect(f"the library asked the kernel: {counts}", counts["kernel copies"] > 0)
    expect(f"4 cells: {cells}", len(cells) == 4)
    for cell in cells:
        expect(f"no way makes a refused copy: {cell}", "shm:single_copy" not in cell["seconds"])


def delayed_kernel_copies(args):
    """10 us for each copy by the kernel cannot pay where all the others need is to copy 4 KiB twice."""
    expect_calibrated(args)
    needs_single_copy(args)
    machine = Machine(args, kernel_copy_ns=10000)

    def decide():
        answer = machine.explain("bcast", "4KiB")
        seconds = predicted(answer, "shm:single_copy")
        expect(f"the delay is known: {seconds}", seconds >= 9e-6)
        cells, counts = machine.regret("bcast,allreduce,alltoall,gather", "4K")
        expect(f"copies were delayed: {counts}", counts["kernel copies"] > 0)
        for cell in cells:
            way = cell["seconds"]["shm:single_copy"]
            expect(f"{cell['operation']}: delayed copies take at least their delay: {way}", way >= 10e-6)
            expect(f"{cell['operation']}: {cell['chosen']} is chosen", cell["chosen"] != "shm:single_copy")

    try_again(decide)


def slow_bytes_of_kernel_copies(args):
    """A kernel that copies 1 KiB per us is slower than two copies in memory, and is known to be slower than this one."""
    expect_calibrated(args)
    needs_single_copy(args)

    def decide():
        here = predicted(Machine(args).explain("bcast", "4MiB"), "shm:single_copy")
        expect("at full speed a path without a second copy can be chosen", here is not None)
        slow = Machine(args, kernel_copy_ns_per_kib=1000).explain("bcast", "4MiB")
        there = predicted(slow, "shm:single_copy")
        # Both ranks may copy at the same time, half each.
        expect(f"the rate is known: {there}", there >= 0.45 * 4096e-6 and there > here)
        expect(f"{slow['chosen']} is chosen", slow["chosen"] != "shm:single_copy")

    try_again(decide)


def slow_copies_in_memory(args):
    """Where memory copies at 1 KiB per us, large calls do not copy twice."""
    expect_calibrated(args)
    needs_single_copy(args)
    machine = Machine(args, memory_copy_ns_per_kib=1000, memory_copy_from=512)

    def decide():
        answer = machine.explain("bcast", "4MiB")
        single = predicted(answer, "shm:single_copy")
        for name in ("shm:slots", "shm:stream", "shm:wide"):
            double = predicted(answer, name)
            expect(f"the rate is known: {name}, {double}", double >= 0.9 * 4096e-6)
            expect(f"one copy by the kernel takes less: {single}", single < double)
            expect(f"{answer['chosen']} is chosen", answer["chosen"] != name)

    try_again(decide)


def slow_messages(args):
    """A message of 200 us: every way over messages is known to take at least that long."""
    expect_calibrated(args)
    machine = Machine(args, message_ns=200000)

    def decide():
        answer = machine.explain("allreduce", "4")
        for one in answer["candidates"]:
            if one["name"].startswith("mpi:") and "excluded" not in one:
                expect(f"the latency is known: {one}", one["seconds"] >= 100e-6)
        expect(f"{answer['chosen']} is chosen",
               not answer["machine"]["shm"] or not answer["chosen"].startswith("mpi:"))

    try_again(decide)


CASES = {case.__name__: case for case in (refused_kernel_copies, delayed_kernel_copies, slow_bytes_of_kernel_copies,
                                          slow_copies_in_memory, slow_messages)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("program", "interposer", "launcher"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("case", choices=CASES)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tutti-decisions-") as args.cache:
        CASES[args.case](args)
    print(f"{args.case}: as it should")


try:
    main()
except Skipped as why:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)
except Failed as failure:
    print(f"FAILED: {failure}")
    sys.exit(1)
