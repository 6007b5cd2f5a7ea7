// SPDX-License-Identifier: BSD-3-Clause
#include "planner/names.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "schedules/registry.hpp"

namespace tutti::detail::tuning {
namespace {

constexpr std::array<std::string_view, 3> call_kinds = {"blocking", "nonblocking", "persistent"};

/// The Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

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
    return distance(a, wanted) < distance(b, wanted);
  });
  return names;
}

}  // namespace tutti::detail::tuning
