// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/exchange.hpp"
#include "backends/shm/reached.hpp"

namespace tutti::detail::shm {

/// A short allreduce by single copies: each rank reads the vectors of all others and makes the whole result for itself.
/// That combines more than by parts, but saves the calls of the kernel that return results.
class ReadAll {
 public:
  /// Returns true if a call is made so, on all ranks alike.
  [[nodiscard]] static bool makes(const Exchange& exchange);

  void begin() noexcept {
    has_read_ = false;
    next_finished_ = 0;
  }
  /// Once all ranks have published: reads one vector into the output, unless that is the source, the others into
  /// `scratch`, which holds a vector a rank, and combines. Returns true when all ranks have read.
  bool step(const Exchange& exchange, std::byte* scratch, Reached& reached);

 private:
  void read(const Exchange& exchange, std::byte* scratch, Reached& reached) const;
  void combine(const Exchange& exchange, std::byte* scratch) const;

  bool has_read_ = false;
  int next_finished_ = 0;
};

}  // namespace tutti::detail::shm
