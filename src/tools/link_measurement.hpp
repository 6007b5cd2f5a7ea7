// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <span>
#include <utility>
#include <vector>

#include "call/fabric.hpp"
#include "call/links.hpp"
#include "call/network_groups.hpp"

/// Measures messages by level. Needs MPI alone, so that a simulated network is measured by the same code.
namespace tutti::tools {

/// Pairs of ranks at one distance, on as few nodes as give the most pairs of a node, or of two. No rank is in two.
using Pairs = std::vector<std::pair<int, int>>;
[[nodiscard]] Pairs pairs_at(detail::LinkLevel level, std::span<const Place> places);

/// The ranks on a rank's node at this level or nearer, at most so many, if `most` is even: each has those among its own
/// whose own it is among.
[[nodiscard]] std::vector<int> partners_within(detail::LinkLevel level, int rank, std::span<const Place> places,
                                               std::size_t most);

/// The figures of one level, and the rate of each rank while so many pairs exchange long messages at once.
struct LinkMeasurement {
  detail::LinkLevel level{};
  detail::Link link{};
  struct Load {
    int pairs = 0;
    double rate = 0;
  };
  std::vector<Load> loads;
};

/// How often each figure is measured: the least of so many times counts.
struct LinkEffort {
  int times = 15;
  int long_times = 5;
};

/// Measures all levels at which the ranks have pairs. Collective; blocks in MPI, so ranks should have cores of their
/// own. Equal on all ranks: the worst that any pair has seen.
[[nodiscard]] std::vector<LinkMeasurement> measure_links(MPI_Comm comm, std::span<const Place> places,
                                                         const LinkEffort& effort = {});

/// The links of the model.
[[nodiscard]] detail::Links links_of(std::span<const LinkMeasurement> measured);

/// The nodes of the ranks in their order, each with its ranks.
using NodeRanks = std::vector<std::vector<int>>;
[[nodiscard]] NodeRanks ranks_by_node(std::span<const Place> places);

/// Pairs of the ranks at the same place of two nodes whose numbers differ in that binary digit, of as many ranks of
/// each node as the smallest one has.
[[nodiscard]] Pairs pairs_apart(unsigned digit, const NodeRanks& nodes);

/// The same pairs of nodes whose groups differ at so many levels, from the smallest groups on: each node is in one at
/// most, the first ones of two groups first.
[[nodiscard]] Pairs pairs_between_groups(std::size_t apart, const detail::NetworkLevels& groups,
                                         const NodeRanks& nodes);

/// Adds what was measured by group to a fabric of all nodes at once. Collective, like measure_links(). Nothing without
/// groups.
void measure_groups(MPI_Comm comm, std::span<const Place> places, const detail::NetworkLevels& groups,
                    detail::Fabric& fabric, const LinkEffort& effort = {});

/// Measures what the network carries while all nodes use it, with all ranks of the nodes. Collective, like
/// measure_links(). Nothing on fewer than three nodes, which have one distance.
[[nodiscard]] detail::Fabric measure_fabric(MPI_Comm comm, std::span<const Place> places,
                                            const LinkEffort& effort = {});

}  // namespace tutti::tools
