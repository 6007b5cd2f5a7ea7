// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace tutti::detail {

/// The network between nodes as the operating system names it, as plain bytes to exchange.
struct Network {
  enum class Family : std::int32_t { unknown, infiniband, omni_path, slingshot, ethernet };
  Family family = Family::unknown;
  std::int32_t gigabits = 0;  ///< per second, of the fastest port; 0: unknown
  friend bool operator==(const Network&, const Network&) = default;
};

/// The fastest port of this node, by what is under `classes`, /sys/class by default. A host fabric comes before
/// Ethernet, whatever their rates. Local; never throws but for memory.
[[nodiscard]] Network find_network(const std::filesystem::path& classes = "/sys/class");

/// The slower of the networks of two nodes.
[[nodiscard]] Network slower(const Network& a, const Network& b);

/// "InfiniBand, 100 Gb/s".
[[nodiscard]] std::string text_of(const Network& network);

/// What messages cost on a network of that family and rate: the vendors' figures of one-way latency and message rate,
/// and the part of the rate of a port that messages reach. A prior, until `tutti tune --links` has measured.
struct NetworkFigures {
  double latency = 0;    ///< of an empty message, in seconds
  double overhead = 0;   ///< of a message at its sender or receiver, in seconds
  double rate = 0;       ///< of a rank, in bytes/s
  double node_rate = 0;  ///< of all ranks of a node, in bytes/s
};
[[nodiscard]] NetworkFigures figures_of(const Network& network);

}  // namespace tutti::detail
