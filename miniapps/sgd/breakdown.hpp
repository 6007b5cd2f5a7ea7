// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload_subject.hpp"

namespace sgd {

/// A step by its parts, in milliseconds. Source of the presentation: Li et al., PyTorch Distributed, VLDB 2020, Fig. 6.
struct BreakdownRow {
  std::string name;
  double forward = 0;
  double backward = 0;
  double communication = 0;  ///< in all: what it takes where nothing hides it
  double exposed = 0;
  double update = 0;
  [[nodiscard]] double hidden() const { return communication > exposed ? communication - exposed : 0; }
  [[nodiscard]] double step() const { return forward + backward + exposed + update; }
};

/// The methods, and for each that overlaps the same buckets reduced after backward, which tell how much there is to
/// hide.
[[nodiscard]] std::vector<Method> breakdown_methods(const std::vector<Method>& methods);

/// Rows of the first `count` figures; of the others only the communication counts.
[[nodiscard]] std::vector<BreakdownRow> breakdown_rows(const std::vector<Figures>& figures, std::size_t count);

[[nodiscard]] std::string breakdown_text(const std::vector<BreakdownRow>& rows);

}  // namespace sgd
