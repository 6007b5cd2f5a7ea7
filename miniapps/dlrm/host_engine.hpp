// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "common/loss.hpp"
#include "engine.hpp"

namespace dlrm {

/// This process's cores.
class HostEngine final : public Engine {
 public:
  /// The model outlives the engine.
  HostEngine(Model& model, const tutti::miniapps::LossOptions& loss)
      : model_(&model), loss_(loss), gradient_(model.shape().max_batch) {}

  Model& model() override { return *model_; }
  std::span<const float> predict(const tutti::miniapps::Batch& batch, PhaseTimer& timer,
                                 const std::string& local_error) override {
    return model_->forward(batch, timer, local_error);
  }
  void start_step(const tutti::miniapps::Batch& batch, PhaseTimer& timer, const std::string& local_error) override {
    const auto predictions = model_->forward(batch, timer, local_error);
    timer.enter(Stage::top);
    loss_sum_ += tutti::miniapps::loss(loss_, predictions, batch.labels, batch.count,
                                       std::span(gradient_).first(predictions.size()));
  }
  void finish_step(const tutti::miniapps::Batch& batch, float rate, PhaseTimer& timer) override {
    model_->backward(batch, std::span(gradient_).first(batch.range.size()), rate, timer);
  }
  void prefetch(const tutti::miniapps::Batch& batch, const std::string& local_error) override {
    model_->prefetch(batch, local_error);
  }
  double take_loss() override { return std::exchange(loss_sum_, 0.0); }
  void keep_parameters(bool keep) override { model_->keep_parameters(keep); }

 private:
  Model* model_;
  tutti::miniapps::LossOptions loss_;
  std::vector<float> gradient_;  ///< of the predictions
  double loss_sum_ = 0;
};

}  // namespace dlrm
