// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/topology.hpp>
#include <vector>

#include "call/costs.hpp"
#include "call/links.hpp"
#include "core/network.hpp"
#include "operation/signature.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

/// The links of a machine with these costs on a node, and of a network of that family between nodes. Links and times
/// that were measured take precedence.
[[nodiscard]] Links links_of(const Costs& costs, const Network& network = {});

/// The links in the form that flat_for() takes, for at most `per_node` ranks on each of so many nodes. Rounded, so that
/// ranks choose alike whatever their last bits.
[[nodiscard]] schedules::Starts starts_of(const Links& links, LinkLevel on_node, int nodes, int per_node);

/// The links between the ranks of a call.
struct Wiring {
  schedules::Spread spread{};
  LinkLevel on_node = LinkLevel::cache;  ///< the greatest distance between two ranks of one node
  bool several_nodes = false;
  bool oversubscribed = false;
};

/// The size that cost_of() takes: of the whole vector or of all blocks together, in bytes.
[[nodiscard]] double bytes_of_call(const Signature& signature, int size);

/// The part of a call's buffers that the last-level caches do not hold, because those of all ranks fill them.
[[nodiscard]] double lost_part(const Signature& signature, int size, const Costs& costs);
/// What is added to a copy between processes that takes `warm` seconds a byte of data in the caches, if they have lost
/// that part of it, in seconds a byte.
[[nodiscard]] double cold_seconds(double warm, double lost, const Costs& costs);

/// The ranks of a node that send at once, whether they receive at the same time, and the part of their work on messages
/// that hides behind the bytes that move, or the other way round.
struct Crowd {
  double senders = 1;
  bool both_ways = true;
  double hidden = schedules::mostly_hidden;
  schedules::Factors factors{};
};

/// The time of phases with this `cost` over one level, in seconds.
[[nodiscard]] double seconds(const schedules::Cost& cost, const Link& link, const Crowd& crowd, double switching);

/// The time of a hierarchical algorithm between nodes and of its local work, in seconds.
[[nodiscard]] double seconds_across(const schedules::LevelCost& cost, const Wiring& wiring, const Links& links);

/// The mean size of blocks, in bytes, up to which they travel between two nodes as one message: a block of that size
/// takes as long to copy twice, to and from the rank that sends for all, as a message keeps its two ends busy.
[[nodiscard]] std::size_t joined_bytes(const Links& links);

/// Predicts the time of a call, in seconds: the sum of the levels. The part of a flat algorithm that stays on a node
/// follows from the reach of its messages. The parameters are those of LogGP: Alexandrov, Ionescu, Schauser,
/// Scheiman, LogGP, SPAA 1995.
[[nodiscard]] double predict(const schedules::Algorithm& algorithm, const Signature& signature, const Wiring& wiring,
                             const Links& links = links_of(typical_costs));

/// The node of each rank.
[[nodiscard]] std::vector<int> nodes_of(const Topology& topology);
/// The greatest distance between two ranks of one node; `node` if ranks are not bound.
[[nodiscard]] LinkLevel level_on_node(const Topology& topology);

}  // namespace tutti::detail
