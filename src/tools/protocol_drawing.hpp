// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "backends/shm/protocol.hpp"
#include "common/show/svg.hpp"

namespace tutti::tools {

/// The steps of the ranks of one node in shared memory, as layers of buffers and the moves from one layer to the next.
struct ProtocolView {
  enum class Move : unsigned char { store, load, combine, read, write };
  struct Box {
    std::string words{};  ///< empty: the rank has nothing here
    std::string tooltip{};
  };
  struct Layer {
    std::string name{};
    std::vector<Box> boxes{};  ///< one per rank
    bool is_shared = false;    ///< in the shared segment
  };
  struct Step {
    std::string words{};  ///< between two layers
    struct Arrow {
      int from = 0;
      int to = 0;
      Move move = Move::store;
    };
    std::vector<Arrow> arrows{};
  };
  std::vector<Layer> layers{};
  std::vector<Step> steps{};  ///< one fewer than layers
};

/// Derives the drawing from the call alone.
[[nodiscard]] ProtocolView protocol_view(detail::shm::Protocol protocol, const detail::Signature& signature, int size);

/// The steps in words, one line each.
[[nodiscard]] std::string protocol_text(const ProtocolView& view);

/// Layers as rows, ranks as columns. Throws Error (invalid_argument) for more than most_drawn_ranks.
[[nodiscard]] svg::Document protocol_drawing(const ProtocolView& view, const std::string& title);

}  // namespace tutti::tools
