// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/exchange.hpp"
#include "call/scratch.hpp"

namespace tutti::detail::shm {

/// The protocol `single_copy`: ranks publish where their buffers are. The work is cut into pieces that any rank which
/// can reach both sides may take, so that a rank that waits does what is left, also on behalf of one that is away.
class SingleCopy {
 public:
  /// Writes what peers need to know of this rank's buffers; before the flag is set.
  void describe(const Exchange& exchange) const;
  /// `scratch` must hold scratch_bytes().
  void begin(const Exchange& exchange, std::byte* scratch);
  /// At most `pieces` pieces; true when all work of and for this rank is done.
  bool step(const Exchange& exchange, std::size_t pieces);

  [[nodiscard]] static std::size_t scratch_bytes(const Exchange& exchange);

 private:
  bool step_combining(const Exchange& exchange, std::size_t pieces);
  bool step_moving(const Exchange& exchange, std::size_t pieces);
  bool all_published(const Exchange& exchange);
  void combine_piece(const Exchange& exchange, int range, std::size_t index);
  /// Throws where two ranks of a v-form differ in what one gives the other: neither buffer may be overrun.
  void check_agreement(const Exchange& exchange, int from, int to) const;
  /// True when a piece was moved.
  bool move_piece(const Exchange& exchange, int from, int to);
  [[nodiscard]] bool is_moved(const Exchange& exchange) const;

  std::byte* scratch_ = nullptr;
  std::size_t pieces_done_ = 0;
  int next_flag_ = 0;
  int next_range_ = 0;  ///< ranges before it, counted from this rank's, are all taken
  int next_pair_ = 0;   ///< as next_range_: first what this rank takes, then what it gives
  bool own_copied_ = false;
};

}  // namespace tutti::detail::shm
