// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sgd {

/// Some samples: dense (every feature of each, in order) or sparse (sample i has columns[offsets[i] ..
/// offsets[i + 1]) with their values). Kept by the caller and reused.
struct Rows {
  std::vector<std::size_t> offsets{0};
  std::vector<std::uint32_t> columns;  ///< empty where dense
  std::vector<double> values;
  std::vector<double> labels;  ///< a number, or that of a class

  [[nodiscard]] std::size_t size() const { return labels.size(); }
  void clear() {
    offsets.assign(1, 0);
    columns.clear();
    values.clear();
    labels.clear();
  }
};

}  // namespace sgd
