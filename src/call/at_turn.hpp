// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <tutti/error.hpp>

#include "call/context.hpp"

namespace tutti::detail {

/// Takes the turn of a call and does what comes after it. If that fails (a user's operation throws, memory runs out),
/// later calls cannot be matched any more, and the communicator is broken.
template <typename Action>
[[gnu::always_inline]] inline auto at_turn(Context& context, const Plan& plan, const Action& action) {
  try {
    return action();
  } catch (...) {
    context.break_by_exception(plan);
  }
}

/// Makes a call that the other ranks count on. An Error is a refusal, which they are told of, or has broken the
/// communicator; if memory runs out, that breaks it. who: begins the text.
template <typename Make>
auto make_or_break(Context& context, std::string_view who, const Make& make) {
  try {
    return make();
  } catch (const Error&) {
    throw;
  } catch (...) {
    context.break_by_exception(who);
  }
}

}  // namespace tutti::detail
