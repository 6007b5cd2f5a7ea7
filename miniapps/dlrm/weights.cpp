// SPDX-License-Identifier: BSD-3-Clause
#include "weights.hpp"

#include <cmath>

#include "splitmix.hpp"

namespace dlrm {

namespace {

double bound(std::size_t rows) { return std::sqrt(1.0 / static_cast<double>(rows)); }

}  // namespace

void draw_weights(Model& model, tutti::miniapps::NumpyRandom& random) {
  const auto& shape = model.shape();
  auto& shard = model.shard();
  std::size_t next = 0;
  for (std::size_t t = 0; t < shape.rows.size(); ++t) {
    if (next < shard.owned().size() && shard.owned()[next] == t) {
      random.fill_uniform(shard.weights(next), -bound(shape.rows[t]), bound(shape.rows[t]));
      ++next;
    } else {
      random.skip_samples(shape.rows[t] * shape.dim);
    }
  }
  model.bottom().initialize(random);
  model.interaction().initialize(random);
  model.top().initialize(random);
}

void fast_weights(Model& model, std::uint32_t seed) {
  const auto& shape = model.shape();
  auto& shard = model.shard();
  for (std::size_t i = 0; i < shard.owned().size(); ++i) {
    const std::size_t t = shard.owned()[i];
    const auto width = static_cast<float>(2 * bound(shape.rows[t]));
    const std::uint64_t stream = stream_start(seed, t);
    auto weights = shard.weights(i);
    for (std::size_t v = 0; v < weights.size(); ++v) {
      weights[v] = (unit_float(splitmix64(stream + v)) - 0.5F) * width;
    }
  }
  tutti::miniapps::NumpyRandom random(seed);
  model.bottom().initialize(random);
  model.interaction().initialize(random);
  model.top().initialize(random);
}

}  // namespace dlrm
