// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "common/data_source.hpp"
#include "model.hpp"
#include "phases.hpp"

namespace dlrm {

/// What computes the steps of a model: this process's cores, or a GPU. All calls are collective over the communicator,
/// but where "local" is said.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  virtual ~Engine() = default;

  /// What is saved and restored; its parameters are those of the engine after store_parameters().
  [[nodiscard]] virtual Model& model() = 0;
  /// Local. The model's parameters were set.
  virtual void take_parameters() {}
  /// Local. Blocking.
  virtual void store_parameters() {}

  /// As Model::forward.
  virtual std::span<const float> predict(const tutti::miniapps::Batch& batch, PhaseTimer& timer,
                                         const std::string& local_error) = 0;

  /// A step: errors of the batch are thrown by the first call, on all ranks alike; the batch stays unchanged in
  /// between. The loss is added to what take_loss() gives.
  virtual void start_step(const tutti::miniapps::Batch& batch, PhaseTimer& timer, const std::string& local_error) = 0;
  virtual void finish_step(const tutti::miniapps::Batch& batch, float rate, PhaseTimer& timer) = 0;
  /// As Model::prefetch; between the two calls of the step before.
  virtual void prefetch(const tutti::miniapps::Batch& batch, const std::string& local_error) = 0;

  /// Local. The sum of the losses of this rank's samples since the last call; waits for the steps so far.
  [[nodiscard]] virtual double take_loss() = 0;
  /// Local. As BasicMlp::keep_parameters, for all that is dense.
  virtual void keep_parameters(bool keep) = 0;
};

}  // namespace dlrm
