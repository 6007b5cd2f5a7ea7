# SPDX-License-Identifier: BSD-3-Clause
"""Calls that are composed of stages on nodes and among the first ranks of nodes, as ways of the program
(program/composed.hpp). A stage is (operation, among nodes, bytes), of the vector or of all blocks."""


def planned(choices, wanted, nodes, per_node):
    """What the planner takes for each stage. `choices` asks it: nodes, ranks of a node, calls."""
    found = {}
    for across, shape in ((False, (1, per_node)), (True, (nodes, 1))):
        asked = dict.fromkeys((operation, size) for operation, is_across, size in wanted if is_across == across)
        ways = choices(*shape, list(asked)) if asked else {}
        found |= {(operation, across, size): ways[operation, size][0][0] for operation, size in asked}
    return found


def way(segment, names):
    """`names`: a schedule for each stage; `segment`: bytes, 0 for all in one."""
    return f"composed:{segment}:{','.join(names)}"
