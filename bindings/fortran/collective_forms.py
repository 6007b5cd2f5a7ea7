# SPDX-License-Identifier: BSD-3-Clause
"""The generic procedures of the collectives, on typed arrays and on addresses."""

from fortran_text import HEADER, generic, procedure

SEND_BLOCKS, RECV_BLOCKS, RECV_AT_ROOT, SEND_AT_ROOT, WHOLE_IN_PLACE, FREE_COUNTS = 1, 2, 4, 8, 16, 32  # view.h
NO_COPY = 64

RULES = {
    "reduce": RECV_AT_ROOT,
    "allreduce": 0,
    "scan": 0,
    "exscan": 0,
    "reduce_scatter": FREE_COUNTS,
    "reduce_scatter_block": SEND_BLOCKS | WHOLE_IN_PLACE,
    "gather": RECV_BLOCKS | RECV_AT_ROOT,
    "gatherv": FREE_COUNTS | RECV_AT_ROOT,
    "scatter": SEND_BLOCKS | SEND_AT_ROOT,
    "scatterv": FREE_COUNTS | SEND_AT_ROOT,
    "allgather": RECV_BLOCKS,
    "allgatherv": FREE_COUNTS,
    "alltoall": SEND_BLOCKS | RECV_BLOCKS,
    "alltoallv": FREE_COUNTS,
}
ONE_BUFFER = ("allreduce", "reduce", "scan", "exscan")
NUMBER_KINDS = ("int32", "int64")

COMMON = {
    "comm": "type(tutti_comm), intent(in) :: comm",
    "op": "type(tutti_op), intent(in) :: op",
    "root": "integer, intent(in) :: root",
    "request": "type(tutti_request), intent(inout) :: request",
    "options": "type(tutti_options), intent(in), optional :: options",
    "ierror": "integer, intent(out), optional :: ierror",
    "datatype": "type(tutti_datatype), intent(in) :: datatype",
    "status": "type(tutti_status), intent(out), optional :: status",
}
for word in ("dest", "source", "tag", "send_tag", "recv_tag"):
    COMMON[word] = f"integer, intent(in) :: {word}"
for word in ("send_datatype", "recv_datatype"):
    COMMON[word] = f"type(tutti_datatype), intent(in) :: {word}"
LOCALS = ["type(option_values), target :: values", "integer(c_int) :: code"]


def array(name, intent, asynchronous):
    return f"type(*), dimension(..), intent({intent}){', asynchronous' if asynchronous else ''} :: {name}"


def numbers(argument, kind):
    rank = "(:)" if argument.role.name == "counts" else ""
    return f"integer({kind}), intent(in) :: {argument.name}{rank}"


def tail(function):
    return ["request"] * (function.form != "blocking") + ["options", "ierror"]


def c_call(function, replaced):
    """The call of the C function, arguments replaced by name."""
    standard = {"comm": "comm%handle", "op": "op%handle", "root": "int(root, c_int)", "request": "request%handle"}
    standard["options"] = "address_of(options, values)"
    standard |= replaced
    arguments = ", ".join(standard[argument.name] for argument in function.arguments)
    return f"c_{function.name[6:]}({arguments})"


def call_name(function):
    return f'"{function.name}"//c_null_char'


def rules_of(function):
    return RULES.get(function.operation, 0) | (NO_COPY if function.form != "blocking" else 0)


def opening(function, open_it, rules, root, buffers):
    """The look at the descriptors of a call. A call that never packs need not know what memory the arrays are in."""
    if not rules_of(function) & NO_COPY:
        rules = f"with_memory({rules}, options)"
    return f"code = {open_it}({call_name(function)}, comm%handle, {rules}, {root}, {buffers}, view)"


def looked_at(function, side):
    """When this rank's arrays of counts of a side mean something."""
    rules = rules_of(function)
    if side == "recv" and rules & RECV_AT_ROOT or side == "send" and rules & SEND_AT_ROOT:
        return "view%rank == root"
    if side == "send":
        return "view%sees_send /= 0"
    return ".true."


def check_counts(function, available):
    """Statements that turn the arrays of counts into C's, and check them against the arrays where there are any."""
    arrays = [argument.name for argument in function.arguments if argument.role.name == "counts"]
    lines = []
    for name in arrays:
        lines.append(
            f"if (code == 0) call to_sizes({call_name(function)}, \"{name}\"//c_null_char, {name}, "
            f"int(view%ranks), {looked_at(function, name[:4])}, sizes_{name}, code)"
        )
    if not available:
        return lines
    for side in ("send", "recv"):
        if f"{side}_displs" in arrays:
            lines.append(
                f"if (code == 0 .and. view%sees_{side} /= 0) code = view_fits({call_name(function)}, "
                f"\"{side}buf\"//c_null_char, view%{side}_count, int(view%ranks, c_size_t), "
                f"sizes_{side}_counts, sizes_{side}_displs)"
            )
    if function.operation == "reduce_scatter":
        lines.append(f"if (code == 0) code = fits_reduce_scatter({call_name(function)}, view, sizes_recv_counts)")
    return lines


def sizes(function):
    return [
        f"integer(c_size_t), allocatable :: sizes_{argument.name}(:)"
        for argument in function.arguments
        if argument.role.name == "counts"
    ]


def replaced_counts(function):
    return {a.name: f"sizes_{a.name}" for a in function.arguments if a.role.name == "counts"}


