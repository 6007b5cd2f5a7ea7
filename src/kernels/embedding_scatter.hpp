// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>

#include "kernels/embedding_scratch.hpp"
#include "kernels/row_update.hpp"

/// From gradients of bags to updates of the rows [first_row, last_row) of one table.
namespace tutti::kernels {

/// Everything a partition needs for one table. Null pointers where the pooling has no use for them.
struct ScatterJob {
  const EmbeddingTable& table;
  const TableLookups& lookups;
  Pooled<const float> gradient;
  float* state;
  const RowUpdate& update;
  std::size_t bags;
  IndexPolicy policy;
  const std::uint32_t* bag_of_position;  ///< then the payload is the position, else the bag
  const float* factors;
  const std::uint32_t* maximum_at;
  std::uint64_t first_row;
  std::uint64_t last_row;
};

inline std::size_t bag_of(const ScatterJob& job, Occurrence occurrence) {
  const std::uint32_t payload = payload_of(occurrence);
  return job.bag_of_position != nullptr ? job.bag_of_position[payload] : payload;
}

/// Collects the occurrences of the job's rows, in the order of positions; rows are counted from first_row.
template <typename Index, IndexPolicy Policy>
void collect(const ScatterJob& job, std::vector<Occurrence>& out) {
  const auto* indices = static_cast<const Index*>(job.lookups.indices);
  const std::int64_t* offsets = job.lookups.offsets;
  const std::uint64_t rows = job.last_row - job.first_row;
  out.resize(static_cast<std::size_t>(offsets[job.bags] - offsets[0]));
  std::size_t n = 0;
  for (std::size_t b = 0; b < job.bags; ++b) {
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      const std::int64_t index = resolve<Policy>(indices[p], job.table.rows);
      const std::uint64_t row = static_cast<std::uint64_t>(index) - job.first_row;
      const std::uint64_t payload = job.bag_of_position != nullptr ? static_cast<std::uint64_t>(p - offsets[0]) : b;
      out[n] = (row << 32) | payload;
      n += row < rows ? 1 : 0;
    }
  }
  out.resize(n);
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

template <RowOptimizer Optimizer, std::size_t Dim, typename Row>
void update_rows(const ScatterJob& job, std::span<const Occurrence> occurrences, std::vector<float>& scratch) {
  const std::size_t dim = Dim > 0 ? Dim : job.table.dim;
  const bool plain = job.factors == nullptr && job.maximum_at == nullptr && job.lookups.weights == nullptr;
  const std::size_t state_stride = Optimizer == RowOptimizer::adagrad ? dim : 1;
  auto* const first = static_cast<Row*>(job.table.weights) + job.first_row * job.table.row_stride;
  scratch.resize(dim);
  float* const sum = scratch.data();
  const std::size_t n = occurrences.size();
  for (std::size_t i = 0; i < n;) {
    const std::uint32_t row = row_of(occurrences[i]);
    std::size_t end = i;
    while (end < n && row_of(occurrences[end]) == row) {
      const Occurrence ahead = occurrences[std::min(end + look_ahead, n - 1)];
      prefetch_bytes<true>(first + row_of(ahead) * job.table.row_stride, dim * sizeof(Row));
      prefetch_bytes<false>(job.gradient.data + bag_of(job, ahead) * job.gradient.stride, dim * sizeof(float));
      if constexpr (Optimizer != RowOptimizer::sgd) {
        prefetch_bytes<true>(job.state + (job.first_row + row_of(ahead)) * state_stride, state_stride * sizeof(float));
      }
      ++end;
    }
    const float* gradient = sum;
    if (plain && end == i + 1) {
      gradient = job.gradient.data + bag_of(job, occurrences[i]) * job.gradient.stride;
    } else {
      std::fill_n(sum, dim, 0.0F);
      for (; i < end; ++i) add_occurrence<Dim>(job, occurrences[i], sum);
    }
    i = end;
    float* state = Optimizer == RowOptimizer::sgd ? nullptr : job.state + (job.first_row + row) * state_stride;
    update_row<Optimizer, Dim>(first + row * job.table.row_stride, gradient, state, dim, job.update);
  }
}

}  // namespace tutti::kernels
