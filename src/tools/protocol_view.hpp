// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/shm/protocol.hpp"

namespace tutti::tools {

/// The steps of the ranks of one node in shared memory, as layers of buffers and the moves from one layer to the next.
struct ProtocolView {
  enum class Move : unsigned char { store, load, combine, read, write };
  struct Layer {
    std::string name{};
    std::vector<std::string> boxes{};  ///< words for each rank; empty: it has nothing here
    bool is_shared = false;            ///< in the shared segment
    std::string note{};                ///< about each box
  };
  struct Step {
    std::string words{};  ///< between two layers
    Move move = Move::store;
    std::vector<std::pair<int, int>> arrows{};  ///< from a rank's box to a rank's box
  };
  std::vector<Layer> layers{};
  std::vector<Step> steps{};  ///< one fewer than layers
};

/// Derives them from the call alone.
[[nodiscard]] ProtocolView protocol_view(detail::shm::Protocol protocol, const detail::Signature& signature, int size);

/// The steps in words, one line each.
[[nodiscard]] std::string protocol_text(const ProtocolView& view);

}  // namespace tutti::tools
