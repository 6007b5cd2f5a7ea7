# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of tutti-dlrm share: how the program is started and its results are read."""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

SKIPPED = 77
runners = []


class Failed(Exception):
    pass


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", required=True, help="program of runs.cpp")
    parser.add_argument("--launcher", required=True, help="launcher and its flags, one string")
    parser.add_argument("--ranks", required=True, help="rank counts, joined by commas")
    parser.add_argument("--data", default="", help="folder of data that is not shipped")
    return parser.parse_args()


class Job:
    """Ranks that make one run after another (runs.cpp)."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, bufsize=1)

    def run(self, flags):
        """What was printed, and the error that ended the run, or None."""
        self.process.stdin.write("\x1f".join(flags) + "\n")
        self.process.stdin.flush()
        printed = []
        for line in self.process.stdout:
            before, mark, error = line.partition("\x1e")
            printed.append(before)
            if mark:
                return "".join(printed), error.rstrip("\n") or None
        return "".join(printed), f"the job ended with code {self.process.wait()}"

    def end(self):
        """Its exit code."""
        self.process.stdin.close()
        code = self.process.wait(timeout=30)
        self.process.stdout.close()
        return code


class Runner:
    """Starts the program once for each number of ranks, as a user does; later runs that have to come to a good end are
    made by a job that is there already."""

    def __init__(self, args):
        self.launcher = shlex.split(args.launcher)
        self.program = args.program
        self.runs = args.runs
        self.started = set()
        self.jobs = {}
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-dlrm-")
        runners.append(self)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def start(self, ranks, flags, timeout=100):
        command = self.launcher + ["-n", str(ranks), self.program] + flags
        return subprocess.run(command, capture_output=True, text=True, timeout=timeout)

    def train(self, ranks, flags, timeout=100):
        """Runs to a good end and gives what --json-file holds."""
        results = self.path("results.json")
        if os.path.exists(results):
            os.remove(results)
        flags = flags + ["--json-file=" + results]
        printed, error = self.again(ranks, flags) if ranks in self.started else self.first(ranks, flags, timeout)
        if error:
            raise Failed(f"{ranks} ranks, {' '.join(flags)}: {error}\n{printed}")
        with open(results, encoding="utf-8") as file:
            return json.load(file)

    def first(self, ranks, flags, timeout):
        self.started.add(ranks)
        done = self.start(ranks, flags, timeout)
        return done.stdout + done.stderr, f"exit code {done.returncode}" if done.returncode != 0 else None

    def again(self, ranks, flags):
        if ranks not in self.jobs:
            self.jobs[ranks] = Job(self.launcher + ["-n", str(ranks), self.runs])
        return self.jobs[ranks].run(flags)

    def end(self):
        for ranks, job in self.jobs.items():
            code = job.end()
            expect(f"the job of {ranks} ranks ended with code {code}", code == 0)


def losses(results):
    return [entry["loss"] for entry in results["losses"]]


def expect_close(what, got, want, tolerance):
    if len(got) != len(want):
        raise Failed(f"{what}: {len(got)} values, expected {len(want)}: {got}")
    for i, (a, b) in enumerate(zip(got, want)):
        if not abs(a - b) <= tolerance:
            raise Failed(f"{what}: value {i} is {a:.7f}, expected {b:.7f} within {tolerance}")


def expect(what, condition):
    if not condition:
        raise Failed(what)


def run(main):
    try:
        code = main() or 0
        for runner in runners:
            runner.end()
        sys.exit(code)
    except Failed as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)
