// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <type_traits>

#include "check/receive_shadow.hpp"
#include "watch/description.hpp"
#include "watch/watch.hpp"

namespace tutti::preload {

using tutti::detail::ReceiveShadow;

/// Memory that the MPI writes in place of the receive buffer of a call, if there is any.
class OtherMemory {
 public:
  OtherMemory() = default;
  explicit OtherMemory(const ReceiveShadow* shadow) : shadow_(shadow) {}

  /// Calls make() with the arguments of a call of MPI, but with the other memory for its receive buffer, the only one
  /// that may be written.
  template <typename Make, typename... Args>
  int pass(const Make& make, Args... args) const {
    return make(replaced(args)...);
  }

 private:
  template <typename Arg>
  [[nodiscard]] Arg replaced(Arg arg) const {
    if constexpr (std::is_same_v<Arg, void*>)
      if (shadow_ != nullptr) return shadow_->place_of(arg);
    return arg;
  }

  const ReceiveShadow* shadow_ = nullptr;
};

/// Under TUTTI_CHECK the shadow of the receive buffer of a call with a request, begun if the call is under way; else
/// none.
[[nodiscard]] inline std::shared_ptr<ReceiveShadow> shadow_of(const Spans& received, tutti::detail::flight::Form form) {
  if (!is_checked()) return nullptr;
  auto shadow = ReceiveShadow::of(received, check_level() >= 2);
  if (shadow && form != tutti::detail::flight::Form::init) shadow->begin();
  return shadow;
}

}  // namespace tutti::preload
