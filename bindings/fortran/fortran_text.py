# SPDX-License-Identifier: BSD-3-Clause
"""Lines of Fortran."""

from collections import namedtuple
from itertools import combinations

WIDTH = 118

# A subroutine of the module. dummies: declaration by name, in the order of the arguments. is_specific: whether its
# generic name lists it; others are called by those that it lists.
Procedure = namedtuple("Procedure", "name dummies locals body is_specific", defaults=[True])
OPTIONAL = ", optional"


def wrap(line, indent=6):
    """A statement broken at commas into continued lines."""
    pieces = []
    while len(line) > WIDTH:
        cut = line.rfind(", ", 0, WIDTH - 2) + 1
        pieces.append(line[:cut] + " &")
        line = " " * indent + line[cut:].lstrip()
    return pieces + [line]


def together(declarations):
    """Declarations with one line for all names that have the same attributes."""
    names = {}
    for declaration in declarations:
        attributes, name = declaration.split(" :: ")
        names.setdefault(attributes, []).append(name)
    return [f"{attributes} :: {', '.join(same)}" for attributes, same in names.items()]


def subroutine(procedure):
    lines = wrap(f"subroutine {procedure.name}({', '.join(procedure.dummies)})")
    for line in together(list(procedure.dummies.values()) + procedure.locals) + procedure.body:
        lines += wrap("  " + line)
    return lines + [f"end subroutine {procedure.name}", ""]


def int32_twin(procedure, numbers):
    """The procedure whose arguments `numbers` are integer(int32): it calls the one that takes integer(int64)."""
    dummies = dict(procedure.dummies)
    for name in numbers:
        dummies[name] = dummies[name].replace("int64", "int32")
    widen = {name: "widened({})" if "(:)" in dummies[name] else "int({}, int64)" for name in numbers}
    arguments = [widen.get(name, "{}").format(name) for name in dummies]
    name = procedure.name.removesuffix("int64") + "int32"
    return Procedure(name, dummies, [], [f"call {procedure.name}({', '.join(arguments)})"])


def exact_twins(procedure):
    """The procedure, and one that calls it for each choice of its optional arguments, in which none is optional. Only
    so may a generic name hold forms that differ in a buffer before `op` and have every name in common: the standard
    tells them apart by the number of arguments that must be there (Fortran 2018, 15.4.3.4.5)."""
    optional = [name for name, declaration in procedure.dummies.items() if OPTIONAL in declaration]
    twins = []
    for chosen in (set(choice) for size in range(len(optional) + 1) for choice in combinations(optional, size)):
        dummies = {
            name: declaration.replace(OPTIONAL, "")
            for name, declaration in procedure.dummies.items()
            if name in chosen or name not in optional
        }
        arguments = [f"{name}={name}" if name in chosen else name for name in dummies]
        name = "_".join([procedure.name, *(name for name in optional if name in chosen), "only"])
        twins.append(Procedure(name, dummies, [], [f"call {procedure.name}({', '.join(arguments)})"]))
    return [procedure._replace(is_specific=False), *twins]


def generic(name, procedures):
    lines = [f"public :: {name}", f"interface {name}"]
    lines += wrap("  procedure :: " + ", ".join(procedure.name for procedure in procedures if procedure.is_specific))
    return lines + ["end interface"]


def in_turn(lines):
    """Statements `code = ...` of which each runs only when those before it succeeded."""
    return lines[:1] + ["if (code == 0) " + line if line.startswith("code = ") else line for line in lines[1:]]
