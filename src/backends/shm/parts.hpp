// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/pieces.hpp"
#include "backends/shm/transport.hpp"

namespace tutti::detail::shm {

/// The protocol `parts`: the vector goes through the near rings window by window. Every rank combines its part of a
/// window, which the others have copied into their rings, and puts the result into its own, from which the others take
/// it. A call holds two windows, so that one is filled or emptied while the other is combined. This is the
/// reduce-scatter and allgather of Rabenseifner, "Optimization of Collective Reduction Operations" (ICCS 2004), through
/// shared buffers that stay in the caches.
class Parts : public Transport {
 public:
  void begin(const Exchange& exchange, std::byte* scratch);
  /// Continues as far as possible. Returns true once this rank has what it is to get.
  bool step(const Exchange& exchange);
  void finish(const Exchange& exchange) { exchange.arena->complete_streamed(); }

  /// Windows so far, in and out.
  [[nodiscard]] std::uint64_t moves() const noexcept { return given_ + combined_ + taken_; }

  /// The bytes of a rank's part of one window; 0 if an element is longer than that.
  [[nodiscard]] static std::size_t share_of(std::size_t unit, int size);

 private:
  [[nodiscard]] bool can_give(const Exchange& exchange) const;
  [[nodiscard]] bool can_combine(const Exchange& exchange) const;
  [[nodiscard]] bool can_take(const Exchange& exchange) const;
  void give(const Exchange& exchange);
  void combine(const Exchange& exchange);
  void take(const Exchange& exchange);

  /// A rank's part of a window.
  [[nodiscard]] ByteRange part_of(const Exchange& exchange, int rank, std::uint64_t window) const;
  /// The address in a giver's ring of what another rank is to combine.
  [[nodiscard]] std::byte* given_place(const Exchange& exchange, int giver, int to, std::uint64_t window) const;
  [[nodiscard]] std::byte* result_place(const Exchange& exchange, int rank, std::uint64_t window) const;
  void copy_out(const Exchange& exchange, const ByteRange& part, const std::byte* from) const;

  std::size_t share_ = 0;  ///< of a rank in a whole window, bytes
  std::size_t room_ = 0;   ///< for a share in a ring, bytes in whole lines
  std::uint64_t windows_ = 1;
  std::uint64_t given_ = 0;      ///< windows that this rank has given
  std::uint64_t combined_ = 0;   ///< windows whose part this rank has combined
  std::uint64_t taken_ = 0;      ///< windows that are whole in this rank's output
  std::uint64_t ring_turn_ = 0;  ///< Arena::next_streamed()
  Ring::Room ring_{};            ///< of this rank's parts and results
  bool takes_ = true;            ///< this rank gets the result
  bool streams_ = false;         ///< the result is copied past the caches
};

}  // namespace tutti::detail::shm
