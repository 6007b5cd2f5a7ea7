// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "../model.hpp"
#include "common/device/array.hpp"
#include "gpu.hpp"

namespace dlrm {

/// All that is dense, on the GPU: one block of parameters, one of gradients, so that one update serves all, and the
/// optimizer's state. The order is bottom MLP, interaction, top MLP.
class DenseParameters {
 public:
  DenseParameters(const Gpu& gpu, Model& model);

  enum Part : std::size_t { bottom, interaction, top };
  static constexpr std::size_t parts = 3;
  [[nodiscard]] float* parameters(Part part) const { return parameters_.data() + begin_[part]; }
  [[nodiscard]] float* gradients(Part part) const { return gradients_.data() + begin_[part]; }
  [[nodiscard]] std::span<float> gradients_of(Part part) const {
    return gradients_.span().subspan(begin_[part], begin_[part + 1] - begin_[part]);
  }

  /// From the model, or to it. Blocking.
  void take();
  void store() const;
  /// In stream order. `step` counts from 1.
  void update(float rate, std::uint64_t step);

 private:
  void copy(bool to_device) const;

  const Gpu* gpu_;
  Model* model_;
  tutti::kernels::RowOptimizer optimizer_;
  std::size_t begin_[4] = {};
  tutti::miniapps::device::Array<float> parameters_;
  tutti::miniapps::device::Array<float> gradients_;
  tutti::miniapps::device::Array<float> state_;  ///< [values of state][parameters]
};

}  // namespace dlrm
