// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <tutti/layout.hpp>
#include <vector>

#include "call/few.hpp"
#include "diagnosis/calls.hpp"
#include "schedules/neighborhood.hpp"

namespace tutti::detail {

/// The blocks that go to one rank, or come from it, in the order in which they meet at its other end.
struct EdgeRoute {
  int peer = 0;
  std::vector<std::size_t> blocks{};
};

/// The schedule of a neighborhood collective by its peers. Blocks that stay on this rank are copied.
struct EdgeRoutes {
  struct Copy {
    std::size_t from = 0;
    std::size_t to = 0;
  };
  explicit EdgeRoutes(const schedules::Schedule& schedule);

  std::vector<EdgeRoute> given{};
  std::vector<EdgeRoute> taken{};
  std::vector<Copy> kept{};
};

/// The neighbours of this rank in the topology of the communicator's MPI handle, and the ways of their blocks.
struct Neighbors {
  Neighbors(const schedules::Neighborhood& of_rank, int rank);

  schedules::Neighborhood edges;
  EdgeRoutes own_blocks;  ///< of calls with a block for each destination
  EdgeRoutes one_block;   ///< of calls with one block for all
};

/// A block of a neighborhood collective. Its elements are contiguous if it has no layout.
struct EdgeBlock {
  std::byte* address = nullptr;
  std::size_t bytes = 0;
  std::size_t unit = 1;  ///< size of an element, in bytes
  std::shared_ptr<const Grid> layout{};
};
using EdgeBlocks = Few<EdgeBlock, 6>;  // as many neighbours as a grid of three dimensions has

/// This rank's part of a neighborhood collective: a block for each destination, or one for all, and one for each
/// source. An empty block is empty at both ends of its edge, so both leave it out.
struct NeighborExchange {
  std::string_view name{};  ///< the public function, a literal
  flight::Call call{};
  bool sends_one = false;
  EdgeBlocks sent{0};
  EdgeBlocks received{0};

  [[nodiscard]] const EdgeRoutes& routes_of(const Neighbors& neighbors) const {
    return sends_one ? neighbors.one_block : neighbors.own_blocks;
  }
};

}  // namespace tutti::detail
