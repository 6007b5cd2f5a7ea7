// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tutti::scale {

/// The parameters of the simulated machine; docs/scale.md has their sources. Seconds and bytes per second.
struct Model {
  double link_rate = 12.5e9;         ///< of each link between a node and a switch, and between switches, each way
  double link_latency = 150e-9;      ///< of each link
  double message_rate = 10e9;        ///< of one message between two ranks of a node
  double node_rate = 160e9;          ///< of all messages between ranks of a node together
  double node_latency = 120e-9;      ///< between two ranks of a node
  double network_overhead = 250e-9;  ///< at either end of a message between nodes
  double node_overhead = 80e-9;      ///< at either end of a message on a node

  /// From here on a send waits for its receiver (smpi/send-is-detached-thresh, which study.py sets).
  static constexpr std::size_t long_bytes = 16384;
  /// SimGrid's bound of a flow is this over twice the latency of its path (network/TCP-gamma, its default).
  static constexpr double gamma = 4194304;
  [[nodiscard]] constexpr double bounding_latency() const { return gamma / (2 * message_rate); }
  [[nodiscard]] constexpr double latency_factor() const { return node_latency / bounding_latency(); }
};
inline constexpr Model model{};

}  // namespace tutti::scale
