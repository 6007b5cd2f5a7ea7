// SPDX-License-Identifier: BSD-3-Clause
#include "planner/names.hpp"

#include <algorithm>
#include <array>

#include "core/variables.hpp"

namespace tutti::detail::tuning {
namespace {

constexpr std::array<std::string_view, 3> call_kinds = {"blocking", "nonblocking", "persistent"};

}  // namespace

bool find_operation(std::string_view name, Operation& operation) {
  for (const Operation candidate : all_operations)
    if (operation_name(candidate) == name) {
      operation = candidate;
      return true;
    }
  return false;
}

std::string_view call_kind_name(CallKind kind) { return call_kinds[static_cast<std::size_t>(kind)]; }

bool find_call_kind(std::string_view name, CallKind& kind) {
  const auto found = std::find(call_kinds.begin(), call_kinds.end(), name);
  if (found == call_kinds.end()) return false;
  kind = static_cast<CallKind>(found - call_kinds.begin());
  return true;
}

std::vector<std::string> nearest_first(std::vector<std::string> names, std::string_view wanted) {
  std::stable_sort(names.begin(), names.end(), [wanted](const std::string& a, const std::string& b) {
    return edits(a, wanted) < edits(b, wanted);
  });
  return names;
}

}  // namespace tutti::detail::tuning
