#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""built.py DIR: a regular expression for ctest -R of the tests in a build folder whose programs, and libraries that they
preload, are there: a section that builds some targets runs the tests of these."""
import json
import os
import re
import subprocess
import sys


def is_built(test, folder):
    values = [value for word in test.get("command", []) for value in word.removeprefix("LD_PRELOAD=").split(":")]
    own = [value for value in values if value.startswith(folder + os.sep)]
    return bool(test.get("command")) and all(os.path.exists(word) for word in own)


def main():
    folder = os.path.abspath(sys.argv[1])
    shown = subprocess.run(["ctest", "--test-dir", folder, "--show-only=json-v1"], check=True, capture_output=True)
    tests = json.loads(shown.stdout)["tests"]
    names = [re.escape(test["name"]) for test in tests if is_built(test, folder)]
    if not names:
        sys.exit(f"{folder}: none of {len(tests)} tests is built")
    print("^(" + "|".join(names) + ")$")


if __name__ == "__main__":
    main()
