# SPDX-License-Identifier: BSD-3-Clause
"""Reads api.def: the one list of the C API."""

import re
from collections import namedtuple
from pathlib import Path

Role = namedtuple("Role", "name intent c fortran")
Argument = namedtuple("Argument", "name role")
Function = namedtuple("Function", "name kind result arguments operation form")

HERE = Path(__file__).resolve().parent
API_DEF = HERE / "api.def"
HEADERS = ("tutti.h", "tutti_device.h", "tutti_exact.h")
TRAINING_HEADERS = ("tutti_training.h", "tutti_embedding.h")


def header_text(training=True):
    """The headers, with or without those of the part training, without their comments."""
    text = "\n".join((HERE / header).read_text() for header in HEADERS + TRAINING_HEADERS * training)
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def parse_arguments(text, roles):
    arguments = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, role = item.partition("=")
        arguments.append(Argument(name, roles[role or name]))
    return arguments


def three_forms(operation, arguments, roles):
    request = [Argument("request", roles["request_out"])]
    yield Function(f"tutti_{operation}", "collective", "int", arguments, operation, "blocking")
    yield Function(f"tutti_i{operation}", "collective", "int", arguments + request, operation, "nonblocking")
    yield Function(f"tutti_{operation}_init", "collective", "int", arguments + request, operation, "persistent")


def read(path=API_DEF, training=True):
    """The roles by name and the functions in order, with or without those of the part training, which come last."""
    roles, functions = {}, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line == "part training":
            if not training:
                break
            continue
        if match := re.fullmatch(r"role (\w+)\s+(in|out|inout)\s*\|\s*(.*?)\s*\|\s*(.*?)", line):
            roles[match[1]] = Role(*match.groups())
        elif match := re.fullmatch(r"forms (\w+):(.*)", line):
            functions += three_forms(match[1], parse_arguments(match[2], roles), roles)
        elif match := re.fullmatch(r"(local|blocking|collective)\s+(\w+)\s+(\w+):(.*)", line):
            arguments = parse_arguments(match[4], roles)
            functions.append(Function(match[3], match[1], match[2], arguments, None, None))
        else:
            raise SystemExit(f"{path}:{number}: not a line of this format: {line}")
    return roles, functions


def c_result(function, roles):
    return function.result if function.result == "int" else roles[function.result].c


def c_declaration(function, roles):
    """The declaration as the header has it, white space apart."""
    arguments = ", ".join(f"{a.role.c} {a.name}" for a in function.arguments) or "void"
    return f"{c_result(function, roles)} {function.name}({arguments});"
