// SPDX-License-Identifier: BSD-3-Clause
#include "training/parameter_server/row.hpp"

#include <algorithm>

namespace tutti::detail::server {
namespace {

/// How many rows occur more than once.
std::size_t count_repeated(const std::vector<Occurrence>& sorted) {
  std::size_t repeated = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i)
    if (sorted[i].row == sorted[i - 1].row && (i == 1 || sorted[i - 2].row != sorted[i].row)) ++repeated;
  return repeated;
}

}  // namespace

std::vector<Occurrence> sort_rows(std::span<const std::int64_t> rows) {
  std::vector<Occurrence> sorted(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) sorted[i] = {rows[i], i};
  std::ranges::sort(sorted, [](const Occurrence& a, const Occurrence& b) {
    return a.row != b.row ? a.row < b.row : a.position < b.position;
  });
  return sorted;
}

RowGradients::RowGradients(std::span<const std::int64_t> rows, std::span<const float> gradients, std::size_t dim)
    : dim_(dim) {
  const std::vector<Occurrence> sorted = sort_rows(rows);
  sums_.resize(count_repeated(sorted) * dim);
  float* sum = sums_.data();
  for (std::size_t i = 0; i < sorted.size();) {
    const float* first = gradients.data() + sorted[i].position * dim;
    std::size_t end = i + 1;
    while (end < sorted.size() && sorted[end].row == sorted[i].row) ++end;
    rows_.push_back(sorted[i].row);
    gradients_.push_back(end == i + 1 ? first : sum);
    if (end > i + 1) {
      std::copy_n(first, dim, sum);
      for (std::size_t k = i + 1; k < end; ++k)
        for (std::size_t d = 0; d < dim; ++d) sum[d] += gradients[sorted[k].position * dim + d];
      sum += dim;
    }
    i = end;
  }
}

}  // namespace tutti::detail::server
