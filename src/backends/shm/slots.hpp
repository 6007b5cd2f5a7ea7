// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/transport.hpp"

namespace tutti::detail::shm {

/// The protocol `slots`: every giver copies its data into its slot, chunk by chunk, and every taker copies a chunk out
/// while the next one is written. The slot is a ring of chunks; a giver whose data fits the ring waits for no taker.
/// Also the protocols `stream`, `wide` and `uncached`: the same through the ranks' rings (RingKind), which are longer.
class Slots : public Transport {
 public:
  static constexpr bool starts_alone = true;  // the rings serve blocking calls alone

  void begin(const Exchange& exchange, std::byte* scratch);
  /// If no rank knows all sizes: publishes the size of this rank's largest block by a first flag, and the data that
  /// fit. has_copies: other blocks of this rank go by single copies, as its own does; a second flag tells that its
  /// buffers are described.
  void announce(const Exchange& exchange, bool has_copies);
  /// Goes on when all ranks have told their sizes; `largest`: of all blocks, bytes.
  void resume(const Exchange& exchange, std::size_t largest);
  /// Publishes the next chunk.
  void produce(const Exchange& exchange);
  /// Returns true once all data that this rank takes in the next chunk is there.
  [[nodiscard]] bool can_consume(const Exchange& exchange);
  void consume(const Exchange& exchange);
  /// Continues as far as possible. Returns true once this rank has taken all data.
  bool step(const Exchange& exchange);
  /// After the last step: the block that this rank gives itself is in its place.
  void finish(const Exchange& exchange);

  /// Chunks so far, in and out.
  [[nodiscard]] std::uint64_t moves() const noexcept { return produced_ + consumed_; }

  /// Returns true if blocks of this size pass through slots in one chunk: they fit, and ranks cannot read them directly
  /// or take longer for that.
  [[nodiscard]] static bool fits(const Exchange& exchange, std::size_t largest) { return largest <= most(exchange); }
  /// The largest such size, in bytes.
  [[nodiscard]] static std::size_t most(const Exchange& exchange);
  /// The size of the block of a v-form for this rank, as its giver says that has published, in bytes.
  [[nodiscard]] static std::size_t told_bytes(const Exchange& exchange, int from);

 private:
  void start();
  void cut(const Exchange& exchange, std::size_t largest);
  void use_ring(const Exchange& exchange, RingKind kind, std::size_t largest);
  /// Tells takers of this rank's data for the first time.
  void describe(const Exchange& exchange) const;
  void copy_own(const Exchange& exchange);
  [[nodiscard]] bool can_produce(const Exchange& exchange);
  /// Throws if a giver of a v-form sends another size than this rank expects, before anything is taken.
  void check_sizes(const Exchange& exchange) const;
  void take(const Exchange& exchange, std::size_t begin);
  void combine(const Exchange& exchange, std::size_t begin);
  /// The part of a block in the chunk that starts at a given byte of the block.
  [[nodiscard]] std::size_t length(std::size_t block_bytes, std::size_t begin) const;
  /// The address of a taker's block in the slot (or line) of a rank.
  [[nodiscard]] std::byte* place(const Exchange& exchange, int giver, int taker, std::uint64_t chunk) const;

  std::size_t window_ = 0;  ///< part of a block in one chunk, in bytes
  std::uint64_t chunks_ = 1;
  std::uint64_t base_ = 0;  ///< number of flags before the first chunk
  std::uint64_t more_ = 0;  ///< flags behind the first one that say more than that a chunk is there
  std::uint64_t produced_ = 0;
  std::uint64_t consumed_ = 0;
  int next_ = 0;              ///< all ranks before it have published the next chunk
  std::uint64_t seen_ = 0;    ///< the fewest chunks that one of them has published
  std::uint64_t ready_ = 0;   ///< chunks that all givers are known to have published
  std::uint64_t free_ = 0;    ///< chunks for which there is known to be room in the ring
  std::uint64_t places_ = 1;  ///< capacity of the ring, in chunks
  std::size_t share_ = 0;     ///< part of the slot for one block, in bytes
  bool is_packed_ = false;    ///< the blocks lie one behind another instead, at their offsets in the source
  bool own_copied_ = false;
  bool by_ring_ = false;
  bool past_caches_ = false;       ///< this rank's data are written past the caches
  bool is_met_ = false;            ///< every other rank gives to this one
  std::uint64_t ring_turn_ = 0;    ///< Arena::next_streamed()
  Ring::Room ring_{};              ///< of this rank's data
  std::uint64_t held_chunks_ = 0;  ///< that every giver's ring holds, whichever it has
};

}  // namespace tutti::detail::shm
