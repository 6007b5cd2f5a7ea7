// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

#include "schedules/builder.hpp"
#include "schedules/problem.hpp"

namespace tutti::schedules {

[[nodiscard]] inline double bytes_of(const Problem& p, std::size_t count) {
  return static_cast<double>(count) * static_cast<double>(p.element_size);
}
[[nodiscard]] inline double bytes_of(const Problem& p) { return bytes_of(p, p.count); }

/// The number of chunks into which a pipeline of `hops` hops beyond the first cuts its data. A round of k chunks costs
/// a start s and bytes / k, so (hops + k) (s + bytes / k) is least near k = sqrt(hops * bytes / s): at the k for which
/// k (k - 1) <= hops * bytes / s < k (k + 1). Here s is in bytes that could have moved meanwhile (Starts::through).
[[nodiscard]] inline int pipeline_chunks(int hops, double bytes, double start) {
  constexpr double most = 1024;
  return static_cast<int>(std::clamp(0.5 + std::sqrt(hops * bytes / start + 0.25), 1.0, most));
}

/// A part of a vector that passes through a pipeline in chunks.
class Chunks {
 public:
  Chunks(const Block& whole, int number) : whole_(whole), number_(number) {}
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool contains(int i) const { return i >= 0 && i < number_; }
  [[nodiscard]] Block operator[](int i) const {
    const Block part = even_block(whole_.count, number_, i);
    return {whole_.offset + part.offset, part.count};
  }

 private:
  Block whole_;
  int number_;
};

}  // namespace tutti::schedules
