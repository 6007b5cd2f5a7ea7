// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "backends/shm/exchange.hpp"

namespace tutti::detail::shm {

/// The protocol `line`: every cache line of the data carries its own flag, so that a taker reads a line while the giver
/// writes the next one, and no line is fetched only to learn that others may be. NCCL's LL128 does the same between
/// GPUs.
class Lines {
 public:
  void begin(const Exchange& exchange);
  /// Goes on as far as it can; true when this rank has taken all.
  bool step(const Exchange& exchange);

 private:
  void produce(const Exchange& exchange);
  [[nodiscard]] bool has_arrived(const Exchange& exchange);
  void consume(const Exchange& exchange);
  void combine(const Exchange& exchange);
  /// Whether this rank waits for all before it lets them go on: see begin().
  [[nodiscard]] bool flows(const Geometry& who, int from, int to) const {
    return centered_ ? from != to && (from == 0 || to == 0) : who.flows(from, to);
  }

  std::size_t per_block_ = 0;  ///< lines of one block
  bool centered_ = false;
  bool produced_ = false;
  int from_ = 0;          ///< all lines of the ranks before it have arrived
  std::size_t line_ = 0;  ///< and of this rank's those before this one
};

}  // namespace tutti::detail::shm
