// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <tutti/topology.hpp>
#include <vector>

#include "call/costs.hpp"
#include "call/signature.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

/// The distance between two ranks, nearest first: a common last-level cache, a common NUMA domain, a common node, or a
/// network.
enum class LinkLevel : std::uint8_t { cache, numa, node, network };

/// The cost of one rank's traffic and local work at one level.
struct Link {
  double latency = 0;         ///< time from start to end of an empty message, once per round, in seconds
  double overhead = 0;        ///< time that a message occupies its sender or receiver, once per message, in seconds
  double rate = 0;            ///< rate of one rank, in bytes/s
  double shared_rate = 0;     ///< rate of all ranks of a node together, in bytes/s
  double combining_rate = 0;  ///< operands that a rank combines, in bytes/s
  double copying_rate = 0;    ///< rate at which a rank copies, in bytes/s
};

/// The whole model: a machine's links by level, and the extra cost of a round if ranks share a core.
struct Links {
  std::array<Link, 4> levels{};
  double switching = 0;
  [[nodiscard]] const Link& operator[](LinkLevel level) const { return levels[static_cast<std::size_t>(level)]; }
};

/// The links of a machine with these costs on a node, and of a network of 100 Gb/s between nodes. A table of measured
/// times that covers a call takes precedence over predictions from these.
[[nodiscard]] Links links_of(const Costs& costs);

/// The links between the ranks of a call.
struct Wiring {
  schedules::Spread spread{};
  LinkLevel on_node = LinkLevel::cache;  ///< the greatest distance between two ranks of one node
  bool several_nodes = false;
  bool oversubscribed = false;
};

/// The size that Algorithm::cost takes: of the whole vector or of all blocks together, in bytes.
[[nodiscard]] double bytes_of_call(const Signature& signature, int size);

/// The time of phases with this `cost` over one level, in seconds. senders: number of ranks of a node that send at the
/// same time.
[[nodiscard]] double seconds(const schedules::Cost& cost, const Link& link, double senders, double switching);

/// The same for both levels of a hierarchical algorithm, with that cost on a node.
[[nodiscard]] double seconds_of_levels(const schedules::Cost& on_node, const schedules::LevelCost& cost,
                                       const Wiring& wiring, const Links& links);

/// The mean size of blocks, in bytes, up to which they travel between two nodes as one message: a block of that size
/// takes as long to copy twice, to and from the rank that sends for all, as a message keeps its sender busy.
[[nodiscard]] std::size_t joined_bytes(const Links& links);

/// Predicts the time of a call, in seconds. A flat algorithm is priced by the worst level that its ranks span; a
/// hierarchical algorithm by the sum of its levels. The parameters are those of LogGP: Alexandrov, Ionescu, Schauser,
/// Scheiman, LogGP, SPAA 1995.
[[nodiscard]] double predict(const schedules::Algorithm& algorithm, const Signature& signature, const Wiring& wiring,
                             const Links& links = links_of(typical_costs));

/// The node of each rank.
[[nodiscard]] std::vector<int> nodes_of(const Topology& topology);
/// The greatest distance between two ranks of one node; `node` if ranks are not bound.
[[nodiscard]] LinkLevel level_on_node(const Topology& topology);

}  // namespace tutti::detail
