// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/exact.hpp>
#include <utility>
#include <vector>

#include "common/loss.hpp"
#include "engine.hpp"

namespace dlrm {

/// This process's cores.
class HostEngine final : public Engine {
 public:
  /// The model and the communicator outlive the engine.
  HostEngine(const tutti::Communicator& comm, Model& model, const tutti::miniapps::LossOptions& loss)
      : comm_(&comm), model_(&model), loss_(loss), gradient_(model.shape().max_batch) {}

  Model& model() override { return *model_; }
  std::span<const float> predict(const tutti::miniapps::Batch& batch, PhaseTimer& timer,
                                 const std::string& local_error) override {
    return model_->forward(batch, timer, local_error);
  }
  void start_step(const tutti::miniapps::Batch& batch, PhaseTimer& timer, const std::string& local_error) override {
    if (has_blocks()) {
      return model_->start_forward(batch, timer, local_error);
    }
    const auto predictions = model_->forward(batch, timer, local_error);
    timer.enter(Stage::top);
    loss_sum_ += tutti::miniapps::loss(loss_, predictions, batch.labels, batch.count,
                                       std::span(gradient_).first(predictions.size()));
  }
  void finish_step(const tutti::miniapps::Batch& batch, float rate, PhaseTimer& timer) override {
    if (has_blocks()) {
      return train_blocks(batch, rate, timer);
    }
    model_->backward(batch, std::span(gradient_).first(batch.range.size()), rate, timer);
  }
  void prefetch(const tutti::miniapps::Batch& batch, const std::string& local_error) override {
    model_->prefetch(batch, local_error);
  }
  double take_loss() override { return std::exchange(loss_sum_, 0.0); }
  void keep_parameters(bool keep) override { model_->keep_parameters(keep); }

 private:
  [[nodiscard]] bool has_blocks() const { return model_->shape().blocks > 0; }
  /// The losses of the blocks are added exactly over the ranks, and rank 0 keeps the sum.
  void train_blocks(const tutti::miniapps::Batch& batch, float rate, PhaseTimer& timer) {
    std::vector<double> losses;
    const auto gradient_of = [&](tutti::miniapps::SampleRange range, std::span<const float> predictions) {
      const auto gradient = std::span(gradient_).subspan(range.begin, range.size());
      const auto labels = std::span(batch.labels).subspan(range.begin, range.size());
      losses.push_back(tutti::miniapps::loss(loss_, predictions, labels, batch.count, gradient));
      return gradient;
    };
    model_->train(batch, gradient_of, rate, timer);
    double sum = 0;
    tutti::exact_sum(*comm_, losses, tutti::Buffer(&sum, 1));
    loss_sum_ += comm_->rank() == 0 ? sum : 0;
  }

  const tutti::Communicator* comm_;
  Model* model_;
  tutti::miniapps::LossOptions loss_;
  std::vector<float> gradient_;  ///< of the predictions
  double loss_sum_ = 0;
};

}  // namespace dlrm
