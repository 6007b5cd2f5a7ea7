// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tutti/error.hpp>
#include <tutti/kernels/segmented_sum.hpp>
#include <vector>

#include "kernels/combine_functors.hpp"
#include "kernels/convert.hpp"
#include "kernels/parallel.hpp"
#include "training/kernels/float_kinds.hpp"

namespace tutti::kernels {

namespace {

template <typename T>
void add_row(const T* __restrict row, Accumulator<T>* __restrict sum, Accumulator<T>* __restrict scratch,
             std::size_t dim) {
  if constexpr (is_small_float<T>) {
    widen(row, scratch, dim);
    for (std::size_t d = 0; d < dim; ++d) sum[d] += scratch[d];
  } else {
    for (std::size_t d = 0; d < dim; ++d) sum[d] += row[d];
  }
}

template <typename T>
void sum_segments(const T* values, std::size_t dim, std::span<const std::int64_t> offsets, T* output,
                  std::size_t asked) {
  const std::size_t partitions = partition_count(asked);
  for_each_partition(partitions, [&](std::size_t p) {
    std::vector<Accumulator<T>> memory(2 * dim);
    const auto [begin, end] = partition_range(offsets.size() - 1, partitions, p);
    for (std::size_t s = begin; s < end; ++s) {
      std::fill_n(memory.begin(), dim, Accumulator<T>{0});
      for (std::int64_t row = offsets[s]; row < offsets[s + 1]; ++row) {
        add_row(values + static_cast<std::size_t>(row) * dim, memory.data(), memory.data() + dim, dim);
      }
      for (std::size_t d = 0; d < dim; ++d) output[s * dim + d] = static_cast<T>(memory[d]);
    }
  });
}

}  // namespace

void segmented_sum(DatatypeKind type, const void* values, std::size_t dim, std::span<const std::int64_t> offsets,
                   void* output, std::size_t partitions) {
  if (offsets.empty() || !std::is_sorted(offsets.begin(), offsets.end())) {
    throw Error(ErrorCode::invalid_argument, "segmented_sum: offsets must have segments + 1 ascending entries");
  }
  with_float("segmented_sum", type, [&]<typename T>(T /*number*/) {
    sum_segments(static_cast<const T*>(values), dim, offsets, static_cast<T*>(output), partitions);
  });
}

}  // namespace tutti::kernels
