// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "backends/shm/exchange.hpp"
#include "backends/shm/line_run.hpp"

namespace tutti::detail::shm {

/// The short blocks of a v-form: each goes through lines of its giver's cell, behind the line of the giver's flag, with
/// its size in front. Both ranks of a block know its size, so that they alone decide that it goes this way, and a rank
/// whose blocks are all short waits for nobody but their givers.
class LineBlocks {
 public:
  /// Writes this rank's short blocks.
  void begin(const Exchange& exchange);
  /// The size from which on a block goes another way, in bytes.
  [[nodiscard]] std::size_t limit() const { return lines_ == 0 ? 0 : lines_ * line_bytes - size_head + 1; }
  /// Takes what has come. Returns true once all short blocks of this rank are in its output. Throws if a giver gives
  /// another size.
  bool take(const Exchange& exchange);
  /// Throws if a rank gives a short block where this rank waits for a longer one.
  void check_others(const Exchange& exchange) const;

 private:
  void give(const Exchange& exchange) const;
  [[nodiscard]] bool take_from(const Exchange& exchange, int from, std::size_t bytes);
  [[nodiscard]] Line* lines_of_block(const Exchange& exchange, int giver, int taker) const;

  std::size_t lines_ = 0;  ///< for one taker's block; 0: there are too many ranks
  int from_ = 0;           ///< the blocks of all ranks before it are taken
  std::size_t line_ = 0;   ///< lines of the next block that have come
};

}  // namespace tutti::detail::shm
