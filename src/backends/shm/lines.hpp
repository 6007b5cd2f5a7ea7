// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "backends/shm/exchange.hpp"

namespace tutti::detail::shm {

/// The protocol `line`: every cache line of the data carries its own flag, so that a taker reads a line while the giver
/// writes the next one, and fetches no line only to learn whether others have arrived. NCCL's LL128 does the same
/// between GPUs.
class Lines {
 public:
  void begin(const Exchange& exchange);
  /// Continues as far as possible. Returns true once this rank has taken all data.
  bool step(const Exchange& exchange);
  void finish(const Exchange& /*exchange*/) {}

 private:
  /// The way of a short call, whose blocks are one line each: without a look at each block.
  void begin_single(const Exchange& exchange);
  bool step_single(const Exchange& exchange);
  void give_single(const Exchange& exchange) const;
  void take_single(const Exchange& exchange) const;
  void copy_own_single(const Exchange& exchange) const;
  void combine_single(const Exchange& exchange) const;
  /// The line of a rank that this one takes.
  [[nodiscard]] const Line* single_of(const Exchange& exchange, int from) const {
    return exchange.cell(from).lines + (split_ ? exchange.arena->rank() : 0);
  }

  void produce(const Exchange& exchange);
  [[nodiscard]] bool has_arrived(const Exchange& exchange);
  void consume(const Exchange& exchange);
  void combine(const Exchange& exchange);
  /// Returns true if this rank waits for all ranks before it releases them; see begin().
  [[nodiscard]] bool flows(const Geometry& who, int from, int to) const {
    return centered_ ? from != to && (from == 0 || to == 0) : who.flows(from, to);
  }

  std::size_t per_block_ = 0;  ///< size of one block, in lines
  bool centered_ = false;
  bool single_ = false;
  bool split_ = false;  ///< single: every rank takes a line of its own from a giver, that with its number
  bool gives_ = false;  ///< single: other ranks take this rank's lines
  int from_begin_ = 0;  ///< single: this rank takes the lines of the ranks from it on
  int from_end_ = 0;    ///< single: and before it
  bool produced_ = false;
  int from_ = 0;          ///< ranks before it have all their lines here
  std::size_t line_ = 0;  ///< lines already received from rank `from_`
};

}  // namespace tutti::detail::shm
