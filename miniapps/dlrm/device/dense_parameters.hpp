// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "../model.hpp"
#include "common/device/array.hpp"
#include "gpu.hpp"

namespace dlrm {

/// All that is dense, on the GPU: one block of parameters, one of gradients, so that one update serves all, and the
/// optimizer's state, in the order of DenseStage.
class DenseParameters {
 public:
  DenseParameters(const Gpu& gpu, Model& model);

  [[nodiscard]] float* parameters(DenseStage stage) const { return parameters_.data() + begin_[index(stage)]; }
  [[nodiscard]] float* gradients(DenseStage stage) const { return gradients_.data() + begin_[index(stage)]; }
  [[nodiscard]] std::span<float> gradients_of(DenseStage stage) const {
    const std::size_t begin = begin_[index(stage)];
    return gradients_.span().subspan(begin, begin_[index(stage) + 1] - begin);
  }

  /// From the model, or to it. Blocking.
  void take();
  void store() const;
  /// In stream order. `step` counts from 1.
  void update(float rate, std::uint64_t step);

 private:
  static constexpr std::size_t index(DenseStage stage) { return static_cast<std::size_t>(stage); }
  void copy(bool to_device) const;

  const Gpu* gpu_;
  Model* model_;
  std::size_t begin_[dense_stages + 1] = {};
  tutti::miniapps::device::Array<float> parameters_;
  tutti::miniapps::device::Array<float> gradients_;
  tutti::miniapps::device::Array<float> state_;  ///< [values of state][parameters]
};

}  // namespace dlrm
