# SPDX-License-Identifier: BSD-3-Clause
"""The procedures of the collectives, on typed arrays and on addresses."""

from fortran_text import Procedure, exact_twins, in_turn, int32_twin

SEND_BLOCKS, RECV_BLOCKS, RECV_AT_ROOT, SEND_AT_ROOT, WHOLE_IN_PLACE, FREE_COUNTS = 1, 2, 4, 8, 16, 32  # view.h
NO_COPY = 64
LAYOUTS = 256
NEIGHBORS = 512
WITH_LAYOUTS = ("bcast", "gather", "scatter", "allgather", "alltoall")

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
    "neighbor_allgather": RECV_BLOCKS | NEIGHBORS,
    "neighbor_allgatherv": FREE_COUNTS | NEIGHBORS,
    "neighbor_alltoall": SEND_BLOCKS | RECV_BLOCKS | NEIGHBORS,
    "neighbor_alltoallv": FREE_COUNTS | NEIGHBORS,
    "neighbor_alltoallw": NEIGHBORS,
}
ONE_BUFFER = ("allreduce", "reduce", "scan", "exscan")

COMMON = {
    "comm": "type(tutti_comm), intent(in) :: comm",
    "op": "type(tutti_op), intent(in) :: op",
    "root": "integer, intent(in) :: root",
    "request": "type(tutti_request), intent(inout) :: request",
    "options": "type(tutti_options), intent(in), optional :: options",
    "ierror": "integer, intent(out), optional :: ierror",
    "tag": "integer, intent(in), optional :: tag",
    "datatype": "type(tutti_datatype), intent(in) :: datatype",
    "status": "type(tutti_status), intent(out), optional :: status",
}
for word in ("dest", "source", "send_tag", "recv_tag"):
    COMMON[word] = f"integer, intent(in) :: {word}"
for word in ("send_datatype", "recv_datatype"):
    COMMON[word] = f"type(tutti_datatype), intent(in) :: {word}"
LOCALS = ["type(option_values), target :: values", "integer(c_int) :: code"]
VIEW = "type(view_call) :: view"


def array(name, intent, asynchronous):
    return f"type(*), dimension(..), intent({intent}){', asynchronous' if asynchronous else ''} :: {name}"


def number(argument):
    """A count, or an array of one number for each rank."""
    return f"integer(int64), intent(in) :: {argument.name}{'(:)' if argument.role.name == 'counts' else ''}"


def named(function, *roles):
    return [argument.name for argument in function.arguments if argument.role.name in roles]


def tail(function):
    """The arguments after those of the operation itself."""
    names = ["request"] * (function.form != "blocking") + ["options", "ierror"]
    return {name: COMMON[name] for name in names}


def quoted(function):
    return f'"{function.name}"'


def c_call(function, replaced):
    """The call of the C function, with some arguments replaced by name."""
    standard = {"comm": "comm%handle", "op": "op%handle", "root": "int(root, c_int)", "request": "request%handle"}
    standard["options"] = "address_of(options, values)"
    standard |= replaced
    arguments = ", ".join(standard[argument.name] for argument in function.arguments)
    return f"code = c_{function.name[6:]}({arguments})"


def rules_of(function):
    rules = RULES.get(function.operation, 0)
    if function.form == "blocking":
        return rules
    return rules | NO_COPY | (LAYOUTS if function.operation in WITH_LAYOUTS else 0)


def opening(function, rules, root, buffers):
    """Reads the descriptors of a call. Only a call that may pack has to know which memory the arrays are in."""
    rules = f"{rules}_c_int" if rules & NO_COPY else f"with_memory({rules}_c_int, options)"
    one = len(buffers) == 1
    names = quoted(function) + "//c_null_char" + (f', "{buffers[0]}"//c_null_char' if one else "")
    open_it = "view_open_one" if one else "view_open"
    return f"code = {open_it}({names}, comm%handle, {rules}, {root}, {', '.join(buffers)}, view)"


