// SPDX-License-Identifier: BSD-3-Clause
#include "host_engine.hpp"

namespace dlrm {

void HostEngine::start_step(const tutti::miniapps::Batch& batch, PhaseTimer& timer, const std::string& local_error) {
  const auto predictions = model_->forward(batch, timer, local_error);
  timer.enter(Stage::top);
  loss_sum_ += tutti::miniapps::loss(loss_, predictions, batch.labels, batch.count,
                                     std::span(gradient_).first(predictions.size()));
}

void HostEngine::finish_step(const tutti::miniapps::Batch& batch, float rate, PhaseTimer& timer) {
  model_->backward(batch, std::span(gradient_).first(batch.range.size()), rate, timer);
}

}  // namespace dlrm
