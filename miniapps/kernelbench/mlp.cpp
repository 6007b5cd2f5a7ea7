// SPDX-License-Identifier: BSD-3-Clause
#include "common/mlp.hpp"

#include "benchmarks.hpp"
#include "limits.hpp"
#include "product.hpp"

namespace tutti::kernelbench {
namespace {

std::vector<std::size_t> widths_of(const MlpSettings& s) {
  std::vector<std::size_t> widths(s.layers + 1, s.hidden);
  widths.front() = s.input;
  widths.back() = s.output;
  return widths;
}

/// Each matrix of a product once: weights, inputs and outputs of the layers.
Work forward_work(const miniapps::Mlp& mlp, std::size_t batch, std::size_t value_bytes) {
  Work work;
  for (const miniapps::DenseLayer& layer : mlp.layers()) {
    work.operations += 2 * static_cast<double>(batch * layer.weights());
    work.bytes += static_cast<double>(value_bytes * (layer.weights() + batch * (layer.in + layer.out)));
  }
  return work;
}

/// Two products a layer, of which the first layer lacks the gradient of its input.
Work backward_work(const miniapps::Mlp& mlp, std::size_t batch, std::size_t value_bytes) {
  Work work;
  for (const miniapps::DenseLayer& layer : mlp.layers()) {
    const bool is_first = &layer == &mlp.layers().front();
    const double products = is_first ? 1 : 2;
    work.operations += products * 2 * static_cast<double>(batch * layer.weights());
    work.bytes += products * static_cast<double>(value_bytes * (layer.weights() + batch * (layer.in + layer.out)));
  }
  return work;
}

}  // namespace

nlohmann::json run_mlp(const MlpSettings& s, int rank) {
  miniapps::Mlp mlp(widths_of(s), miniapps::Activation::identity, products_named(s.type));
  miniapps::NumpyRandom random(static_cast<std::uint32_t>(rank + 1));
  mlp.initialize(random);
  const std::vector<float> input(s.batch * s.input, 0.5F);
  const std::vector<float> gradient(s.batch * s.output, 1e-3F);
  std::vector<float> overwritten(gradient.size());
  Product large(s.limits.peak_rows, s.limits.peak_rows, s.limits.peak_rows, s.type);
  Limits limits(
      s.limits, [&] { large.run(); }, large.operations());
  std::vector<Candidate> candidates = limits.candidates();
  candidates.push_back({"forward", [&](int) { (void)mlp.forward(input, s.batch); }});
  candidates.push_back({"backward", [&](int) {
                          overwritten = gradient;
                          mlp.backward(input, overwritten, {});
                        }});
  const std::vector<double> seconds = measure(candidates, s.rounds);
  limits.take(seconds);
  const std::size_t value_bytes = s.type == "float32" ? 4 : 2;
  nlohmann::json result = {{"layers", s.layers}, {"input", s.input}, {"hidden", s.hidden},
                           {"output", s.output}, {"batch", s.batch}, {"type", s.type}};
  limits.add_to(result, "forward", forward_work(mlp, s.batch, value_bytes), seconds[2]);
  limits.add_to(result, "backward", backward_work(mlp, s.batch, value_bytes), seconds[3]);
  limits.add_to(result);
  return result;
}

}  // namespace tutti::kernelbench
