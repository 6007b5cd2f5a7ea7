// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tutti/topology.hpp>

#include "call/fabric.hpp"

namespace tutti::detail {

/// The distance between two ranks, nearest first: a common core, last-level cache, NUMA domain, socket or node, or a
/// network.
enum class LinkLevel : std::uint8_t { core, cache, numa, socket, node, network };
inline constexpr std::size_t link_levels = 6;
inline constexpr std::array<std::string_view, link_levels> link_level_names = {"core",   "cache", "numa",
                                                                               "socket", "node",  "network"};

[[nodiscard]] LinkLevel level_between(const Place& a, const Place& b);

/// The cost of one rank's traffic and local work at one level.
struct Link {
  double latency = 0;         ///< from start to end of an empty message, once per round, in seconds
  double overhead = 0;        ///< that a further message of a round occupies its sender, or its receiver, in seconds
  double rate = 0;            ///< of one message of two that two ranks exchange, in bytes/s
  double several_rate = 0;    ///< of the messages that one rank exchanges with several at once, in bytes/s
  double shared_rate = 0;     ///< of the messages of all ranks of a node at once, in bytes/s
  double combining_rate = 0;  ///< operands that a rank combines, in bytes/s
  double copying_rate = 0;    ///< rate at which a rank copies, in bytes/s
  double long_latency = 0;    ///< of a message of more than `eager` bytes, without them
  double eager = 0;           ///< the longest message that is sent before its receiver is there; 0: any
  double one_way_rate = 0;    ///< of the messages of one rank at once, all to it or all from it; 0: as several_rate
  double passing_rate = 0;    ///< of one message while its receiver sends none back; 0: as rate
  friend bool operator==(const Link&, const Link&) = default;
};

/// The figures of messages, which `tutti tune --links` measures.
struct LinkFigure {
  std::string_view name;
  double Link::*value;
  bool is_required = true;  ///< in tables; those of earlier versions do not have all
};
inline constexpr std::array<LinkFigure, 9> link_figures{{{"latency", &Link::latency},
                                                         {"overhead", &Link::overhead},
                                                         {"rate", &Link::rate},
                                                         {"several_rate", &Link::several_rate},
                                                         {"shared_rate", &Link::shared_rate},
                                                         {"long_latency", &Link::long_latency, false},
                                                         {"eager", &Link::eager, false},
                                                         {"one_way_rate", &Link::one_way_rate, false},
                                                         {"passing_rate", &Link::passing_rate, false}}};

/// The whole model: a machine's links by level, the extra cost of a round if ranks share a core, and what becomes of
/// the network while all nodes use it.
struct Links {
  std::array<Link, link_levels> levels{};
  double switching = 0;
  Fabric fabric{};
  [[nodiscard]] const Link& operator[](LinkLevel level) const { return levels[static_cast<std::size_t>(level)]; }
  [[nodiscard]] Link& operator[](LinkLevel level) { return levels[static_cast<std::size_t>(level)]; }
  friend bool operator==(const Links&, const Links&) = default;
};

/// Returns true if the figures of messages at this level were measured.
[[nodiscard]] inline bool is_measured(const Link& link) { return link.rate > 0; }

/// The rate of several messages of a rank at once.
[[nodiscard]] inline double several_rate_of(const Link& link, bool both_ways) {
  return both_ways || link.one_way_rate == 0 ? link.several_rate : link.one_way_rate;
}

/// The rate of one message while its receiver sends none back.
[[nodiscard]] inline double passing_rate_of(const Link& link) {
  return link.passing_rate == 0 ? link.rate : link.passing_rate;
}

/// `links` with the figures of messages that were measured. A level of a node that was not measured is as the next
/// farther one that was, else as the next nearer one.
[[nodiscard]] Links with_measured(Links links, const Links& measured);

}  // namespace tutti::detail
