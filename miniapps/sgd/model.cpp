// SPDX-License-Identifier: BSD-3-Clause
#include "model.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <tutti/error.hpp>

#include "common/counter_random.hpp"

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

constexpr std::uint64_t weight_stream = 100;  ///< and one more for each layer

}  // namespace

template <typename Float>
Model<Float>::Model(std::vector<std::size_t> widths, bool sparse) : widths_(std::move(widths)) {
  const std::size_t layers = widths_.size() - 1;
  if (sparse) {
    first_ = std::make_unique<SparseLayer<Float>>(widths_[0], widths_[1], layers > 1);
  }
  if (!sparse || layers > 1) {
    rest_ =
        std::make_unique<mini::BasicMlp<Float>>(std::span(widths_).subspan(sparse ? 1 : 0), mini::Activation::identity);
  }
  add_tensors();
}

template <typename Float>
void Model<Float>::add_tensors() {
  const auto name = [this](const char* what) { return "layer " + std::to_string(tensors_.size() / 2) + " " + what; };
  if (first_) {
    tensors_.push_back({name("weight"), {first_->in(), first_->out()}, first_->weights(), first_->weight_gradient()});
    tensors_.push_back({name("bias"), {first_->out()}, first_->bias(), first_->bias_gradient()});
  }
  for (std::size_t l = 0; rest_ && l < rest_->layers().size(); ++l) {
    const auto& layer = rest_->layers()[l];
    const std::size_t weights = layer.in * layer.out;
    const auto value = rest_->layer_parameters(l);
    const auto gradient = rest_->layer_gradients(l);
    tensors_.push_back({name("weight"), {layer.out, layer.in}, value.first(weights), gradient.first(weights)});
    tensors_.push_back({name("bias"), {layer.out}, value.subspan(weights), gradient.subspan(weights)});
  }
}

template <typename Float>
void Model<Float>::initialize(std::uint64_t seed) {
  for (const auto& tensor : tensors_) {
    std::fill(tensor.value.begin(), tensor.value.end(), Float{0});
  }
  for (std::size_t l = 0; widths_.size() > 2 && l + 1 < widths_.size(); ++l) {
    const mini::CounterRandom random(seed, weight_stream + l);
    const double deviation = std::sqrt(2 / static_cast<double>(widths_[l]));
    const auto weights = tensors_[2 * l].value;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      weights[i] = static_cast<Float>(deviation * random.normal(i));
    }
  }
}

template <typename Float>
std::span<const Float> Model<Float>::forward(const Rows& rows) {
  if (!first_) {
    dense_.assign(rows.values.begin(), rows.values.end());
    return rest_->forward(dense_, rows.size());
  }
  const auto hidden = first_->forward(rows);
  return rest_ ? rest_->forward(hidden, rows.size()) : hidden;
}

template <typename Float>
void Model<Float>::backward(const Rows& rows, std::span<Float> score_gradient,
                            const std::function<void(std::size_t)>& ready) {
  const std::size_t before = first_ ? 1 : 0;
  const auto layer_ready = [&](std::size_t layer) {
    ready(2 * layer + 1);
    ready(2 * layer);
  };
  std::span<Float> below = score_gradient;
  if (rest_) {
    if (first_) {
      first_gradient_.resize(rows.size() * first_->out());
      below = first_gradient_;
    }
    const std::span<const Float> input = first_ ? std::span<const Float>(first_->output()) : dense_;
    rest_->backward(input, score_gradient, first_ ? below : std::span<Float>{},
                    [&](std::size_t l) { layer_ready(l + before); });
  }
  if (first_) {
    first_->backward(rows, below);
    layer_ready(0);
  }
}

template class Model<float>;
template class Model<double>;

std::vector<std::size_t> model_widths(const Options& o, const Source& source) {
  const std::size_t classes = source.classes();
  if (o.model == "logistic" && classes != 2) {
    throw tutti::Error(tutti::ErrorCode::invalid_argument, "--model=logistic is of two classes but the data has " +
                                                               std::to_string(classes) + "; use --model=softmax");
  }
  std::vector<std::size_t> widths{source.features()};
  if (o.model == "mlp") {
    widths.insert(widths.end(), o.hidden.begin(), o.hidden.end());
  }
  const bool one_score = o.model == "linear" || o.model == "logistic";
  widths.push_back(one_score ? 1 : classes);
  return widths;
}

}  // namespace sgd
