// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload_subject.hpp"

namespace sgd {

/// What was measured on the first `ranks` ranks.
struct ScalingPoint {
  int ranks = 1;
  std::vector<Figures> figures;
};

/// 1, 2, 4, ... and `most`.
[[nodiscard]] std::vector<int> scaling_ranks(int most);

/// Weak: T(1) / T(n). Strong: T(1) / (n T(n)). T is the step of figure number `method`.
[[nodiscard]] double efficiency(const std::vector<ScalingPoint>& points, std::size_t point, std::size_t method,
                                Growth growth);

/// Measures on the first 1, 2, 4, ... ranks, while the others nap. Collective over `comm`; blocking. Only rank 0's
/// points are complete.
[[nodiscard]] std::vector<ScalingPoint> measure_scaling(const tutti::Communicator& comm, Subject& subject,
                                                        const std::vector<Method>& methods, Growth growth);

/// A line a number of ranks and method: step, efficiency, exposed communication.
[[nodiscard]] std::string scaling_text(const std::vector<ScalingPoint>& points, Growth growth);

}  // namespace sgd
