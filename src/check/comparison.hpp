// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace tutti::detail::check {

/// Compares a collective of this rank with those of the ranks whose records have come, and forgets these ranks: a late
/// rank does not hide the difference of another. find(rank): a record that has come, or a null. Returns true once all
/// have come.
template <typename Rank, typename Find, typename Compare>
[[nodiscard]] bool compare_with_come(std::vector<Rank>& left, const Find& find, const Compare& compare) {
  std::erase_if(left, [&](const Rank& rank) {
    const auto theirs = find(rank);
    if (theirs) compare(rank, *theirs);
    return static_cast<bool>(theirs);
  });
  return left.empty();
}

/// The words about two ranks, in the order of the ranks.
[[nodiscard]] inline std::string both(int a, const std::string& words_of_a, int b, const std::string& words_of_b) {
  return a < b ? words_of_a + ", " + words_of_b : words_of_b + ", " + words_of_a;
}

}  // namespace tutti::detail::check
