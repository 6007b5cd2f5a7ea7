// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <tutti/table_rows.hpp>

namespace tutti {

namespace {

/// The least common multiple, or `most` if it is not less: two rows so far apart are not both in a table.
std::int64_t common_step(std::int64_t a, std::int64_t b, std::int64_t most) {
  const std::int64_t factor = a / std::gcd(a, b);
  return factor > most / b ? most : std::min(factor * b, most);
}

}  // namespace

std::optional<TableRows> common_rows(const TableRows& a, const TableRows& b) {
  if (a.step < b.step) return common_rows(b, a);
  if ((a.begin - b.begin) % std::gcd(a.step, b.step) != 0) return std::nullopt;
  const std::int64_t end = std::min(a.end, b.end);
  // Where a's step begins to repeat its remainders by b's, it has met all that it ever will.
  for (std::int64_t i = a.below(b.begin), tries = 0; i < a.size() && a.row(i) < end && tries < b.step; ++i, ++tries) {
    if (b.has(a.row(i))) return TableRows{a.row(i), end, common_step(a.step, b.step, std::max<std::int64_t>(end, 1))};
  }
  return std::nullopt;
}

}  // namespace tutti
