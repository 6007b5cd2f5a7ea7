// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <tutti/layout.hpp>
#include <vector>

#include "schedules/neighborhood.hpp"

namespace tutti::detail {

/// The neighbours of this rank in the topology of the communicator's MPI handle, and the schedules that follow from
/// them. One element of a schedule is one block of a call: element i of its input goes to destination i.
struct Neighbors {
  Neighbors(schedules::Neighborhood of_rank, int rank);

  schedules::Neighborhood edges;
  schedules::Schedule own_blocks;  ///< a block for each destination
  schedules::Schedule one_block;   ///< one block for all
};

/// A block of a neighborhood collective. Its elements are contiguous if it has no layout.
struct EdgeBlock {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::size_t unit = 1;  ///< size of an element, in bytes
  std::shared_ptr<const Grid> layout{};
};

/// This rank's part of a neighborhood collective: a block for each destination, or one for all, and one for each
/// source. Blocks that are empty send no message, which both ends know.
struct NeighborExchange {
  std::string_view name{};  ///< the public function, a literal
  bool sends_one = false;
  std::vector<EdgeBlock> sent{};
  std::vector<EdgeBlock> received{};

  [[nodiscard]] const schedules::Schedule& schedule_of(const Neighbors& neighbors) const {
    return sends_one ? neighbors.one_block : neighbors.own_blocks;
  }
};

}  // namespace tutti::detail
