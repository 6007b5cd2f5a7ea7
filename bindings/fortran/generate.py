#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes generated/*.inc of the Fortran module from api.def and tutti.h.

generate.py           writes them
generate.py --check   fails where a file differs from what would be written
"""

import argparse
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
C = HERE.parent / "c"
sys.path.insert(0, str(C))

import api_def  # noqa: E402
from collective_forms import collective_files  # noqa: E402
from fortran_text import HEADER, wrap  # noqa: E402
from memory_forms import memory_files  # noqa: E402
from message_forms import message_files  # noqa: E402

SKIPPED_CONSTANTS = {"TUTTI_COMM_DUPLICATE", "TUTTI_COMM_ADOPT", "TUTTI_COMM_BORROW"}  # the names of procedures


def constants():
    """The enumerators of the headers with their numbers."""
    text = api_def.header_text()
    lines = [HEADER]
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
    return "\n".join(lines) + "\n"


def interface(function, roles):
    names = [argument.name for argument in function.arguments]
    result = "integer(c_int)" if function.result == "int" else roles[function.result].fortran.removesuffix(", value")
    lines = wrap(f"  function c_{function.name[6:]}({', '.join(names)}) &", 4)
    lines.append(f'      bind(C, name="{function.name}")')
    lines += ["    import", f"    {result} :: c_{function.name[6:]}"]
    lines += [f"    {argument.role.fortran} :: {argument.name}" for argument in function.arguments]
    lines.append("  end function")
    return lines


def interfaces(roles, functions):
    """The private bind(C) interfaces of what Fortran can call."""
    lines = [HEADER, "interface"]
    for function in functions:
        if all(argument.role.fortran != "-" for argument in function.arguments):
            lines += interface(function, roles)
    lines.append("end interface")
    return "\n".join(lines) + "\n"


def files():
    roles, functions = api_def.read()
    made = {"constants.inc": constants(), "interfaces.inc": interfaces(roles, functions)}
    made |= collective_files(functions)
    made |= message_files(functions)
    made |= memory_files()
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    folder = HERE / "generated"
    made = files()
    stale = [name for name, text in made.items() if not (folder / name).exists() or (folder / name).read_text() != text]
    left = [path.name for path in folder.glob("*") if path.name not in made]
    if check:
        for name in stale + left:
            print(f"generated/{name} is not what api.def and tutti.h give; run generate.py", file=sys.stderr)
        return 1 if stale or left else 0
    folder.mkdir(exist_ok=True)
    for name in stale:
        (folder / name).write_text(made[name])
    for name in left:
        (folder / name).unlink()
    print(f"{len(made)} files, {len(stale)} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