def pairs(function, buffers):
    """Lets minloc and maxloc see pairs where a reduction has arrays of reals or integers."""
    if not named(function, "op"):
        return []
    return [f"code = view_pairs({quoted(function)}//c_null_char, op%handle, {buffers[0]}, {buffers[-1]}, view)"]


def is_read(function, side):
    """Whether this rank's arrays of counts of a side are read."""
    rules = rules_of(function)
    if side == "recv" and rules & RECV_AT_ROOT or side == "send" and rules & SEND_AT_ROOT:
        return "view%rank == root"
    return "view%sees_send /= 0" if side == "send" else ".true."


def convert_counts(function):
    """Statements that turn the arrays of counts into C's."""
    return [
        f'call to_sizes({quoted(function)}, "{name}", {name}, view, {is_read(function, name[:4])}, c_{name}, code)'
        for name in named(function, "counts")
    ]


def check_counts(function):
    """Statements that compare the counts with the elements of the arrays."""
    counts = named(function, "counts")
    lines = [
        f'call check_blocks({quoted(function)}, "{side}buf", view%sees_{side}, view%{side}_count, c_{side}_counts, '
        f"c_{side}_displs, code)"
        for side in ("send", "recv")
        if f"{side}_displs" in counts
    ]
    if function.operation == "reduce_scatter":
        lines.append(f"code = fits_reduce_scatter({quoted(function)}, view, c_recv_counts)")
    return lines


def c_counts(function):
    return [f"integer(c_size_t), allocatable :: c_{name}(:)" for name in named(function, "counts")]


def typed(function):
    """On arrays of any type, kind and rank: type, kind and sizes come from the arrays."""
    asynchronous = function.form != "blocking"
    dummies = {}
    for argument in function.arguments:
        role = argument.role.name
        if role in ("count", "datatype", "options", "request_out"):
            continue
        if role in ("sendbuf", "recvbuf", "buffer"):
            dummies[argument.name] = array(argument.name, "in" if role == "sendbuf" else "inout", asynchronous)
        else:
            dummies[argument.name] = number(argument) if role == "counts" else COMMON[argument.name]
    is_bcast = function.operation == "bcast"
    root = "int(root, c_int)" if "root" in dummies and not is_bcast else "-1_c_int"
    replaced = {"sendbuf": "view%send", "recvbuf": "view%recv", "buffer": "view%recv", "datatype": "view%datatype"}
    replaced |= {name: f"view%{name}" for name in ("count", "send_count", "recv_count")}
    replaced |= {name: f"c_{name}" for name in named(function, "counts")}
    buffers = ["buffer"] if is_bcast else ["sendbuf", "recvbuf"]
    body = [opening(function, rules_of(function), root, buffers)] + pairs(function, buffers)
    body += convert_counts(function) + check_counts(function) + [c_call(function, replaced)]
    body = in_turn(body) + [f"code = view_close({buffers[-1]}, view, code)", "call finish(code, ierror)"]
    suffix = "_int64" if named(function, "counts") else ""
    return Procedure(
        f"{function.name[6:]}_typed{suffix}", dummies | tail(function), [VIEW] + LOCALS + c_counts(function), body
    )


def in_place(function):
    """On one array, in place."""
    has_root = "root" in named(function, "root")
    dummies = {
        "comm": COMMON["comm"],
        "inout": array("inout", "inout", function.form != "blocking"),
        "op": COMMON["op"],
    }
    dummies |= {"root": COMMON["root"]} if has_root else {}
    replaced = {"sendbuf": "view%send", "recvbuf": "view%recv", "count": "view%count", "datatype": "view%datatype"}
    root = "int(root, c_int)" if has_root else "-1_c_int"
    body = [opening(function, rules_of(function) & NO_COPY, root, ["inout"])] + pairs(function, ["inout"])
    body = in_turn(body + [c_call(function, replaced)])
    body += ["code = view_close(inout, view, code)", "call finish(code, ierror)"]
    return Procedure(f"{function.name[6:]}_in_place", dummies | tail(function), [VIEW] + LOCALS, body)


