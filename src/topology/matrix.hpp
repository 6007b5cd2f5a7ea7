// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "topology/hardware.hpp"

namespace tutti::detail {

/// How two elements are connected, the nearest first. The PCI levels are those of `nvidia-smi topo -m`.
enum class Connection : std::uint8_t { self, core, nvlink, pix, pxb, l3, phb, node, sys, net };

/// One cell of the matrix.
struct Relation {
  Connection link = Connection::self;
  int count = 0;  ///< of NVLinks
  friend bool operator==(const Relation&, const Relation&) = default;
};

/// How two elements of the hardware are connected. A pure, symmetric function. For a rank that may run in several
/// places the farthest counts.
[[nodiscard]] Relation relation(const Hardware& hardware, std::size_t a, std::size_t b);

/// "X", "PIX", "NV4".
[[nodiscard]] std::string to_text(const Relation& relation);

/// A level and what it means, for legends.
struct LegendEntry {
  Connection link;
  std::string_view label;
  std::string_view meaning;
};
[[nodiscard]] std::span<const LegendEntry> link_legend();

/// "2 nodes, 4 ranks, 8 cores, 2 NUMA nodes, 4 GPUs, 2 NICs", leaving out zeros.
[[nodiscard]] std::string summary(const Hardware& hardware);

/// The matrix, the list of elements and the legend. Each of several nodes with many elements gets its own matrix, since
/// all connections between nodes are NET.
[[nodiscard]] std::string matrix_text(const Hardware& hardware);

}  // namespace tutti::detail
