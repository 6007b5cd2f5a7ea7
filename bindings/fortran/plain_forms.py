# SPDX-License-Identifier: BSD-3-Clause
"""The procedures that hand handles, numbers, flags and texts to C as they are, the exact sums, and the procedures that
take handles of MPI."""

import re
from collections import namedtuple
from pathlib import Path

from collective_forms import COMMON, array, c_call
from fortran_text import Procedure

SOURCES = Path(__file__).resolve().parent / "src"
TYPES = {"tutti_embedding": "tutti_embedding_collection"}
GIVEN = {
    "int": ("integer, intent(in)", "int({}, c_int)"),
    "flag": ("logical, intent(in)", "int(to_c_logical({}), c_int)"),
    "distance": ("integer, intent(in)", "int({}, c_ptrdiff_t)"),
    "scalar": ("real(c_double), intent(in)", "{}"),
    "address": ("type(c_ptr), value", "{}"),
    "stream": ("type(c_ptr), value", "{}"),
}
TAKEN = {
    "int_out": ("integer, intent(out)", "int({})"),
    "flag_out": ("logical, intent(out)", "{} /= 0"),
}
EXACT = {"sum": (0, ("values",), "sums"), "norm2": (1, ("values",), "norms"), "mean": (2, ("values",), "means"),
         "dot": (None, ("x", "y"), "dots")}  # exact.c has the numbers
TEXT_OUT = ["text_out", "count", "size_out"]
STATUS = ["type(tutti_status), target :: found"], ["if (present(status)) status = found"]

# What an argument is in Fortran and in the call of C, and what it needs before and after that.
Passed = namedtuple("Passed", "declaration actual local before after", defaults=[[], [], []])


def handle_type(role):
    """The type of a handle, or of the handle that C gives."""
    match = re.fullmatch(r"(tutti_\w+)_t( \*)?", role.c)
    if match is None:
        raise SystemExit(f"plain_forms.py: role {role.name} of api.def has no plain form; write its procedures by hand")
    return TYPES.get(match[1], match[1])


def passed(argument):
    role, name = argument.role, argument.name
    if role.name in ("options", "status"):
        local, after = (["type(option_values), target :: values"], []) if role.name == "options" else STATUS
        actual = "address_of(options, values)" if role.name == "options" else "c_loc(found)"
        return Passed(COMMON[role.name], actual, local, [], after)
    if role.name in GIVEN:
        attributes, actual = GIVEN[role.name]
        return Passed(f"{attributes} :: {name}", actual.format(name))
    if role.name in TAKEN:
        attributes, value = TAKEN[role.name]
        local = f"{name}_of_c"
        return Passed(f"{attributes} :: {name}", local, [f"integer(c_int) :: {local}"], [f"{local} = 0"],
                      [f"{name} = {value.format(local)}"])
    if role.name == "size_out":
        return Passed(f"integer(c_size_t), intent(out) :: {name}", name, [], [f"{name} = 0"])
    if role.name == "text":
        letters = f"character(kind=c_char, len=1), target :: {name}_letters(len({name}) + 1)"
        return Passed(f"character(len=*), intent(in) :: {name}", f"to_c({name}, {name}_letters)", [letters])
    intent = "in" if role.intent == "in" else "out" if re.fullmatch("(datatype|op)_out", role.name) else "inout"
    return Passed(f"type({handle_type(role)}), intent({intent}) :: {name}", f"{name}%handle")


def plain(function):
    given = {argument.name: passed(argument) for argument in function.arguments}
    declared = {name: one.declaration for name, one in given.items()}
    last = {name: declared.pop(name) for name in ("options",) if name in declared} | {"ierror": COMMON["ierror"]}
    local, before, after = ([line for one in given.values() for line in part(one)]
                            for part in (lambda one: one.local, lambda one: one.before, lambda one: one.after))
    call = c_call(function, {name: one.actual for name, one in given.items()})
    return Procedure(function.name, declared | last, local + ["integer(c_int) :: code"],
                     before + [call] + after + ["call finish(code, ierror)"])