def begin(function, sendbuf):
    return f"code = view_begin(comm%handle, {RULES.get(function.operation, 0) & NEIGHBORS}_c_int, {sendbuf}, view)"


def check_sizes(function):
    return [f'code = check_count({quoted(function)}, "{name}", {name})' for name in named(function, "count")]


def pointer(function):
    """On addresses: device memory, and everything else that has no descriptor."""
    dummies, replaced = {}, {"datatype": "datatype%handle"}
    for argument in function.arguments:
        role, name = argument.role.name, argument.name
        if role in ("options", "request_out"):
            continue
        if role in ("sendbuf", "recvbuf", "buffer"):
            dummies[name] = f"type(c_ptr), value :: {name}"
            replaced[name] = f"view_address({name})"
        elif role in ("count", "counts"):
            dummies[name] = number(argument)
            replaced[name] = f"c_{name}" if role == "counts" else f"int({name}, c_size_t)"
        else:
            dummies[name] = COMMON[name]
    body, local = check_sizes(function), list(LOCALS)
    if named(function, "counts"):
        local += [VIEW] + c_counts(function)
        body += [begin(function, "sendbuf")] + convert_counts(function)
    body = in_turn(body + [c_call(function, replaced)]) + ["call finish(code, ierror)"]
    return Procedure(f"{function.name[6:]}_pointer_int64", dummies | tail(function), local, body)


def of_blocks(function):
    """On arrays of which each block has its own datatype, and its place in bytes: only their addresses count."""
    dummies, opens, checks = {}, [], []
    replaced = {name: f"c_{name}" for name in named(function, "counts")}
    views = {"sendbuf": "outgoing", "recvbuf": "incoming"}
    for argument in function.arguments:
        role, name = argument.role.name, argument.name
        if name in views:
            dummies[name] = array(name, "in" if role == "sendbuf" else "inout", function.form != "blocking")
            names = f'{quoted(function)}//c_null_char, "{name}"//c_null_char'
            opens.append(f"code = view_open_message({names}, {NO_COPY}_c_int, {name}, {views[name]})")
            replaced[name] = f"{views[name]}%recv"
        elif role == "counts":
            dummies[name] = number(argument)
        elif role in ("distances", "datatypes"):
            word = "integer(int64)" if role == "distances" else "type(tutti_datatype)"
            dummies[name] = f"{word}, intent(in) :: {name}(:)"
            replaced[name] = f"int({name}, c_ptrdiff_t)" if role == "distances" else f"{name}%handle"
            checks.append(f'call check_each({quoted(function)}, "{name}", size({name}), view, code)')
        elif role == "comm":
            dummies[name] = COMMON[name]
    local = ["type(view_call) :: view, outgoing, incoming"] + LOCALS + c_counts(function)
    body = [begin(function, "c_null_ptr")] + opens + convert_counts(function) + checks + [c_call(function, replaced)]
    body = in_turn(body) + ["call finish(code, ierror)"]
    return Procedure(f"{function.name[6:]}_typed_int64", dummies | tail(function), local, body)


def plain(function):
    """A collective without buffers."""
    dummies = {"comm": COMMON["comm"]} | tail(function)
    return Procedure(f"{function.name[6:]}_plain", dummies, LOCALS, [c_call(function, {}), "call finish(code, ierror)"])


def specifics(function):
    if function.operation == "barrier":
        return [plain(function)]
    counts = named(function, "counts")
    if named(function, "datatypes"):
        wide = of_blocks(function)
        return [wide, int32_twin(wide, counts)]
    made = [typed(function)]
    if counts:
        made.append(int32_twin(made[0], counts))
    if function.operation in ONE_BUFFER:
        made = exact_twins(made[0]) + exact_twins(in_place(function))
    wide = pointer(function)
    return made + [wide, int32_twin(wide, named(function, "count", "counts"))]


def collective_forms(functions):
    """The procedures by generic name."""
    return {function.name: specifics(function) for function in functions if function.operation}
