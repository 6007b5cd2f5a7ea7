// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "training/kernels/embedding_common.hpp"
#include "training/kernels/embedding_scratch.hpp"
#include "training/kernels/row_arithmetic.hpp"

/// Turns gradients of bags into gradients of the rows [first_row, last_row) of one table.
namespace tutti::kernels {

/// The data that a partition needs for one table. Pointers that the pooling does not use are null.
struct ScatterJob {
  const EmbeddingTable& table;
  const TableLookups& lookups;
  Pooled<const float> gradient;
  std::size_t bags;
  IndexPolicy policy;
  const std::uint32_t* bag_of_position;  ///< if given, payloads are positions, else bags
  const float* factors;
  const std::uint32_t* maximum_at;
  std::uint64_t first_row;
  std::uint64_t last_row;
};

inline std::size_t bag_of(const ScatterJob& job, Occurrence occurrence) {
  const std::uint32_t payload = payload_of(occurrence);
  return job.bag_of_position != nullptr ? job.bag_of_position[payload] : payload;
}

/// Calls visit(occurrence, mine) for every index, in the order of positions. For a row outside the job, mine is false
/// and the occurrence is undefined. Rows are counted from first_row. No branch depends on an index.
template <typename Index, IndexPolicy Policy, typename Visit>
void for_each_occurrence(const ScatterJob& job, const Visit& visit) {
  const auto* indices = static_cast<const Index*>(job.lookups.indices);
  const std::int64_t* offsets = job.lookups.offsets;
  const std::int64_t table_rows = job.table.rows;
  const std::uint64_t first_row = job.first_row;
  const std::uint64_t rows = job.last_row - job.first_row;
  const bool positions = job.bag_of_position != nullptr;
  for (std::size_t b = 0; b < job.bags; ++b) {
    const std::int64_t begin = offsets[b];
    const std::int64_t end = offsets[b + 1];
    for (std::int64_t p = begin; p < end; ++p) {
      const std::uint64_t row = static_cast<std::uint64_t>(resolve<Policy>(indices[p], table_rows)) - first_row;
      visit((row << 32) | (positions ? static_cast<std::uint64_t>(p - offsets[0]) : b), row < rows);
    }
  }
}

/// Adds the gradient of one occurrence to `sum`.
template <std::size_t Dim>
inline void add_occurrence(const ScatterJob& job, Occurrence occurrence, float* __restrict sum) {
  const std::size_t n = Dim > 0 ? Dim : job.table.dim;
  const std::size_t bag = bag_of(job, occurrence);
  const float* __restrict gradient = job.gradient.data + bag * job.gradient.stride;
  if (job.maximum_at != nullptr) {
    const std::uint32_t* winner = job.maximum_at + bag * n;
    for (std::size_t d = 0; d < n; ++d) sum[d] += winner[d] == payload_of(occurrence) ? gradient[d] : 0.0F;
    return;
  }
  float factor = job.factors != nullptr ? job.factors[bag] : 1.0F;
  if (job.lookups.weights != nullptr) factor *= job.lookups.weights[job.lookups.offsets[0] + payload_of(occurrence)];
  for (std::size_t d = 0; d < n; ++d) sum[d] += gradient[d] * factor;
}

/// Adds plain gradients of occurrences of a row.
template <std::size_t Dim>
inline void add_plain(const ScatterJob& job, std::span<const Occurrence> occurrences, float* __restrict sum) {
  const std::size_t n = Dim > 0 ? Dim : job.table.dim;
  for (const Occurrence occurrence : occurrences) {
    const float* __restrict gradient = job.gradient.data + payload_of(occurrence) * job.gradient.stride;
    for (std::size_t d = 0; d < n; ++d) sum[d] += gradient[d];
  }
}

/// Sums the gradients of a row's occurrences, in parts (row_part). `part` is room for those after the first.
template <std::size_t Dim>
inline void sum_row(const ScatterJob& job, std::span<const Occurrence> occurrences, bool plain, float* __restrict sum,
                    float* __restrict part) {
  const std::size_t n = Dim > 0 ? Dim : job.table.dim;
  const auto add = [&](std::span<const Occurrence> some, float* to) {
    std::fill_n(to, n, 0.0F);
    if (plain) return add_plain<Dim>(job, some, to);
    for (const Occurrence occurrence : some) add_occurrence<Dim>(job, occurrence, to);
  };
  const auto from = [&](std::size_t at) {
    return occurrences.subspan(at, std::min<std::size_t>(row_part, occurrences.size() - at));
  };
  add(from(0), sum);
  for (std::size_t at = row_part; at < occurrences.size(); at += row_part) {
    add(from(at), part);
    for (std::size_t d = 0; d < n; ++d) sum[d] += part[d];
  }
}

/// Calls visit(row, gradient) once for each row, with the gradient summed over the row's occurrences (sum_row), and
/// ask.operator()<CacheLevel>(row) some rows before that. Rows are counted from first_row. The gradient is valid
/// during the call.
template <std::size_t Dim, typename Ask, typename Visit>
void for_each_row(const ScatterJob& job, std::span<const Occurrence> occurrences, std::vector<float>& scratch,
                  const Ask& ask, const Visit& visit) {
  const std::size_t dim = Dim > 0 ? Dim : job.table.dim;
  const bool plain = job.factors == nullptr && job.bag_of_position == nullptr;
  constexpr auto far = static_cast<std::size_t>(look_ahead);
  constexpr auto near = static_cast<std::size_t>(look_near);
  const std::size_t n = occurrences.size();
  for (std::size_t i = 0; i < std::min(far, n); ++i)
    ask.template operator()<CacheLevel::second>(row_of(occurrences[i]));
  scratch.resize(2 * dim);
  float* const sum = scratch.data();
  for (std::size_t i = 0; i < n;) {
    const std::uint32_t row = row_of(occurrences[i]);
    const std::size_t begin = i;
    for (; i < n && row_of(occurrences[i]) == row; ++i) {
      if (i + far < n) ask.template operator()<CacheLevel::second>(row_of(occurrences[i + far]));
      if (i + near < n) ask.template operator()<CacheLevel::first>(row_of(occurrences[i + near]));
    }
    if (plain && i == begin + 1) {
      visit(row, job.gradient.data + payload_of(occurrences[begin]) * job.gradient.stride);
      continue;
    }
    sum_row<Dim>(job, occurrences.subspan(begin, i - begin), plain, sum, sum + dim);
    visit(row, sum);
  }
}

/// Calls visit(std::integral_constant<std::size_t, Dim>), where Dim is dim if that is common, else 0.
template <typename Visit>
void visit_dim(std::size_t dim, const Visit& visit) {
  switch (dim) {
    case 16:
      return visit(std::integral_constant<std::size_t, 16>());
    case 32:
      return visit(std::integral_constant<std::size_t, 32>());
    case 64:
      return visit(std::integral_constant<std::size_t, 64>());
    case 128:
      return visit(std::integral_constant<std::size_t, 128>());
    default:
      return visit(std::integral_constant<std::size_t, 0>());
  }
}

}  // namespace tutti::kernels
