// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "call/fabric.hpp"
#include "tools/link_measurement.hpp"

namespace tutti::tools {

/// The nodes of the ranks in their order, each with its ranks.
using NodeRanks = std::vector<std::vector<int>>;
[[nodiscard]] NodeRanks ranks_by_node(std::span<const Place> places);

/// Pairs of the ranks at the same place of two nodes whose numbers differ in that binary digit, of as many ranks of
/// each node as the smallest one has.
[[nodiscard]] Pairs pairs_apart(unsigned digit, const NodeRanks& nodes);

/// Measures what the network carries while all nodes use it, with all ranks of the nodes. Collective, like
/// measure_links(). Nothing on fewer than three nodes, which have one distance.
[[nodiscard]] detail::Fabric measure_fabric(MPI_Comm comm, std::span<const Place> places,
                                            const LinkEffort& effort = {});

}  // namespace tutti::tools
