# SPDX-License-Identifier: BSD-3-Clause
"""The generic procedures of point-to-point, on typed arrays and on addresses."""

from collective_forms import COMMON, LOCALS, NO_COPY, NUMBER_KINDS, array, c_call, call_name
from fortran_text import HEADER, generic, procedure

FUNCTIONS = ("send", "recv", "sendrecv", "isend", "irecv", "group_send", "group_recv")
FOUND = "type(tutti_status), target :: found"


def names_of(function):
    return {argument.name for argument in function.arguments}


def tail(function):
    """The arguments after the message itself, in the module's order."""
    names = names_of(function)
    return [name for name in ("request", "status", "options") if name in names] + ["ierror"]


def declare(name):
    return "type(tutti_group), intent(in) :: group" if name == "group" else COMMON[name]


def common_replaced(function):
    replaced = {"group": "group%handle", "status": "c_loc(found)"}
    for argument in function.arguments:
        if argument.role.name in ("rank", "tag"):
            replaced[argument.name] = f"int({argument.name}, c_int)"
        elif argument.role.name == "datatype":
            replaced[argument.name] = f"{argument.name}%handle"
    return replaced


def locals_of(function):
    needed = LOCALS[1:] if "options" not in names_of(function) else LOCALS
    return needed + ([FOUND] if "status" in names_of(function) else [])


def end(function):
    return ["if (present(status)) status = found"] * ("status" in names_of(function)) + ["call finish(code, ierror)"]


def typed(function):
    waits = function.kind == "blocking"
    skipped = ("count", "datatype", "options", "request_out", "status")
    kept = [argument for argument in function.arguments if argument.role.name not in skipped]
    replaced = common_replaced(function)
    declarations, opens, closes = [], [], []
    for argument in kept:
        if argument.role.name not in ("sendbuf", "recvbuf"):
            declarations.append(declare(argument.name))
            continue
        sends = argument.role.name == "sendbuf"
        view = "outgoing" if sends else "incoming"
        declarations += [array(argument.name, "in" if sends else "inout", not waits), f"type(view_call) :: {view}"]
        rules = "with_memory(0_c_int, options)" if waits else f"{NO_COPY}_c_int"
        opens.append(f"code = view_open_message({call_name(function)}, {rules}, {argument.name}, {view})")
        closes.append(f"code = view_drop({view}, code)" if sends else f"code = view_close({argument.name}, {view}, code)")
        prefix = argument.name[:4] + "_" if argument.name != "buffer" else ""
        replaced |= {
            argument.name: f"{view}%recv",
            f"{prefix}count": f"{view}%count",
            f"{prefix}datatype": f"{view}%datatype",
        }
    declarations += [COMMON[name] for name in tail(function)] + locals_of(function)
    body = opens[:1] + ["if (code == 0) " + line for line in opens[1:]]
    body += [f"if (code == 0) code = {c_call(function, replaced)}"] + closes + end(function)
    return f"{function.name[6:]}_typed", [a.name for a in kept] + tail(function), declarations, body


def pointer(function, kind):
    kept = [a for a in function.arguments if a.role.name not in ("options", "request_out", "status")]
    replaced = common_replaced(function)
    declarations, body = [], ["code = 0"]
    for argument in kept:
        if argument.role.name in ("sendbuf", "recvbuf"):
            declarations.append(f"type(c_ptr), value :: {argument.name}")
            replaced[argument.name] = argument.name
        elif argument.role.name == "count":
            declarations += [f"integer({kind}), intent(in) :: {argument.name}"]
            declarations += [f"integer(c_size_t) :: n_{argument.name}"]
            replaced[argument.name] = f"n_{argument.name}"
            body.append(
                f"call to_size({call_name(function)}, \"{argument.name}\"//c_null_char, int({argument.name}, int64), "
                f"n_{argument.name}, code)"
            )
        else:
            declarations.append(declare(argument.name))
    declarations += [COMMON[name] for name in tail(function)] + locals_of(function)
    body += [f"if (code == 0) code = {c_call(function, replaced)}"] + end(function)
    return f"{function.name[6:]}_pointer_{kind}", [a.name for a in kept] + tail(function), declarations, body


def message_files(functions):
    """point_to_point.inc, the procedures, and point_to_point_generics.inc, the names they go by."""
    lines, generics = [HEADER], [HEADER]
    for function in functions:
        if function.name[6:] not in FUNCTIONS:
            continue
        procedures = [typed(function)] + [pointer(function, kind) for kind in NUMBER_KINDS]
        generics += generic(function.name, [specific[0] for specific in procedures])
        for specific in procedures:
            lines += procedure(*specific)
    made = {"point_to_point.inc": lines, "point_to_point_generics.inc": generics}
    return {name: "\n".join(text).rstrip("\n") + "\n" for name, text in made.items()}
