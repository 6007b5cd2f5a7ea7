# SPDX-License-Identifier: BSD-3-Clause
"""Runs a C and a Fortran program that print the constants, and compares.

constants.py make c|fortran GENERATED   prints the source of the program, of the constants in generated.inc
constants.py compare C FORTRAN           runs both
"""

import re
import subprocess
import sys
from pathlib import Path


def names(generated):
    """Name and kind of every constant of the module."""
    for line in Path(generated).read_text().splitlines():
        if match := re.match(r"(type\(\w+\)|integer), parameter, public :: (\w+) =", line):
            yield match[2], match[1] != "integer"


def make_c(generated):
    lines = ["#include <stdio.h>", "#include <tutti/tutti.h>", "int main(void) {"]
    lines += [f'  printf("{name} %lld\\n", (long long){name.upper()});' for name, _ in names(generated)]
    return "\n".join(lines + ["  return 0;", "}"])


def make_fortran(generated):
    lines = ["program constants", "  use tutti", "  implicit none"]
    lines += [f"  print '(a, i0)', \"{name} \", {name}{'%handle' * typed}" for name, typed in names(generated)]
    return "\n".join(lines + ["end program"])


def compare(programs):
    printed = [subprocess.run([program], check=True, capture_output=True, text=True).stdout for program in programs]
    constants = printed[0].splitlines()
    if printed[0] != printed[1] or len(constants) < 60:
        print("C and Fortran differ:", set(constants) ^ set(printed[1].splitlines()), file=sys.stderr)
        return 1
    print(f"{len(constants)} constants are equal")
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        sys.exit(compare(sys.argv[2:]))
    print({"c": make_c, "fortran": make_fortran}[sys.argv[2]](sys.argv[3]))
