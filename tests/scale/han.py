# SPDX-License-Identifier: BSD-3-Clause
"""The compositions of HAN, the component of Open MPI 5 for several nodes, as ways of the program (program/han.hpp).

Source: Luo et al., HAN: a hierarchical autotuned collective communication framework, CLUSTER 2020, and the defaults that
Open MPI documents (ompi_info): segments of 64 KiB for bcast, reduce and allreduce, which go among nodes as libnbc sends
them; one piece for the others. The other stages go by the schedule that Tutti's planner takes for them.
"""
SEGMENT = 64 << 10
ELEMENT = 4


def stages(operation, size, node, ranks):
    """As in program/han.cpp: (operation, among nodes, bytes), where `size` is of the vector or of all blocks."""
    pieces = {"bcast": [("bcast", True, 1), ("bcast", False, 1)],
              "reduce": [("reduce", False, 1), ("reduce", True, 1)],
              "allreduce": [("reduce", False, 1), ("reduce", True, 1), ("bcast", True, 1), ("bcast", False, 1)],
              "gather": [("gather", False, 1), ("gather", True, node)],
              "scatter": [("scatter", True, node), ("scatter", False, 1)],
              "allgather": [("gather", False, 1), ("allgather", True, node), ("bcast", False, ranks)]}[operation]
    piece = min(size, SEGMENT) if segment_of(operation) else size // ranks
    for stage, across, blocks in pieces:
        groups = (ranks // node if across else node) if stage in ("gather", "scatter", "allgather") else 1
        yield stage, across, piece * blocks * groups


OPERATIONS = ("bcast", "reduce", "allreduce", "gather", "scatter", "allgather")


def segment_of(operation):
    return SEGMENT if operation in ("bcast", "reduce", "allreduce") else 0


def of_libnbc(stage, size, nodes):
    """How a segment goes among nodes."""
    if stage == "reduce":
        return "binomial"
    return "linear" if nodes <= 4 else "binomial" if size < SEGMENT else "chain"


def ways(choices, calls, nodes, per_node):
    """The way of each call that HAN composes. `choices` asks the planner: nodes, ranks of a node, calls."""
    composed = [call for call in calls if call[0] in OPERATIONS]
    wanted = {call: list(stages(*call, per_node, nodes * per_node)) for call in composed}
    found = {}
    for across in (False, True):
        asked = dict.fromkeys((stage, size) for of_call in wanted.values() for stage, is_across, size in of_call
                              if is_across == across)
        shape = (nodes, 1) if across else (1, per_node)
        found[across] = choices(*shape, list(asked))
    ways = {}
    for call, of_call in wanted.items():
        names = [of_libnbc(stage, size, nodes) if across and segment_of(call[0]) else found[across][stage, size][0][0]
                 for stage, across, size in of_call]
        ways[call] = f"han:{segment_of(call[0])}:{','.join(names)}"
    return ways
