// SPDX-License-Identifier: BSD-3-Clause
#include "mlp_onednn.hpp"

#include <algorithm>
#include <type_traits>

#include "activations.hpp"

namespace tutti::miniapps {

namespace {

using Type = dnnl::memory::data_type;

// Training and test batches, each with a short last one.
constexpr std::size_t kept_plans = 4;

template <typename Value>
constexpr bool is_float = std::is_same_v<Value, float>;

}  // namespace

template <typename Value>
OneDnnMlpEngine<Value>::OneDnnMlpEngine(const DenseBlock<float>& block)
    : block_(block),
      no_bias_(block.widest_output()),
      unused_sums_(block.widest_output()),
      outputs_(block.layers.size() - 1),
      deltas_(block.layers.size() - 1) {}

template <typename Value>
typename OneDnnMlpEngine<Value>::Plan& OneDnnMlpEngine<Value>::plan(std::size_t n) {
  if (const auto found = plans_.find(n); found != plans_.end()) {
    return found->second;
  }
  if (plans_.size() == kept_plans) {
    plans_.clear();
  }
  constexpr Type type = is_float<Value> ? Type::f32 : Type::bf16;
  Plan& made = plans_[n];
  for (std::size_t l = 0; l < block_.layers.size(); ++l) {
    const DenseLayer& layer = block_.layers[l];
    const bool last = l + 1 == block_.layers.size();
    made.layers.emplace_back(OneDnnLayer::Shape{n, layer.in, layer.out},
                             OneDnnLayer::Types{type, last ? Type::f32 : type, l == 0 ? Type::f32 : type});
  }
  return made;
}

template <typename Value>
void OneDnnMlpEngine<Value>::reserve(std::size_t n) {
  const auto grow = [](auto& values, std::size_t size) { values.resize(std::max(values.size(), size)); };
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    grow(outputs_[l], n * block_.layers[l].out);
    grow(deltas_[l], n * block_.layers[l].out);
  }
  grow(result_, n * block_.layers.back().out);
}

template <typename Value>
void OneDnnMlpEngine<Value>::keep_parameters(bool keep) {
  keep_parameters_ = keep;
  for (auto& [n, plan] : plans_) {
    plan.packed = false;
  }
}

template <typename Value>
void OneDnnMlpEngine<Value>::pack(Plan& plan) {
  if (keep_parameters_ && plan.packed) {
    return;
  }
  for (std::size_t l = 0; l < plan.layers.size(); ++l) {
    plan.layers[l].pack(block_.parameters + block_.layers[l].offset);
  }
  plan.packed = true;
}

template <typename Value>
const Value* OneDnnMlpEngine<Value>::operand(const float* values, std::size_t count, std::vector<Value>& rounded) {
  if constexpr (is_float<Value>) {
    return values;
  } else {
    rounded.resize(std::max(rounded.size(), count));
    round_to_bfloat16(values, rounded.data(), count);
    return rounded.data();
  }
}

template <typename Value>
const float* OneDnnMlpEngine<Value>::forward(const float* x, std::size_t n) {
  samples_ = n;
  if (n == 0) {
    return result_.data();
  }
  reserve(n);
  Plan& made = plan(n);
  pack(made);
  input_ = operand(x, n * block_.layers.front().in, rounded_input_);
  const Value* input = input_;
  for (std::size_t l = 0; l < outputs_.size(); ++l) {
    const DenseLayer& layer = block_.layers[l];
    made.layers[l].forward(input, bias(layer), outputs_[l].data());
    activate(outputs_[l].data(), n * layer.out, layer.activation);
    input = outputs_[l].data();
  }
  const DenseLayer& last = block_.layers.back();
  made.layers.back().forward(input, bias(last), result_.data());
  activate(result_.data(), n * last.out, last.activation);
  return result_.data();
}

template <typename Value>
const Value* OneDnnMlpEngine<Value>::deactivate_last(float* output_gradient) {
  const DenseLayer& last = block_.layers.back();
  deactivate_and_sum(output_gradient, result_.data(), bias_gradient(last), samples_, last.out, last.activation);
  return operand(output_gradient, samples_ * last.out, rounded_gradient_);
}

template <typename Value>
void OneDnnMlpEngine<Value>::deactivate(std::size_t l) {
  const DenseLayer& layer = block_.layers[l];
  deactivate_and_sum(deltas_[l].data(), outputs_[l].data(), bias_gradient(layer), samples_, layer.out,
                     layer.activation);
}

template <typename Value>
void OneDnnMlpEngine<Value>::clear_gradients(const std::function<void(std::size_t)>& layer_done) {
  for (std::size_t l = block_.layers.size(); l-- > 0;) {
    float* gradients = block_.gradients + block_.layers[l].offset;
    std::fill(gradients, gradients + block_.layers[l].parameters(), 0.0F);
    if (layer_done) {
      layer_done(l);
    }
  }
}

template <typename Value>
void OneDnnMlpEngine<Value>::backward([[maybe_unused]] const float* x, float* output_gradient, float* input_gradient,
                                      const std::function<void(std::size_t)>& layer_done) {
  if (samples_ == 0) {
    clear_gradients(layer_done);
    return;
  }
  Plan& made = plan(samples_);
  if constexpr (is_float<Value>) {
    input_ = x;
  }
  const Value* delta = deactivate_last(output_gradient);
  for (std::size_t l = block_.layers.size(); l-- > 0;) {
    made.layers[l].backward_weights(l == 0 ? input_ : outputs_[l - 1].data(), delta,
                                    block_.gradients + block_.layers[l].offset);
    if (layer_done) {
      layer_done(l);
    }
    if (l > 0) {
      made.layers[l].backward_input(delta, deltas_[l - 1].data());
      deactivate(l - 1);
      delta = deltas_[l - 1].data();
    } else if (input_gradient != nullptr) {
      made.layers[l].backward_input(delta, input_gradient);
    }
  }
}

template class OneDnnMlpEngine<float>;
template class OneDnnMlpEngine<bfloat16_t>;

}  // namespace tutti::miniapps
