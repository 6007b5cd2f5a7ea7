// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "training/kernels/row_reader.hpp"

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

/// Prefetches the row of a position, if there is one.
template <typename Row, typename Index, IndexPolicy Policy, CacheLevel Level>
inline void prefetch_position(const BagRange& range, std::int64_t position, std::size_t dim) {
  if (position >= range.lookups.offsets[range.last]) return;
  const std::int64_t row =
      resolve<Policy>(static_cast<const Index*>(range.lookups.indices)[position], range.table.rows);
  if (row >= 0) prefetch_row<Row, Level>(range.table, row, dim);
}

template <typename Row, typename Index, IndexPolicy Policy>
inline void prefetch_ahead(const BagRange& range, std::int64_t position, std::size_t dim) {
  prefetch_position<Row, Index, Policy, CacheLevel::second>(range, position + look_ahead, dim);
  prefetch_position<Row, Index, Policy, CacheLevel::first>(range, position + look_near, dim);
}

/// Prefetches the first rows of the range, to which the loops do not look ahead.
template <typename Row, typename Index, IndexPolicy Policy>
inline void prefetch_first(const BagRange& range, std::size_t dim) {
  const std::int64_t begin = range.lookups.offsets[range.first];
  for (std::int64_t p = begin; p < begin + look_ahead; ++p) {
    prefetch_position<Row, Index, Policy, CacheLevel::second>(range, p, dim);
  }
}

/// Pools rows of exactly Dim values by sum or mean, with all indices in range: the sums stay in registers.
template <typename Row, typename Index, std::size_t Dim>
void pool_fixed(const BagRange& range) {
  const auto* indices = static_cast<const Index*>(range.lookups.indices);
  const std::int64_t* offsets = range.lookups.offsets;
  const float* factors = range.lookups.weights;
  prefetch_first<Row, Index, IndexPolicy::fatal>(range, Dim);
  for (std::size_t b = range.first; b < range.last; ++b) {
    Lanes acc[Dim / lane_count] = {};
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      prefetch_ahead<Row, Index, IndexPolicy::fatal>(range, p, Dim);
      const RowReader<Row> row(range.table, indices[p]);
      const float factor = factors != nullptr ? factors[p] : 1.0F;
      for (std::size_t k = 0; k < Dim / lane_count; ++k) {
        Lanes values;
        row.load(values, k * lane_count);
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

/// Pools by sum or mean for any dim and policy. Returns the number of indices out of range.
template <typename Row, typename Index, IndexPolicy Policy>
std::size_t pool_any(const BagRange& range) {
  const auto* indices = static_cast<const Index*>(range.lookups.indices);
  const std::int64_t* offsets = range.lookups.offsets;
  const std::size_t dim = range.table.dim;
  prefetch_first<Row, Index, Policy>(range, dim);
  std::size_t outside = 0;
  for (std::size_t b = range.first; b < range.last; ++b) {
    float* __restrict out = range.output.data + b * range.output.stride;
    std::fill_n(out, dim, 0.0F);
    std::int64_t counted = 0;
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      prefetch_ahead<Row, Index, Policy>(range, p, dim);
      const std::int64_t index = resolve<Policy>(indices[p], range.table.rows);
      outside += index < 0 || index != static_cast<std::int64_t>(indices[p]) ? 1U : 0U;
      if (index < 0) continue;
      ++counted;
      const RowReader<Row> row(range.table, index);
      const float factor = range.lookups.weights != nullptr ? range.lookups.weights[p] : 1.0F;
      for (std::size_t d = 0; d < dim; ++d) out[d] += row[d] * factor;
    }
    if (range.mean && counted > 1) {
      for (std::size_t d = 0; d < dim; ++d) out[d] /= static_cast<float>(counted);
    }
  }
  return outside;
}

/// Pools by maximum for any dim and policy. Returns the number of indices out of range.
template <typename Row, typename Index, IndexPolicy Policy>
std::size_t pool_max(const BagRange& range) {
  const auto* indices = static_cast<const Index*>(range.lookups.indices);
  const std::int64_t* offsets = range.lookups.offsets;
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
      const RowReader<Row> row(range.table, index);
      for (std::size_t d = 0; d < dim; ++d) {
        const float value = row[d];
        out[d] = empty || value > out[d] ? value : out[d];
      }
      empty = false;
    }
  }
  return outside;
}

}  // namespace tutti::kernels
