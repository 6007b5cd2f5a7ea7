# SPDX-License-Identifier: BSD-3-Clause
"""Lines of Fortran."""

HEADER = "! SPDX-License-Identifier: BSD-3-Clause\n! Made by generate.py from api.def and tutti.h; not to be edited."
WIDTH = 118


def wrap(line, indent=6):
    """A statement broken at commas into continued lines."""
    pieces = []
    while len(line) > WIDTH:
        cut = line.rfind(", ", 0, WIDTH - 2) + 1
        pieces.append(line[:cut] + " &")
        line = " " * indent + line[cut:].lstrip()
    return pieces + [line]


def procedure(name, arguments, declarations, body):
    """A subroutine of the module."""
    lines = wrap(f"subroutine {name}({', '.join(arguments)})")
    for declaration in declarations + body:
        lines += wrap("  " + declaration)
    return lines + [f"end subroutine {name}", ""]


def generic(name, procedures):
    lines = [f"public :: {name}", f"interface {name}"]
    for specific in procedures:
        lines.append(f"  procedure :: {specific}")
    return lines + ["end interface"]
