// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tutti::detail {

/// A value row a sample, so many values apart. What is read is given as what is written.
struct SampleRows {
  float* data;
  std::size_t stride;
  SampleRows(const float* from, std::size_t apart) : data(const_cast<float*>(from)), stride(apart) {}
};

/// Where the rows are, and in which order work on them is done: now, or on the stream of a device.
struct RowsOrder {
  bool on_device = false;
  void* stream = nullptr;
};

/// to = from, to += from, rows /= counts (one a sample): the first `columns` values of `samples` rows.
void copy_rows(const SampleRows& from, const SampleRows& to, std::size_t samples, std::size_t columns,
               const RowsOrder& order);
void add_rows(const SampleRows& from, const SampleRows& to, std::size_t samples, std::size_t columns,
              const RowsOrder& order);
void divide_rows(const SampleRows& rows, std::size_t samples, std::size_t columns, const float* counts,
                 const RowsOrder& order);

}  // namespace tutti::detail
