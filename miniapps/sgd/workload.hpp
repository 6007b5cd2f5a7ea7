// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload_backward.hpp"
#include "workload_method.hpp"

namespace sgd {

/// Steps whose gradients have the shapes of a known network and whose computation is timed, not done.
struct Workload {
  std::string network = "resnet50";  ///< as workload_shapes() names it
  LoadOptions load{};
  double forward_ms = 0;
  double backward_ms = 400;
  bool updates = false;  ///< SGD on all parameters after the exchange
  std::size_t steps = 10;
  std::size_t warm_up = 3;
};

/// Medians over steps, each the largest of all ranks, in milliseconds.
struct StepTimes {
  double forward = 0;
  double backward = 0;  ///< with what of the exchange is done meanwhile
  double finish = 0;    ///< the exchange after backward
  double update = 0;
  double step = 0;
};

struct MethodTimes {
  Method method;
  StepTimes median;
  std::size_t buckets = 0;
  std::size_t bucket_bytes = 0;    ///< the limit in use
  std::size_t bytes_per_step = 0;  ///< given to reductions by one rank
  std::size_t wrong = 0;           ///< elements of the last step that are no average, over all ranks
  std::string map;                 ///< parameters by bucket
};

/// Runs the methods in turn, one step each, so that all see the same machine; checks every element of the last
/// averages. Collective over `comm`; blocking. The same result on all ranks.
[[nodiscard]] std::vector<MethodTimes> measure_workload(const tutti::Communicator& comm, const Workload& workload,
                                                        const std::vector<Method>& methods);

/// What a method adds to the step without communication, in milliseconds. `times` begins with that step.
[[nodiscard]] double exposed_ms(const std::vector<MethodTimes>& times, std::size_t method);

}  // namespace sgd