def text_of(function):
    """Gets a text of a handle."""
    handle = function.arguments[0]
    dummies = {handle.name: passed(handle).declaration, "text": "character(len=:), allocatable, intent(out) :: text",
               "ierror": COMMON["ierror"]}
    call = f"call get_text(c_{function.name[6:]}, {handle.name}%handle, text, code)"
    return Procedure(function.name, dummies, ["integer(c_int) :: code"], [call, "call finish(code, ierror)"])


def exact(function):
    """A sum in any form, whose arrays exact.c looks at."""
    word = re.fullmatch(r"tutti_i?exact_([a-z0-9]+)(?:_init)?", function.name)[1]
    form = 1 if "_iexact" in function.name else 2 if function.name.endswith("_init") else 0
    number, values, results = EXACT[word]
    choices = ("weights", "mask") if word in ("sum", "mean") else ("mask",)
    dummies = {"comm": COMMON["comm"]} | {name: array(name, "in", True) for name in values}
    dummies |= {results: array(results, "inout", True)} | ({"request": COMMON["request"]} if form else {})
    dummies |= {name: array(name, "in", True).replace(" ::", ", optional ::") for name in choices}
    given = [f'"{function.name}"//c_null_char', *([f"{number}_c_int"] if word != "dot" else []), f"{form}_c_int"]
    given += ["comm%handle", *values, results, *(f"{name}={name}" for name in choices)]
    given += ["options=address_of(options, own)"] + (["request=request%handle"] if form else [])
    c_function = "exact_dot_of" if word == "dot" else "exact_of"
    return Procedure(function.name, dummies | {name: COMMON[name] for name in ("options", "ierror")},
                     ["type(option_values), target :: own"],
                     [f"call finish({c_function}({', '.join(given)}), ierror)"])


def hand_written():
    """The public names of the module's own sources, and those that have procedures or interfaces there."""
    text = "\n".join(file.read_text() for file in sorted(SOURCES.glob("*.inc")))
    public = re.findall(r"tutti_\w+", " ".join(re.findall(r"^public :: (.*)", text, flags=re.M)))
    return public, set(re.findall(r"^(?:subroutine|interface) (tutti_\w+)|^function (tutti_\w+)", text, flags=re.M))


def plain_forms(functions):
    """The procedures that have public names, but no source by hand."""
    public, written = hand_written()
    names = set(public) - {name for names in written for name in names}
    forms = []
    for function in functions:
        roles = [argument.role.name for argument in function.arguments]
        if function.name in names:
            make = text_of if roles[1:] == TEXT_OUT else exact if "exact_terms" in roles else plain
            forms.append(make(function))
    return forms


def of_mpi(name, kind, dummy, dummies, call):
    """Takes a handle of MPI, which is an integer, of 8 bytes where default integers are, or mpi_f08's type."""
    for suffix, declaration, value in (("int32", "integer(int32)", "{}"), ("int64", "integer(int64)", "int({}, c_int)"),
                                       ("f08", f"type(MPI_{kind})", "{}%MPI_VAL")):
        handle = {dummy: f"{declaration}, intent(in) :: {dummy}"}
        yield Procedure(f"{name}_{suffix}", handle | dummies, [], [call.format(value.format(dummy))])


def mpi_forms():
    """The same by generic name."""
    forms = {}
    made = {"comm": "type(tutti_comm), intent(inout) :: comm", "ierror": COMMON["ierror"],
            "options": "type(tutti_comm_options), intent(in), optional :: options"}
    made = {name: made[name] for name in ("comm", "options", "ierror")}
    for number, word in enumerate(("duplicate", "adopt", "borrow"), 1):
        call = f"call create({{}}, {number}_c_int, comm, options, ierror)"
        forms[f"tutti_comm_{word}"] = list(of_mpi(f"comm_{word}", "Comm", "mpi_communicator", made, call))
    for word, kind, dummy in (("datatype", "Datatype", "mpi_type"), ("op", "Op", "mpi_operation")):
        found = {word: f"type(tutti_{word}), intent(out) :: {word}", "ierror": COMMON["ierror"]}
        call = f"call finish(c_{word}_from_mpi_f({{}}, {word}%handle), ierror)"
        forms[f"tutti_{word}_from_mpi"] = list(of_mpi(f"{word}_from_mpi", kind, dummy, found, call))
    return forms
