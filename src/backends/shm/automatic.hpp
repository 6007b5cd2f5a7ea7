// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/shm/single_copy.hpp"
#include "backends/shm/slots.hpp"

namespace tutti::detail::shm {

/// The protocol `automatic`, of v-forms: ranks tell the sizes of their largest blocks, and go on by slots, or by single
/// copies where these take less time.
class Automatic : public Transport {
 public:
  static constexpr bool begins_alone = false;

  void begin(const Exchange& exchange, std::byte* scratch);
  bool step(const Exchange& exchange);
  void finish(const Exchange& exchange);
  [[nodiscard]] std::uint64_t moves() const noexcept { return slots_.moves() + single_copy_.moves(); }

 private:
  enum class Choice : std::uint8_t { none, slots, single_copy };
  /// Returns true once all ranks have told their sizes.
  [[nodiscard]] bool choose(const Exchange& exchange);

  Choice choice_ = Choice::none;
  Slots slots_{};
  SingleCopy single_copy_{};
};

}  // namespace tutti::detail::shm
