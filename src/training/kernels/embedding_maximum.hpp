// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "training/kernels/embedding_scatter.hpp"
#include "training/kernels/row_reader.hpp"

/// Data of the forward pass that the backward pass of mean, max and weighted pooling needs, for one table.
namespace tutti::kernels {

inline void fill_bag_of_position(const TableLookups& lookups, std::size_t bags, std::vector<std::uint32_t>& out) {
  out.resize(static_cast<std::size_t>(lookups.offsets[bags] - lookups.offsets[0]));
  for (std::size_t b = 0; b < bags; ++b) {
    std::fill(out.begin() + (lookups.offsets[b] - lookups.offsets[0]),
              out.begin() + (lookups.offsets[b + 1] - lookups.offsets[0]), static_cast<std::uint32_t>(b));
  }
}

template <typename Index>
void fill_mean_factors(const ScatterJob& job, std::vector<float>& out) {
  const auto* indices = static_cast<const Index*>(job.lookups.indices);
  const std::int64_t* offsets = job.lookups.offsets;
  out.resize(job.bags);
  for (std::size_t b = 0; b < job.bags; ++b) {
    std::int64_t counted = offsets[b + 1] - offsets[b];
    if (job.policy == IndexPolicy::ignore) {
      counted = std::count_if(indices + offsets[b], indices + offsets[b + 1],
                              [&](Index i) { return resolve<IndexPolicy::ignore>(i, job.table.rows) >= 0; });
    }
    out[b] = 1.0F / static_cast<float>(std::max<std::int64_t>(counted, 1));
  }
}

/// For bag x dim, the position whose row holds the maximum, counted from the table's first; the first of equal ones.
template <typename Row, typename Index>
void fill_maximum_at(const ScatterJob& job, std::vector<std::uint32_t>& out) {
  const auto* indices = static_cast<const Index*>(job.lookups.indices);
  const std::int64_t* offsets = job.lookups.offsets;
  const std::size_t dim = job.table.dim;
  constexpr std::uint32_t nowhere = 0xffffffffU;
  std::vector<float> best(dim);
  out.assign(job.bags * dim, nowhere);
  for (std::size_t b = 0; b < job.bags; ++b) {
    std::uint32_t* winner = out.data() + b * dim;
    for (std::int64_t p = offsets[b]; p < offsets[b + 1]; ++p) {
      const std::int64_t index = resolve(job.policy, indices[p], job.table.rows);
      if (index < 0) continue;
      const RowReader<Row> row(job.table, index);
      for (std::size_t d = 0; d < dim; ++d) {
        const float value = row[d];
        if (winner[d] != nowhere && !(value > best[d])) continue;
        best[d] = value;
        winner[d] = static_cast<std::uint32_t>(p - offsets[0]);
      }
    }
  }
}

}  // namespace tutti::kernels
