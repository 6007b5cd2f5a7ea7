// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/kernels/interaction.hpp>

#include "benchmarks.hpp"
#include "measure.hpp"

namespace tutti::kernelbench {

nlohmann::json run_interaction(const InteractionSettings& s, int /*rank*/) {
  using namespace tutti::kernels;
  const DotInteraction shape{s.features, s.dim};
  std::vector<float> vectors(s.features * s.dim * s.batch, 0.5F);
  std::vector<float> gradients(vectors.size());
  std::vector<float> crossed(s.batch * shape.width());
  std::vector<Pooled<const float>> inputs;
  std::vector<Pooled<float>> outputs;
  for (std::size_t f = 0; f < s.features; ++f) {
    inputs.push_back({vectors.data() + f * s.dim, s.features * s.dim});
    outputs.push_back({gradients.data() + f * s.dim, s.features * s.dim});
  }
  const auto seconds = measure(
      {{"forward", [&](int) { dot_interaction_forward(shape, s.batch, inputs, crossed.data(), shape.width()); }},
       {"backward",
        [&](int) { dot_interaction_backward(shape, s.batch, inputs, crossed.data(), shape.width(), outputs); }}},
      s.rounds);
  const double operations = static_cast<double>(s.batch * s.features * (s.features - 1) * s.dim) / 1e9;
  return {{"features", s.features},
          {"dim", s.dim},
          {"batch", s.batch},
          {"forward_ms", seconds[0] * 1e3},
          {"forward_gflop_per_s", operations / seconds[0]},
          {"backward_ms", seconds[1] * 1e3},
          {"backward_gflop_per_s", 2 * operations / seconds[1]}};
}

}  // namespace tutti::kernelbench
