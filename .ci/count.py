#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""count.py DIR: a build folder has at least as many tests of each label as .ci/tests.txt says. Whole groups of tests
vanish silently where what they need is not found: Python, Fortran, a tool."""
import collections
import json
import pathlib
import subprocess
import sys


def main():
    shown = subprocess.run(["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"], check=True, capture_output=True)
    tests = json.loads(shown.stdout)["tests"]
    found = collections.Counter(label for test in tests for prop in test.get("properties", [])
                                if prop["name"] == "LABELS" for label in prop["value"] if label)
    found["all"] = len(tests)
    missing = []
    for line in pathlib.Path(__file__).with_name("tests.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        label, least = line.split()
        if found[label] < int(least):
            missing.append(f"{found[label]} tests have the label {label}; there must be {least} at least (.ci/tests.txt)")
    print("\n".join(missing) if missing else f"{len(tests)} tests, none of the known groups is missing")
    return 1 if missing else 0


sys.exit(main())
