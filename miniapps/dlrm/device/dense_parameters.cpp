// SPDX-License-Identifier: BSD-3-Clause
#include "dense_parameters.hpp"

#include <array>
#include <tutti/kernels/device.hpp>

namespace dlrm {

namespace {

using tutti::kernels::DenseOptimizer;
using tutti::kernels::RowOptimizer;

tutti::kernels::DenseUpdate update_of(RowOptimizer optimizer, float rate) {
  tutti::kernels::DenseUpdate update;
  update.learning_rate = static_cast<double>(rate);
  if (optimizer == RowOptimizer::sgd) {
    update.optimizer = DenseOptimizer::sgd;
  } else if (optimizer == RowOptimizer::adam) {
    update.optimizer = DenseOptimizer::adam;
  } else {
    update.optimizer = DenseOptimizer::adagrad;
    update.epsilon = 1e-10;
  }
  return update;
}

}  // namespace

DenseParameters::DenseParameters(const Gpu& gpu, Model& model)
    : gpu_(&gpu), model_(&model), optimizer_(model.embeddings().options().optimizer) {
  begin_[1] = model.bottom().parameters().size();
  begin_[2] = begin_[1] + model.interaction().parameters().size();
  begin_[3] = begin_[2] + model.top().parameters().size();
  parameters_ = tutti::miniapps::device::Array<float>(begin_[3]);
  gradients_ = tutti::miniapps::device::Array<float>(begin_[3]);
  state_ = tutti::miniapps::device::Array<float>(tutti::kernels::state_values(update_of(optimizer_, 0)) * begin_[3]);
  take();
}

void DenseParameters::copy(bool to_device) const {
  const auto move = [&](std::span<float> host, float* on_device) {
    if (to_device) {
      tutti::copy_bytes(on_device, host.data(), host.size_bytes(), gpu_->call_stream());
    } else {
      tutti::copy_bytes(host.data(), on_device, host.size_bytes(), gpu_->call_stream());
    }
  };
  const std::array values{model_->bottom().parameters(), model_->interaction().parameters(),
                          model_->top().parameters()};
  const std::array states{model_->bottom_state(), model_->interaction_state(), model_->top_state()};
  const std::size_t all = parameters_.size();
  for (std::size_t stage = 0; stage < values.size(); ++stage) {
    move(values[stage], parameters_.data() + begin_[stage]);
    const std::size_t size = values[stage].size();
    for (std::size_t k = 0; k * size < states[stage].size(); ++k) {
      move(states[stage].subspan(k * size, size), state_.data() + k * all + begin_[stage]);
    }
  }
  gpu_->wait();
}

void DenseParameters::take() { copy(true); }
void DenseParameters::store() const { copy(false); }

void DenseParameters::update(float rate, std::uint64_t step) {
  tutti::kernels::device::dense_update(update_of(optimizer_, rate), step, parameters_.span(),
                                       std::span<const float>(gradients_.span()), state_.span(), gpu_->call_stream());
}

}  // namespace dlrm
