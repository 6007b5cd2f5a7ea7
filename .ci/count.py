#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""count.py DIR [LOG]: a build folder has at least as many tests of each label as .ci/tests.txt says. Whole groups of tests
vanish silently where what they need is not found: Python, Fortran, a tool. LOG: what ctest said; tests of labels that are
marked there, which need nothing that can be absent, did not skip."""
import collections
import json
import pathlib
import re
import subprocess
import sys


def labels_of(test):
    return [label for prop in test.get("properties", []) if prop["name"] == "LABELS" for label in prop["value"] if label]


def main():
    shown = subprocess.run(["ctest", "--test-dir", sys.argv[1], "--show-only=json-v1"], check=True, capture_output=True)
    tests = {test["name"]: labels_of(test) for test in json.loads(shown.stdout)["tests"]}
    found = collections.Counter(label for labels in tests.values() for label in labels)
    found["all"] = len(tests)
    log = pathlib.Path(sys.argv[2]).read_text(encoding="utf-8", errors="replace") if len(sys.argv) > 2 else ""
    skipped = [name for name in re.findall(r"Test +#\d+: (\S+) \.*\*\*\*Skipped", log) if name in tests]
    wrong = []
    for line in pathlib.Path(__file__).with_name("tests.txt").read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        label, least, *marks = line.split()
        if found[label] < int(least):
            wrong.append(f"{found[label]} tests have the label {label}; there must be {least} at least (.ci/tests.txt)")
        if marks == ["always"]:
            wrong += [f"{name} was skipped, but tests of label {label} need nothing that can be absent (.ci/tests.txt)"
                      for name in skipped if label in tests[name]]
    print("\n".join(wrong) if wrong else f"{len(tests)} tests, none of the known groups is missing, {len(skipped)} skipped")
    return 1 if wrong else 0


sys.exit(main())
