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
  void begin(std::byte* scratch);
  /// At most `pieces` pieces; true when all work of and for this rank is done.
  bool step(const Exchange& exchange, std::size_t pieces);

  [[nodiscard]] static std::size_t scratch_bytes(const Exchange& exchange);

 private:
  class Contributions;
  /// A piece of a range: where it begins in the range and in the vector, bytes.
  struct Slice {
    std::size_t begin = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  bool step_combining(const Exchange& exchange, std::size_t pieces);
  bool step_moving(const Exchange& exchange, std::size_t pieces);
  bool all_published(const Exchange& exchange);
  [[nodiscard]] static Slice slice_of(const Exchange& exchange, int range, std::size_t index);
  void combine_piece(const Exchange& exchange, int range, std::size_t index);
  void combine_prefixes(const Exchange& exchange, const Contributions& inputs, const Slice& slice) const;
  static void combine_for_all(const Exchange& exchange, const Contributions& inputs, const Slice& slice);
  /// at: byte of rank `to`'s output that the result begins at.
  void combine_for_one(const Exchange& exchange, const Contributions& inputs, std::size_t bytes, int to,
                       std::size_t at) const;
  [[nodiscard]] std::byte* result_room(const Geometry& who, std::size_t unit) const;
  /// Throws where two ranks of a v-form differ in what one gives the other: neither buffer may be overrun.
  void check_agreement(const Exchange& exchange, int from, int to) const;
  /// True when a piece was moved.
  bool move_piece(const Exchange& exchange, int from, int to);
  [[nodiscard]] bool is_moved(const Exchange& exchange) const;

  std::byte* scratch_ = nullptr;
  int next_flag_ = 0;
  int next_range_ = 0;  ///< ranges before it, counted from this rank's, are all taken
  bool own_copied_ = false;
};

}  // namespace tutti::detail::shm
