// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "common/mlp.hpp"
#include "options.hpp"
#include "rows.hpp"
#include "source.hpp"
#include "sparse_layer.hpp"
#include "tensor.hpp"

namespace sgd {

/// Layers with relu between them, whose last scores are compared by the loss; linear, logistic and softmax regression
/// have one layer. The first layer takes sparse samples as they are. Local.
template <typename Float>
class Model {
 public:
  /// `widths`: features, hidden widths, scores.
  Model(std::vector<std::size_t> widths, bool sparse);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Weights normal(0, sqrt(2 / in)) from the seed, biases 0; all 0 where there is one layer only.
  void initialize(std::uint64_t seed);

  /// Scores [rows.size()][outputs()]; they live here until the next call.
  [[nodiscard]] std::span<const Float> forward(const Rows& rows);
  /// After forward of the same rows, from the gradient of the scores, which is overwritten. Gradients are overwritten.
  /// `ready(i)` is called when the gradient of tensor i is final, from the last layer to the first.
  void backward(const Rows& rows, std::span<Float> score_gradient, const std::function<void(std::size_t)>& ready);

  /// In the order of the forward pass: weights, then biases, of each layer.
  [[nodiscard]] const std::vector<Tensor<Float>>& tensors() const { return tensors_; }
  [[nodiscard]] std::size_t outputs() const { return widths_.back(); }
  [[nodiscard]] const std::vector<std::size_t>& widths() const { return widths_; }

 private:
  void add_tensors();

  std::vector<std::size_t> widths_;
  std::unique_ptr<SparseLayer<Float>> first_;               ///< where sparse
  std::unique_ptr<tutti::miniapps::BasicMlp<Float>> rest_;  ///< layers after first_, if any
  std::vector<Tensor<Float>> tensors_;
  std::vector<Float> dense_;
  std::vector<Float> first_gradient_;
};

extern template class Model<float>;
extern template class Model<double>;

/// The widths that the options give a model of this data. Throws where the data does not fit the model.
[[nodiscard]] std::vector<std::size_t> model_widths(const Options& options, const Source& source);

}  // namespace sgd
