#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes generated.inc of the Fortran module from api.def and the C headers: generate.py [--without-training] FILE

A file that is right already keeps its time. A source package has the file beside this program, so that whoever builds
the package needs no Python.
"""

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
C = HERE.parent / "c"
sys.path.insert(0, str(C))

import api_def  # noqa: E402
from collective_forms import collective_forms  # noqa: E402
from fortran_text import generic, subroutine, together, wrap  # noqa: E402
from memory_forms import memory_forms  # noqa: E402
from message_forms import message_forms  # noqa: E402
from plain_forms import mpi_forms, plain_forms  # noqa: E402

HEADER = """! SPDX-License-Identifier: BSD-3-Clause
! Made by generate.py from api.def and the C headers; not to be edited. tutti.F90 includes it twice: its declarations,
! then, with TUTTI_PROCEDURES, the procedures behind them.
#ifndef TUTTI_PROCEDURES
"""
WITH_TRAINING = "! tutti.F90 has its part training where this is defined.\n#define TUTTI_HAS_TRAINING\n"
SKIPPED_CONSTANTS = {"TUTTI_COMM_DUPLICATE", "TUTTI_COMM_ADOPT", "TUTTI_COMM_BORROW"}  # the names of procedures


def constants(training=True):
    """The enumerators of the headers with their numbers."""
    text = api_def.header_text(training)
    lines = []
    for body in re.findall(r"enum \{(.*?)\};", text, flags=re.S):
        values = re.findall(r"(TUTTI_\w+) = (-?\d+)", body)
        for name, value in values:
            if name in SKIPPED_CONSTANTS:
                continue
            if "TUTTI_INT8 =" in body:
                lines.append(f"type(tutti_datatype), parameter, public :: {name.lower()} = tutti_datatype({value})")
            elif "TUTTI_SUM =" in body:
                lines.append(f"type(tutti_op), parameter, public :: {name.lower()} = tutti_op({value})")
            else:
                lines.append(f"integer, parameter, public :: {name.lower()} = {value}")
    return lines


def interface(function, roles):
    names = ", ".join(argument.name for argument in function.arguments)
    result = "integer(c_int)" if function.result == "int" else roles[function.result].fortran.removesuffix(", value")
    lines = wrap(f'  {result} function c_{function.name[6:]}({names}) bind(C, name="{function.name}")')
    lines += ["    import"]
    for line in together([f"{argument.role.fortran} :: {argument.name}" for argument in function.arguments]):
        lines += wrap("    " + line, 8)
    return lines + ["  end function"]


def interfaces(roles, functions):
    """The private bind(C) interfaces of the functions that Fortran calls."""
    lines = ["", "! The functions of C.", "interface"]
    for function in functions:
        if all(argument.role.fortran != "-" for argument in function.arguments):
            lines += interface(function, roles)
    return lines + ["end interface"]


def generated(training):
    roles, functions = api_def.read(training=training)
    forms = collective_forms(functions) | message_forms(functions) | memory_forms() | mpi_forms()
    generics = [line for name, procedures in forms.items() for line in generic(name, procedures)]
    groups = [*forms.values(), plain_forms(functions)]
    procedures = [line for group in groups for procedure in group for line in subroutine(procedure)]
    declarations = constants(training) + interfaces(roles, functions) + ["", "! The generic names.", *generics]
    return "\n".join([HEADER + WITH_TRAINING * training, *declarations, "", "#else", "", *procedures, "#endif"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--without-training", action="store_true", help="for a library without this part")
    options = parser.parse_args()
    file = options.file
    made = generated(not options.without_training)
    if not file.exists() or file.read_text() != made:
        file.write_text(made)


if __name__ == "__main__":
    main()
