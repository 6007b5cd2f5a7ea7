// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "operation/signature.hpp"

namespace tutti::detail::tuning {

/// Finds a value by name; returns false if there is none.
[[nodiscard]] bool find_operation(std::string_view name, Operation& operation);

[[nodiscard]] std::string_view call_kind_name(CallKind kind);
[[nodiscard]] bool find_call_kind(std::string_view name, CallKind& kind);

/// Sorts the names by similarity to `wanted`, fewest changed letters first.
[[nodiscard]] std::vector<std::string> nearest_first(std::vector<std::string> names, std::string_view wanted);

}  // namespace tutti::detail::tuning
