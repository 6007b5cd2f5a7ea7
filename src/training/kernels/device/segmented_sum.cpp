// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/device.hpp>
#include <tutti/kernels/launch.hpp>

#include "kernels/combine_functors.hpp"
#include "training/kernels/device/row_pack.hpp"
#include "training/kernels/device/scratch.hpp"
#include "training/kernels/float_kinds.hpp"

namespace tutti::kernels::device {

namespace {

/// Item i: Width columns of one segment.
template <typename T, std::size_t Width>
struct SegmentBody {
  const T* values;
  std::size_t dim;
  const std::int64_t* offsets;
  T* output;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    constexpr int rows_at_once = 4;
    const Division at = divide_item(i, dim / Width);
    const std::size_t column = at.remainder * Width;
    const std::int64_t end = offsets[at.quotient + 1];
    Accumulator<T> sum[Width] = {};
    for (std::int64_t row = offsets[at.quotient]; row < end; row += rows_at_once) {
      T part[rows_at_once][Width];
      TUTTI_UNROLL
      for (int u = 0; u < rows_at_once; ++u) {
        if (row + u < end) {
          load_constant_pack(part[u], values + static_cast<std::size_t>(row + u) * dim + column);
        }
      }
      TUTTI_UNROLL
      for (int u = 0; u < rows_at_once; ++u) {
        if (row + u >= end) continue;
        TUTTI_UNROLL
        for (std::size_t e = 0; e < Width; ++e) sum[e] += static_cast<Accumulator<T>>(part[u][e]);
      }
    }
    T result[Width];
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) result[e] = static_cast<T>(sum[e]);
    store_pack(output + at.quotient * dim + column, result);
  }
};

}  // namespace

void segmented_sum(DatatypeKind type, const void* values, std::size_t dim, const std::int64_t* offsets,
                   std::size_t segments, void* output, Stream stream) {
  with_float("device::segmented_sum", type, [&]<typename T>(T /*number*/) {
    constexpr std::size_t width = word_bytes / sizeof(T);
    const auto* in = static_cast<const T*>(values);
    auto* out = static_cast<T*>(output);
    if (dim % width == 0 && is_aligned(values) && is_aligned(output)) {
      launch(handle_of(stream), segments * (dim / width), SegmentBody<T, width>{in, dim, offsets, out});
    } else {
      launch(handle_of(stream), segments * dim, SegmentBody<T, 1>{in, dim, offsets, out});
    }
  });
}

}  // namespace tutti::kernels::device
