// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <tutti/topology.hpp>
#include <vector>

#include "call/signature.hpp"
#include "schedules/registry.hpp"

namespace tutti::detail {

/// What lies between two ranks, nearest first: a common last-level cache, a common NUMA domain, a common node, or a
/// network.
enum class LinkLevel : std::uint8_t { cache, numa, node, network };

/// What one rank's traffic and local work take at one level.
struct Link {
  double latency = 0;         ///< seconds from a message's start to its end, but for its bytes: once a round
  double overhead = 0;        ///< seconds that a message keeps its sender or receiver: once a message
  double rate = 0;            ///< bytes a second of one rank
  double shared_rate = 0;     ///< bytes a second of all ranks of a node together
  double combining_rate = 0;  ///< bytes of operands that a rank combines a second
  double copying_rate = 0;    ///< bytes that a rank copies a second
};

/// The whole model: a machine's links, by level, and what a round costs beside its link where ranks share a core.
struct Links {
  std::array<Link, 4> levels{};
  double switching = 0;
  [[nodiscard]] const Link& operator[](LinkLevel level) const { return levels[static_cast<std::size_t>(level)]; }
};

/// Of a server of today and a network of 100 Gb/s. Where a table of measured times covers a call, it goes before all
/// that is predicted from these.
[[nodiscard]] const Links& typical_links();

/// How the ranks of a call are linked.
struct Wiring {
  schedules::Spread spread{};
  LinkLevel on_node = LinkLevel::cache;  ///< the farthest that two ranks of one node are apart
  bool several_nodes = false;
  bool oversubscribed = false;
};

/// Bytes as Algorithm::cost wants them: of the whole vector, or of all blocks together.
[[nodiscard]] double bytes_of_call(const Signature& signature, int size);

/// Seconds of phases that do what `cost` says over one level. senders: ranks of a node that send at one time.
[[nodiscard]] double seconds(const schedules::Cost& cost, const Link& link, double senders, double switching);

/// Predicted seconds of a call. A flat algorithm is priced by the worst level that its ranks span; a hierarchical one
/// is the sum of its levels. LogGP's parameters: Alexandrov, Ionescu, Schauser, Scheiman, LogGP, SPAA 1995.
[[nodiscard]] double predict(const schedules::Algorithm& algorithm, const Signature& signature, const Wiring& wiring,
                             const Links& links = typical_links());

/// The node of each rank.
[[nodiscard]] std::vector<int> nodes_of(const Topology& topology);
/// The farthest that two ranks of one node are apart; `node` where ranks are not bound.
[[nodiscard]] LinkLevel level_on_node(const Topology& topology);

}  // namespace tutti::detail
