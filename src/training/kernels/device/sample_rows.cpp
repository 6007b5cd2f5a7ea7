// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/sample_rows.hpp"

#include <algorithm>
#include <tutti/kernels/launch.hpp>

#include "device/runtime.hpp"

namespace tutti::kernels {

namespace {

/// Item i is value i % columns of sample i / columns.
struct AddRows {
  const float* from;
  std::size_t from_stride;
  float* to;
  std::size_t to_stride;
  std::size_t columns;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    to[i / columns * to_stride + i % columns] += from[i / columns * from_stride + i % columns];
  }
};

struct DivideRows {
  float* rows;
  std::size_t stride;
  const float* counts;
  std::size_t columns;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    rows[i / columns * stride + i % columns] /= counts[i / columns];
  }
};

}  // namespace

void copy_rows(const SampleRows& from, const SampleRows& to, std::size_t samples, std::size_t columns,
               const RowsOrder& order) {
  if (samples == 0 || columns == 0) return;
  if (order.on_device) {
    constexpr std::size_t bytes = sizeof(float);
    return tutti::detail::device::required_runtime("vectors on a device")
        .copy_rows(to.data, to.stride * bytes, from.data, from.stride * bytes, columns * bytes, samples, order.stream);
  }
  for (std::size_t s = 0; s < samples; ++s) std::copy_n(from.data + s * from.stride, columns, to.data + s * to.stride);
}

void add_rows(const SampleRows& from, const SampleRows& to, std::size_t samples, std::size_t columns,
              const RowsOrder& order) {
  if (order.on_device) {
    return device::launch(order.stream, samples * columns,
                          AddRows{from.data, from.stride, to.data, to.stride, columns});
  }
  for (std::size_t s = 0; s < samples; ++s) {
    const float* row = from.data + s * from.stride;
    float* sum = to.data + s * to.stride;
    for (std::size_t c = 0; c < columns; ++c) sum[c] += row[c];
  }
}

void divide_rows(const SampleRows& rows, std::size_t samples, std::size_t columns, const float* counts,
                 const RowsOrder& order) {
  if (order.on_device) {
    return device::launch(order.stream, samples * columns, DivideRows{rows.data, rows.stride, counts, columns});
  }
  for (std::size_t s = 0; s < samples; ++s) {
    for (std::size_t c = 0; c < columns; ++c) rows.data[s * rows.stride + c] /= counts[s];
  }
}

}  // namespace tutti::kernels
