// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "kernels/embedding_common.hpp"
#include "kernels/lanes.hpp"

/// Loops over the bags [first, last) of one table.
namespace tutti::kernels {

struct BagRange {
  const EmbeddingTable& table;
  const TableLookups& lookups;
  Pooled<float> output;
  std::size_t first;
  std::size_t last;
  bool mean;
};

/// Sum and mean of rows of exactly Dim values, all indices in range: the sums stay in registers.
template <typename Row, typename Index, std::size_t Dim>
void pool_fixed(const BagRange& range) {
  const auto* rows = static_cast<const Row*>(range.table.weights);
  const auto* indices = static_cast<const Index*>(range.lookups.indices);
  const std::int64_t* offsets = range.lookups.offsets;
  const float* factors = range.lookups.weights;
  const auto stride = static_cast<std::int64_t>(range.table.row_stride);
  const std::int64_t last_position = offsets[range.last] - 1;
  for (std::size_t b = range.first; b < range.last; ++b) {
    Lanes acc[Dim / lane_count] = {};
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      const std::int64_t ahead = indices[std::min(p + look_ahead, last_position)];
      prefetch_bytes<false>(rows + ahead * stride, Dim * sizeof(Row));
      const Row* row = rows + indices[p] * stride;
      const float factor = factors != nullptr ? factors[p] : 1.0F;
      for (std::size_t k = 0; k < Dim / lane_count; ++k) {
        Lanes values;
        load_lanes(values, row + k * lane_count);
        acc[k] += values * factor;
      }
    }
    const auto count = static_cast<float>(range.mean ? std::max<std::int64_t>(offsets[b + 1] - offsets[b], 1) : 1);
    float* out = range.output.data + b * range.output.stride;
    for (std::size_t k = 0; k < Dim / lane_count; ++k) {
      acc[k] /= count;
      store_lanes(out + k * lane_count, acc[k]);
    }
  }
}

/// Sum and mean of any dim and policy. Returns how many indices were out of range.
template <typename Row, typename Index, IndexPolicy Policy>
std::size_t pool_any(const BagRange& range) {
  const auto* rows = static_cast<const Row*>(range.table.weights);
  const auto* indices = static_cast<const Index*>(range.lookups.indices);
  const std::int64_t* offsets = range.lookups.offsets;
  const auto stride = static_cast<std::int64_t>(range.table.row_stride);
  const std::int64_t last_position = offsets[range.last] - 1;
  const std::size_t dim = range.table.dim;
  std::size_t outside = 0;
  for (std::size_t b = range.first; b < range.last; ++b) {
    float* __restrict out = range.output.data + b * range.output.stride;
    std::fill_n(out, dim, 0.0F);
    std::int64_t counted = 0;
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      const std::int64_t ahead = resolve<Policy>(indices[std::min(p + look_ahead, last_position)], range.table.rows);
      if (ahead >= 0) prefetch_bytes<false>(rows + ahead * stride, dim * sizeof(Row));
      const std::int64_t index = resolve<Policy>(indices[p], range.table.rows);
      outside += index < 0 || index != static_cast<std::int64_t>(indices[p]) ? 1U : 0U;
      if (index < 0) continue;
      ++counted;
      const Row* __restrict row = rows + index * stride;
      const float factor = range.lookups.weights != nullptr ? range.lookups.weights[p] : 1.0F;
      for (std::size_t d = 0; d < dim; ++d) out[d] += row_value(row[d]) * factor;
    }
    if (range.mean && counted > 1) {
      for (std::size_t d = 0; d < dim; ++d) out[d] /= static_cast<float>(counted);
    }
  }
  return outside;
}

/// Maximum, any dim and policy. Returns how many indices were out of range.
template <typename Row, typename Index, IndexPolicy Policy>
std::size_t pool_max(const BagRange& range) {
  const auto* rows = static_cast<const Row*>(range.table.weights);
  const auto* indices = static_cast<const Index*>(range.lookups.indices);
  const std::int64_t* offsets = range.lookups.offsets;
  const auto stride = static_cast<std::int64_t>(range.table.row_stride);
  const std::size_t dim = range.table.dim;
  std::size_t outside = 0;
  for (std::size_t b = range.first; b < range.last; ++b) {
    float* __restrict out = range.output.data + b * range.output.stride;
    std::fill_n(out, dim, 0.0F);
    bool empty = true;
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      const std::int64_t index = resolve<Policy>(indices[p], range.table.rows);
      outside += index < 0 || index != static_cast<std::int64_t>(indices[p]) ? 1U : 0U;
      if (index < 0) continue;
      const Row* __restrict row = rows + index * stride;
      for (std::size_t d = 0; d < dim; ++d) {
        const float value = row_value(row[d]);
        out[d] = empty || value > out[d] ? value : out[d];
      }
      empty = false;
    }
  }
  return outside;
}

}  // namespace tutti::kernels
