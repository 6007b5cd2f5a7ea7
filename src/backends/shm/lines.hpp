// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/line_shape.hpp"

namespace tutti::detail::shm {

/// The protocol `line`: every cache line of the data carries its own flag, so that a taker reads a line while the giver
/// writes the next one, and fetches no line only to learn whether others have arrived. NCCL's LL128 does the same
/// between GPUs.
class Lines {
 public:
  Lines() = default;
  /// A call that has given and goes on from a place.
  Lines(const LineShape& shape, const LineShape::Place& place)
      : shape_(shape), has_shape_(true), has_given_(true), place_(place) {}

  /// Again, too: the next start of the same call.
  void begin(const Exchange& exchange);
  /// The shape of the current call.
  [[nodiscard]] const LineShape& shape_of(const Exchange& exchange);
  /// Continues as far as possible. Returns true once this rank has taken all data.
  bool step(const Exchange& exchange);
  void finish(const Exchange& /*exchange*/) {}

 private:
  void give(const Exchange& exchange);

  LineShape shape_{};
  bool has_shape_ = false;
  bool has_given_ = false;
  LineShape::Place place_{};
};

}  // namespace tutti::detail::shm
