// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/neighborhood.hpp"

#include <cstddef>

#include "schedules/builder.hpp"

namespace tutti::schedules {
namespace {

/// The source whose message is received as the i-th: messages of one rank arrive in the order of its destinations.
std::size_t in_order_of_sends(const Neighborhood& edges, std::size_t i) { return edges.is_grid ? i ^ 1U : i; }

}  // namespace

Schedule neighbor_exchange(const Neighborhood& edges, int rank, const Blocks& from, const Blocks& to) {
  Builder b;
  std::vector<Block> kept;
  for (std::size_t i = 0; i < edges.destinations.size(); ++i) {
    const int peer = edges.destinations[i];
    if (peer == rank)
      kept.push_back(from[i]);
    else if (peer >= 0)
      b.send(peer, input(from[i]));
  }
  std::size_t taken = 0;
  for (std::size_t k = 0; k < edges.sources.size(); ++k) {
    const std::size_t i = in_order_of_sends(edges, k);
    const int peer = edges.sources[i];
    if (peer == rank && taken < kept.size())
      b.copy(input(kept[taken++]), output(to[i]));
    else if (peer != rank && peer >= 0)
      b.recv(peer, output(to[i]));
  }
  return b.finish(0, false);
}

}  // namespace tutti::schedules
