// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/line_blocks.hpp"
#include "backends/shm/single_copy.hpp"
#include "backends/shm/slots.hpp"

namespace tutti::detail::shm {

/// The protocol `automatic`, of v-forms, whose sizes only the two ranks of a block know: short blocks go by lines,
/// those that fit a slot by slots, and longer ones by single copies where ranks can make them. Where they cannot, ranks
/// tell the sizes of their largest blocks, and cut longer ones into chunks of slots.
class Automatic : public Transport {
 public:
  static constexpr bool starts_alone = true;
  static constexpr bool gives_at_begin = true;

  void begin(const Exchange& exchange, std::byte* scratch);
  bool step(const Exchange& exchange);
  void finish(const Exchange& exchange);
  [[nodiscard]] std::uint64_t moves() const noexcept { return slots_.moves() + single_copy_.moves(); }

 private:
  /// The blocks that do not go by lines: those that go by slots, and those that go by single copies.
  [[nodiscard]] Exchange long_ones(const Exchange& exchange) const;
  [[nodiscard]] Exchange by_slots(const Exchange& exchange) const;
  [[nodiscard]] Exchange by_copies(const Exchange& exchange) const;
  void publish_long(const Exchange& exchange);
  [[nodiscard]] bool step_long(const Exchange& exchange);
  /// Returns true once all ranks have told their sizes.
  [[nodiscard]] bool cut_slots(const Exchange& exchange);

  LineBlocks lines_{};
  Slots slots_{};
  SingleCopy single_copy_{};
  bool has_long_ = false;    ///< this rank has blocks that do not go by lines
  bool has_copies_ = false;  ///< some of them by single copies
  bool is_cut_ = false;      ///< slots_ knows its chunks
  bool own_copied_ = false;
};

}  // namespace tutti::detail::shm
