// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/shm/reached.hpp"
#include "backends/shm/read_all.hpp"
#include "backends/shm/transport.hpp"
#include "call/scratch.hpp"

namespace tutti::detail::shm {

/// The protocol `single_copy`: ranks publish the location of their buffers. The work is divided into pieces, and any
/// rank that can access both sides may take a piece, so that a waiting rank does the remaining work, also on behalf of
/// a rank that is away.
class SingleCopy : public Transport {
 public:
  static constexpr bool gives_at_begin = true;
  static constexpr bool needs_scratch = true;

  /// Writes the description of this rank's buffers for its peers. Call it before the flag is set.
  static void describe(const Exchange& exchange);
  void begin(const Exchange& exchange, std::byte* scratch);
  /// Begins a call that has been published.
  void reset(std::byte* scratch);
  /// A call that does not block makes one piece in a step.
  bool step(const Exchange& exchange);

  /// Pieces so far.
  [[nodiscard]] std::uint64_t moves() const noexcept { return moves_; }

  [[nodiscard]] static std::size_t scratch_bytes(const Exchange& exchange);

 private:
  class Contributions;
  /// A piece of a range: its offsets in the range and in the vector, in bytes.
  struct Slice {
    std::size_t begin = 0;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  /// A rank that waits leaves a block in one piece to the rank whose own it is, for a while: two ranks that want the
  /// claim, and a copy into memory of another, take longer. If that rank is away, this one makes the piece, at the
  /// latest before it sleeps, because nobody would wake it.
  [[nodiscard]] bool waits_for_owner(const Exchange& exchange, std::size_t total) const;
  bool step_combining(const Exchange& exchange, std::size_t pieces);
  bool take_combinations(const Exchange& exchange, std::size_t pieces);
  bool are_combined(const Exchange& exchange);
  bool step_moving(const Exchange& exchange, std::size_t pieces);
  bool all_published(const Exchange& exchange);
  [[nodiscard]] static std::size_t place_of(const Exchange& exchange, const Slice& slice);
  [[nodiscard]] static std::byte* spare_output(const Exchange& exchange, int range, const Slice& slice);
  [[nodiscard]] static Slice slice_of(const Exchange& exchange, int range, std::size_t index);
  using Finish = void (*)(std::atomic<std::uint64_t>& word, Generation generation);
  /// mark: notes that the piece is finished.
  void combine_piece(const Exchange& exchange, int range, std::size_t index, Finish mark);
  void combine_slice(const Exchange& exchange, int range, const Slice& slice, const Contributions& inputs);
  void combine_prefixes(const Exchange& exchange, const Contributions& inputs, const Slice& slice);
  void combine_for_all(const Exchange& exchange, const Contributions& inputs, const Slice& slice);
  void combine_for_one(const Exchange& exchange, const Contributions& inputs, const Slice& slice, int to);
  [[nodiscard]] std::byte* result_room(const Shape& who, std::size_t unit) const;
  /// Moves a piece; returns true if there was one. `before`: those that this rank has moved from here to there.
  bool move_piece(const Exchange& exchange, int from, int to, std::size_t before);
  [[nodiscard]] bool is_moved(const Exchange& exchange) const;

  std::byte* scratch_ = nullptr;
  int next_flag_ = 0;
  int next_range_ = 0;  ///< all ranges before it, counted from this rank's range, are taken
  int next_finished_ = 0;
  std::uint64_t moves_ = 0;
  std::uint64_t steps_ = 0;  ///< since the ranks that this one waits for have published
  bool own_copied_ = false;
  Reached reached_;
  ReadAll read_all_;
};

}  // namespace tutti::detail::shm
