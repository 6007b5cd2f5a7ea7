# SPDX-License-Identifier: BSD-3-Clause
"""The compositions of HAN, the component of Open MPI 5 for several nodes, as ways of the program.

Source: Luo et al., HAN: a hierarchical autotuned collective communication framework, CLUSTER 2020, and the defaults that
Open MPI documents (ompi_info): segments of 64 KiB for bcast, reduce and allreduce, which go among nodes as libnbc sends
them; one piece for the others. The other stages go by the schedule that Tutti's planner takes for them.
"""
import composed

SEGMENT = 64 << 10


def stages(operation, size, node, ranks):
    """The stages (composed.py) of a call on nodes of `node` ranks, `ranks` in all."""
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
    """The way of each call that HAN composes, which is for several nodes of several ranks."""
    if nodes == 1 or per_node == 1:
        return {}
    wanted = {call: list(stages(*call, per_node, nodes * per_node)) for call in calls if call[0] in OPERATIONS}
    found = composed.planned(choices, {stage for of_call in wanted.values() for stage in of_call}, nodes, per_node)
    return {call: composed.way(segment_of(call[0]), [
        of_libnbc(stage[0], stage[2], nodes) if stage[1] and segment_of(call[0]) else found[stage]
        for stage in of_call]) for call, of_call in wanted.items()}
