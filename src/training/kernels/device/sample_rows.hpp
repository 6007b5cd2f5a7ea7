// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

/// Elementwise work on vectors of samples, in host memory or on a device.
namespace tutti::kernels {

/// One row of float32 values a sample, `stride` values apart. Inputs and outputs have the same type.
struct SampleRows {
  float* data;
  std::size_t stride;
  SampleRows(const float* first, std::size_t apart) : data(const_cast<float*>(first)), stride(apart) {}
};

/// Where the rows are, and when the work on them is done: at once on the host, in stream order on a device.
struct RowsOrder {
  bool on_device = false;
  void* stream = nullptr;
};

/// to = from, for the first `columns` values of `samples` rows.
void copy_rows(const SampleRows& from, const SampleRows& to, std::size_t samples, std::size_t columns,
               const RowsOrder& order);
/// to += from.
void add_rows(const SampleRows& from, const SampleRows& to, std::size_t samples, std::size_t columns,
              const RowsOrder& order);
/// Divides the row of sample s by counts[s].
void divide_rows(const SampleRows& rows, std::size_t samples, std::size_t columns, const float* counts,
                 const RowsOrder& order);

}  // namespace tutti::kernels
