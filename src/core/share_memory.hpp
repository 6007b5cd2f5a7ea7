// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/hash.hpp"

namespace tutti::detail {

/// Whether two lists of memory have a byte in common.
[[nodiscard]] inline bool share_memory(const std::vector<Bytes>& a, const std::vector<Bytes>& b) {
  const auto overlap = [](Bytes x, Bytes y) {
    const std::less<> is_before;
    return !x.empty() && !y.empty() && is_before(x.data(), y.data() + y.size()) &&
           is_before(y.data(), x.data() + x.size());
  };
  return std::any_of(a.begin(), a.end(),
                     [&](Bytes x) { return std::any_of(b.begin(), b.end(), [&](Bytes y) { return overlap(x, y); }); });
}

}  // namespace tutti::detail
