# SPDX-License-Identifier: BSD-3-Clause
"""The procedures of point-to-point, on typed arrays and on addresses."""

from collective_forms import COMMON, LAYOUTS, LOCALS, NO_COPY, array, c_call, check_sizes, named, number, quoted
from fortran_text import Procedure, in_turn, int32_twin

FUNCTIONS = ("send", "recv", "sendrecv", "isend", "irecv", "send_init", "recv_init", "group_send", "group_recv")
DECLARED = COMMON | {"group": "type(tutti_group), intent(in) :: group"}


def names_of(function):
    return {argument.name for argument in function.arguments}


def tail(function):
    """The arguments after the message itself, in the module's order."""
    names = [name for name in ("request", "status", "options") if name in names_of(function)] + ["ierror"]
    return {name: COMMON[name] for name in names}


def common_replaced(function):
    replaced = {"group": "group%handle", "status": "c_loc(found)"}
    replaced |= {name: f"int({name}, c_int)" for name in named(function, "rank", "tag")}
    replaced |= {"tag": "tag_of(tag)"} if "tag" in names_of(function) else {}
    return replaced | {name: f"{name}%handle" for name in named(function, "datatype")}


def locals_of(function):
    needed = LOCALS[1:] if "options" not in names_of(function) else LOCALS
    return needed + ["type(tutti_status), target :: found"] * ("status" in names_of(function))


def end(function):
    return ["if (present(status)) status = found"] * ("status" in names_of(function)) + ["call finish(code, ierror)"]


def typed(function):
    waits = function.kind == "blocking"
    replaced = common_replaced(function)
    dummies, views, opens, closes = {}, [], [], []
    for argument in function.arguments:
        role, name = argument.role.name, argument.name
        if role in ("count", "datatype", "options", "request_out", "status"):
            continue
        if role not in ("sendbuf", "recvbuf"):
            dummies[name] = DECLARED[name]
            continue
        sends = role == "sendbuf"
        view = "outgoing" if sends else "incoming"
        dummies[name] = array(name, "in" if sends else "inout", not waits)
        views.append(f"type(view_call) :: {view}")
        rules = "with_memory(0_c_int, options)" if waits else f"{NO_COPY | LAYOUTS}_c_int"
        names = f'{quoted(function)}//c_null_char, "{name}"//c_null_char'
        opens.append(f"code = view_open_message({names}, {rules}, {name}, {view})")
        closes.append(f"code = view_drop({view}, code)" if sends else f"code = view_close({name}, {view}, code)")
        prefix = name[:4] + "_" if name != "buffer" else ""
        replaced[name] = f"{view}%recv"
        replaced |= {f"{prefix}{word}": f"{view}%{word}" for word in ("count", "datatype")}
    body = in_turn(opens + [c_call(function, replaced)]) + closes + end(function)
    return Procedure(f"{function.name[6:]}_typed", dummies | tail(function), views + locals_of(function), body)


def pointer(function):
    replaced = common_replaced(function)
    dummies = {}
    for argument in function.arguments:
        role, name = argument.role.name, argument.name
        if role in ("options", "request_out", "status"):
            continue
        if role in ("sendbuf", "recvbuf"):
            dummies[name] = f"type(c_ptr), value :: {name}"
            replaced[name] = name
        elif role == "count":
            dummies[name] = number(argument)
            replaced[name] = f"int({name}, c_size_t)"
        else:
            dummies[name] = DECLARED[name]
    body = in_turn(check_sizes(function) + [c_call(function, replaced)]) + end(function)
    return Procedure(f"{function.name[6:]}_pointer_int64", dummies | tail(function), locals_of(function), body)


def tagless(procedure):
    """The procedure without tags, where they stand before arguments that must be there and so cannot be optional."""
    tags = [name for name in procedure.dummies if name.endswith("_tag")]
    if not tags:
        return []
    dummies = {name: declaration for name, declaration in procedure.dummies.items() if name not in tags}
    arguments = ["0" if name in tags else name for name in procedure.dummies]
    return [Procedure(f"{procedure.name}_tagless", dummies, [], [f"call {procedure.name}({', '.join(arguments)})"])]


def specifics(function):
    wide, on_arrays = pointer(function), typed(function)
    return [on_arrays, *tagless(on_arrays), wide, int32_twin(wide, named(function, "count"))]


def message_forms(functions):
    """The procedures by generic name."""
    return {function.name: specifics(function) for function in functions if function.name[6:] in FUNCTIONS}
