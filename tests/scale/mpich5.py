# SPDX-License-Identifier: BSD-3-Clause
"""The algorithms that MPICH 5 takes without variables or tables of the user, as ways of the program.

Source: the files of MPICH 5.0.1 by which it selects collectives (maint/tuning/coll: ch4/generic.json,
mpir/generic.json, ch4/posix_generic.json), the compositions that they name (src/mpid/ch4/src/ch4_coll_impl.h), and the
algorithms (src/mpi/coll). Root is 0, sums are of a built-in type, buffers are apart.

Stages on a node that MPICH does by flags and copies in shared memory ("release_gather": barrier, bcast, reduce,
allreduce) are messages here, by the schedule that the planner takes for them. Not modelled: a call that is nothing but
such a stage, and the scan of several nodes of several ranks, which no layout of the study has. A message of exactly a
threshold's length counts as short for the choice among all ranks, and as long for that of stages, as in those files.
"""
import composed

ELEMENT = 4
THROTTLE = 32  # partners at a time in an alltoall by all messages at once
LONG = 512 << 10


def is_power(number):
    return number & (number - 1) == 0


def flat(operation, size, ranks):
    """The schedule among all ranks, whatever their nodes. `size` is of the vector or of all blocks."""
    short_vector = size // ELEMENT < 1 << (ranks.bit_length() - 1)
    block = size // ranks
    if operation == "bcast":
        if ranks < 8 or size <= 12288:
            return "binomial"
        return "scatter_doubling" if is_power(ranks) and size <= LONG else "scatter_allgather"
    if operation == "reduce":
        return "binomial" if size <= 2048 or short_vector else "rabenseifner"
    if operation == "allreduce":
        return "recursive_doubling" if size <= 8 or short_vector else "rabenseifner"
    if operation == "allgather":
        if is_power(ranks):
            return "recursive_doubling" if size < LONG else "ring"
        return "bruck" if size < 81920 else "ring"
    if operation == "reduce_scatter_block":
        return "recursive_halving" if size < LONG else "pairwise"
    if operation == "alltoall":
        if ranks >= 8 and block <= 256:
            return "bruck"
        return f"scattered:{THROTTLE}" if block <= 32768 else "exchange" if is_power(ranks) else "pairwise"
    return {"barrier": "dissemination", "gather": "binomial", "scatter": "binomial", "scan": "recursive_doubling",
            "exscan": "recursive_doubling"}[operation]


def stages(operation, size, ranks):
    """Of a call on nodes of several ranks (composed.py); none where it goes among all ranks."""
    if operation == "barrier":
        return [("barrier", False, 0), ("barrier", True, 0), ("bcast", False, ELEMENT)]
    if operation == "bcast" and (ranks < 8 or size < 12288 or (is_power(ranks) and size < LONG)):
        return [("bcast", True, size), ("bcast", False, size)]
    if operation == "reduce":  # a short one ends on the node of the root
        return [("reduce", False, size), ("reduce", True, size)] + ([("reduce", False, size)] if size <= 2048 else [])
    if operation == "allreduce":
        return [("reduce", False, size), ("allreduce", True, size), ("bcast", False, size)]
    return []


def ways(choices, calls, nodes, per_node):
    """The way of each call that is modelled. `choices` asks the planner: nodes, ranks of a node, calls."""
    ranks = nodes * per_node
    wanted = {call: stages(*call, ranks) if per_node > 1 else [] for call in calls}
    on_nodes = {stage for of_call in wanted.values() for stage in of_call if not stage[1]}
    planned = composed.planned(choices, on_nodes, nodes, per_node)
    found = {}
    for call, of_call in wanted.items():
        if of_call and nodes > 1:
            found[call] = composed.way(0, [flat(stage[0], stage[2], nodes) if stage[1] else planned[stage]
                                           for stage in of_call])
        elif not of_call and (call[0] != "scan" or nodes == 1 or per_node == 1):
            found[call] = flat(*call, ranks)
    return found
