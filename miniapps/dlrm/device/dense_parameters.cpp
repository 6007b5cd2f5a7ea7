// SPDX-License-Identifier: BSD-3-Clause
#include "dense_parameters.hpp"

#include <array>
#include <tutti/kernels/device.hpp>

namespace dlrm {

DenseParameters::DenseParameters(const Gpu& gpu, Model& model) : gpu_(&gpu), model_(&model) {
  begin_[1] = model.bottom().parameters().size();
  begin_[2] = begin_[1] + model.interaction().parameters().size();
  begin_[3] = begin_[2] + model.top().parameters().size();
  parameters_ = tutti::miniapps::device::Array<float>(begin_[3]);
  gradients_ = tutti::miniapps::device::Array<float>(begin_[3]);
  state_ = tutti::miniapps::device::Array<float>(
      tutti::kernels::state_values(dense_update_of(model.embeddings().options(), 0)) * begin_[3]);
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
  tutti::kernels::device::dense_update(dense_update_of(model_->embeddings().options(), rate), step, parameters_.span(),
                                       std::span<const float>(gradients_.span()), state_.span(), gpu_->call_stream());
}

}  // namespace dlrm