def typed(function, kind):
    """On arrays of any type, kind and rank: what C must be told comes from the arrays."""
    asynchronous = function.form != "blocking"
    kept = [a for a in function.arguments if a.role.name not in ("count", "datatype", "options", "request_out")]
    declarations = []
    for argument in kept:
        if argument.role.name == "sendbuf":
            declarations.append(array("sendbuf", "in", asynchronous))
        elif argument.role.name in ("recvbuf", "buffer"):
            declarations.append(array(argument.name, "inout", asynchronous))
        elif argument.role.name == "counts":
            declarations.append(numbers(argument, kind))
        else:
            declarations.append(COMMON[argument.name])
    declarations += [COMMON[name] for name in tail(function)] + ["type(view_call) :: view"] + LOCALS + sizes(function)
    root = "int(root, c_int)" if any(a.name == "root" for a in kept) else "-1_c_int"
    rules = f"{rules_of(function)}_c_int"
    one = function.operation == "bcast"
    buffers = "buffer" if one else "sendbuf, recvbuf"
    open_it = "view_open_one" if one else "view_open"
    opening_root = "-1_c_int" if one else root
    body = [opening(function, open_it, rules, opening_root, buffers)]
    body += check_counts(function, True)
    call = c_call(
        function,
        {
            "sendbuf": "view%send",
            "recvbuf": "view%recv",
            "buffer": "view%recv",
            "count": "view%count",
            "send_count": "view%send_count",
            "recv_count": "view%recv_count",
            "datatype": "view%datatype",
        }
        | replaced_counts(function),
    )
    body += [f"if (code == 0) code = {call}"]
    body += [f"code = view_close({'buffer' if one else 'recvbuf'}, view, code)", "call finish(code, ierror)"]
    suffix = f"_{kind}" if sizes(function) else ""
    return f"{function.name[6:]}_typed{suffix}", [a.name for a in kept] + tail(function), declarations, body


def in_place(function):
    """On one array, in place. The operation has a name of its own, by which the generic tells the forms apart."""
    asynchronous = function.form != "blocking"
    has_root = any(a.name == "root" for a in function.arguments)
    arguments = ["comm", "inout", "inout_op"] + ["root"] * has_root + tail(function)
    declarations = [COMMON["comm"], array("inout", "inout", asynchronous), "type(tutti_op), intent(in) :: inout_op"]
    declarations += [COMMON[name] for name in arguments[3:]] + ["type(view_call) :: view"] + LOCALS
    root = "int(root, c_int)" if has_root else "-1_c_int"
    rules = f"{rules_of(function) & NO_COPY}_c_int"
    call = c_call(
        function,
        {
            "sendbuf": "view%send",
            "recvbuf": "view%recv",
            "count": "view%count",
            "datatype": "view%datatype",
            "op": "inout_op%handle",
        },
    )
    body = [
        opening(function, "view_open_one", rules, root, "inout"),
        f"if (code == 0) code = {call}",
        "code = view_close(inout, view, code)",
        "call finish(code, ierror)",
    ]
    return f"{function.name[6:]}_in_place", arguments, declarations, body


def pointer(function, kind):
    """On addresses: device memory, and whatever else has no descriptor."""
    kept = [a for a in function.arguments if a.role.name not in ("options", "request_out")]
    declarations, replaced = [], {"datatype": "datatype%handle"}
    for argument in kept:
        if argument.role.name in ("sendbuf", "recvbuf", "buffer"):
            declarations.append(f"type(c_ptr), value :: {argument.name}")
            replaced[argument.name] = f"view_address({argument.name})"
        elif argument.role.name in ("count", "counts"):
            declarations.append(numbers(argument, kind))
            replaced[argument.name] = f"sizes_{argument.name}" if argument.role.name == "counts" else f"n_{argument.name}"
        else:
            declarations.append(COMMON[argument.name])
    counts = [a.name for a in kept if a.role.name == "count"]
    declarations += [COMMON[name] for name in tail(function)] + LOCALS + sizes(function)
    declarations += [f"integer(c_size_t) :: n_{name}" for name in counts]
    body = ["code = 0"]
    for name in counts:
        body.append(f"call to_size({call_name(function)}, \"{name}\"//c_null_char, int({name}, int64), n_{name}, code)")
    if sizes(function):
        declarations.append("type(view_call) :: view")
        send = "sendbuf" if any(a.name == "sendbuf" for a in kept) else "c_null_ptr"
        body.append(f"if (code == 0) code = view_begin(comm%handle, {send}, view)")
        body += check_counts(function, False)
    body += [f"if (code == 0) code = {c_call(function, replaced)}", "call finish(code, ierror)"]
    return f"{function.name[6:]}_pointer_{kind}", [a.name for a in kept] + tail(function), declarations, body


def plain(function):
    """A collective without buffers."""
    arguments = ["comm"] + tail(function)
    declarations = [COMMON[name] for name in arguments] + LOCALS
    body = [f"code = {c_call(function, {})}", "call finish(code, ierror)"]
    return f"{function.name[6:]}_plain", arguments, declarations, body


def specifics(function):
    if function.operation == "barrier":
        return [plain(function)]
    kinds = NUMBER_KINDS if sizes(function) else NUMBER_KINDS[:1]
    made = [typed(function, kind) for kind in kinds]
    if function.operation in ONE_BUFFER:
        made.append(in_place(function))
    return made + [pointer(function, kind) for kind in NUMBER_KINDS]


def collective_files(functions):
    """<operation>.inc, the procedures, and generics.inc, the names they go by."""
    made, generics = {}, [HEADER]
    for function in functions:
        if not function.operation:
            continue
        name = f"{function.operation}.inc"
        made.setdefault(name, [HEADER])
        procedures = specifics(function)
        generics += generic(function.name, [specific[0] for specific in procedures])
        for specific in procedures:
            made[name] += procedure(*specific)
    made["generics.inc"] = generics
    return {name: "\n".join(lines).rstrip("\n") + "\n" for name, lines in made.items()}

