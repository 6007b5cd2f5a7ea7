// SPDX-License-Identifier: BSD-3-Clause
#include "call/neighborhood.hpp"

#include <utility>

namespace tutti::detail {
namespace {

using schedules::Blocks;

Blocks one_element_each(std::size_t blocks) { return schedules::uniform_blocks(1, static_cast<int>(blocks)); }

}  // namespace

Neighbors::Neighbors(schedules::Neighborhood of_rank, int rank) : edges(std::move(of_rank)) {
  const Blocks to = one_element_each(edges.sources.size());
  own_blocks = schedules::neighbor_exchange(edges, rank, one_element_each(edges.destinations.size()), to);
  one_block = schedules::neighbor_exchange(edges, rank, Blocks(edges.destinations.size(), {0, 1}), to);
}

}  // namespace tutti::detail
