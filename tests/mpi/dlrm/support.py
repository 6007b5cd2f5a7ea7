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


class Failed(Exception):
    pass


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", required=True)
    parser.add_argument("--launcher", required=True, help="launcher and its flags, one string")
    parser.add_argument("--ranks", required=True, help="rank counts, joined by commas")
    parser.add_argument("--data", default="", help="folder of data that is not shipped")
    return parser.parse_args()


class Runner:
    def __init__(self, args):
        self.launcher = shlex.split(args.launcher)
        self.program = args.program
        self.folder = tempfile.TemporaryDirectory(prefix="tutti-dlrm-")

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
        done = self.start(ranks, flags + ["--json-file=" + results], timeout)
        if done.returncode != 0:
            raise Failed(f"{ranks} ranks, {' '.join(flags)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        with open(results, encoding="utf-8") as file:
            return json.load(file)


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
        sys.exit(main() or 0)
    except Failed as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)
