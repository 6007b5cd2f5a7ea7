// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <string_view>
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

/// How a call of two lists of memory, read and written, shares memory with one that is outstanding, as words before
/// that call: "reads memory that is still received by"; empty where neither writes what both use.
[[nodiscard]] inline std::string_view overlap_words(const std::vector<Bytes>& read, const std::vector<Bytes>& written,
                                                    const std::vector<Bytes>& still_read,
                                                    const std::vector<Bytes>& still_written) {
  if (share_memory(read, still_written)) return "reads memory that is still received by";
  if (share_memory(written, still_read)) return "writes memory that is still sent by";
  if (share_memory(written, still_written)) return "writes memory that is still received by";
  return {};
}

}  // namespace tutti::detail
