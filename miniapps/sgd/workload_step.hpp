// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <tutti/communicator.hpp>
#include <vector>

#include "workload.hpp"
#include "workload_exchange.hpp"
#include "workload_gradients.hpp"

namespace sgd {

/// One rank's steps of a workload, by any exchange.
class WorkloadStep {
 public:
  /// Collective over `comm`, which outlives it; blocking.
  WorkloadStep(const tutti::Communicator& comm, const Workload& workload, const std::vector<Shape>& shapes);

  /// Forward, backward with the exchange, the rest of the exchange, the update; this rank's times. All ranks begin
  /// together. Collective; blocking.
  [[nodiscard]] StepTimes run(Exchange& exchange, std::size_t step);
  /// Elements that the exchange has left wrong in that step, over all ranks. Collective; blocking.
  [[nodiscard]] std::size_t count_wrong(Exchange& exchange, std::size_t step, double tolerance);

 private:
  void backward(Exchange& exchange, std::size_t step);
  void update(Exchange& exchange, std::size_t step);

  const tutti::Communicator& comm_;
  const Workload& workload_;
  MadeGradients gradients_;
  std::vector<double> share_;  ///< of backward that is over when the gradient is ready
  std::unique_ptr<TimedWork> work_;
  std::vector<std::vector<float>> parameters_;
};

}  // namespace sgd
