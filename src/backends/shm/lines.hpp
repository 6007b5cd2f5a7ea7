// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "backends/shm/line_shape.hpp"
#include "backends/shm/transport.hpp"

namespace tutti::detail::shm {

/// The protocol `line`: every cache line of the data carries its own flag, so that a taker reads a line while the giver
/// writes the next one, and fetches no line only to learn whether others have arrived. NCCL's LL128 does the same
/// between GPUs.
class Lines : public Transport {
 public:
  static constexpr bool starts_alone = true;
  static constexpr bool gives_at_begin = true;
  static constexpr int steps_at_start = steps_begun;

  /// Again, too: the next start of the same call. A rank that gives only after it has heard of all others does not yet.
  void begin(const Exchange& exchange, std::byte* scratch);
  /// Continues as far as possible. Returns true once this rank has taken all data.
  bool step(const Exchange& exchange);
  [[nodiscard]] bool gives(const Exchange& exchange) { return shape_of(exchange).gives(); }
  [[nodiscard]] bool hears_all(const Exchange& exchange) {
    return shape_of(exchange).hears_all(exchange.arena->size());
  }

 private:
  /// That of the plan, or else this call's own.
  [[nodiscard]] const LineShape& shape_of(const Exchange& exchange) {
    if (exchange.plan->own != nullptr) [[likely]]
      return static_cast<const LinePlan&>(*exchange.plan->own).shape;
    return own_shape_of(exchange);
  }
  [[nodiscard, gnu::noinline]] const LineShape& own_shape_of(const Exchange& exchange) {
    if (!shape_)
      shape_.emplace(exchange.plan->signature, exchange.shape(), largest_block(exchange),
                     exchange.arena->oversubscribed());
    return *shape_;
  }

  std::optional<LineShape> shape_{};
  bool has_given_ = false;
  LineShape::Cursor cursor_{};
};

inline void Lines::begin(const Exchange& exchange, std::byte* /*scratch*/) {
  const LineShape& shape = shape_of(exchange);
  cursor_ = shape.first();
  has_given_ = !shape.waits_first();
  if (has_given_) shape.give(exchange);
}

inline bool Lines::step(const Exchange& exchange) {
  const LineShape& shape = shape_of(exchange);
  if (!shape.have_come(exchange, cursor_, exchange.arena->oversubscribed() ? 1 : looks_at_flag)) return false;
  if (!has_given_) shape.give(exchange);
  has_given_ = true;
  shape.take(exchange);
  return true;
}

}  // namespace tutti::detail::shm
