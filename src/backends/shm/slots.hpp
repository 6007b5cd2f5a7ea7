// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/exchange.hpp"

namespace tutti::detail::shm {

/// The protocol `slots`: every giver copies what it gives into its slot, chunk by chunk, and every taker takes it from
/// there while the next chunk is written. The slot is a ring of chunks; a giver whose data fits it waits for no taker.
class Slots {
 public:
  void begin(const Exchange& exchange);
  /// Where no rank knows all sizes: tells this rank's largest block by a first flag, and gives the data at once where
  /// it fits.
  void announce(const Exchange& exchange);
  /// Goes on when all ranks have told their sizes; `largest`: of all blocks, bytes.
  void resume(const Exchange& exchange, std::size_t largest);
  /// Publishes the next chunk.
  void produce(const Exchange& exchange);
  /// Whether all that this rank takes in the next chunk is there.
  [[nodiscard]] bool can_consume(const Exchange& exchange);
  void consume(const Exchange& exchange);
  /// Goes on as far as it can; true when this rank has taken all.
  bool step(const Exchange& exchange);
  /// After the last step: the block that this rank gives itself is in its place.
  void finish(const Exchange& exchange) { copy_own(exchange); }

  /// Whether blocks of this size fit a slot.
  [[nodiscard]] static bool fits(const Exchange& exchange, std::size_t largest);

 private:
  void cut(const Exchange& exchange, std::size_t largest);
  void copy_own(const Exchange& exchange);
  [[nodiscard]] bool can_produce(const Exchange& exchange) const;
  void take(const Exchange& exchange, std::size_t begin);
  void combine(const Exchange& exchange, std::size_t begin);
  /// The part of a block that is in the chunk which begins at a byte of it.
  [[nodiscard]] std::size_t length(std::size_t block_bytes, std::size_t begin) const;
  /// Where in the slot (or line) of a rank the block for a taker is.
  [[nodiscard]] std::byte* place(const Exchange& exchange, int giver, int taker, std::uint64_t chunk) const;

  std::size_t window_ = 0;  ///< bytes of a block in one chunk
  std::uint64_t chunks_ = 1;
  std::uint64_t base_ = 0;  ///< flags before the first chunk
  std::uint64_t produced_ = 0;
  std::uint64_t consumed_ = 0;
  int next_ = 0;              ///< ranks before it have published the chunk to be taken next
  std::uint64_t places_ = 1;  ///< chunks that the ring holds
  std::size_t share_ = 0;     ///< bytes of the slot for one block
  bool own_copied_ = false;
};

}  // namespace tutti::detail::shm
