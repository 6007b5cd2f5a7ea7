// SPDX-License-Identifier: BSD-3-Clause
#include "setup.hpp"

#include <cmath>

#include "streams.hpp"

namespace dlrm {

namespace {

double bound(std::size_t rows) { return std::sqrt(1.0 / static_cast<double>(rows)); }

void initialize_dense(Model& model, tutti::miniapps::NumpyRandom& random) {
  model.bottom().initialize(random);
  model.interaction().initialize(random);
  model.top().initialize(random);
}

}  // namespace

void draw_weights(Model& model, tutti::miniapps::NumpyRandom& random) {
  const auto& shape = model.shape();
  for (std::size_t t = 0; t < shape.rows.size(); ++t) {
    const double limit = bound(shape.rows[t]);
    std::uint64_t drawn = 0;
    model.embeddings().fill(t, [&](std::int64_t row_begin, std::int64_t row_end, std::span<float> values) {
      random.skip_samples((static_cast<std::uint64_t>(row_begin) - drawn) * shape.dim);
      random.fill_uniform(values, -limit, limit);
      drawn = static_cast<std::uint64_t>(row_end);
    });
    random.skip_samples((shape.rows[t] - drawn) * shape.dim);
  }
  initialize_dense(model, random);
}

void fast_weights(Model& model, std::uint32_t seed) {
  const auto& shape = model.shape();
  for (std::size_t t = 0; t < shape.rows.size(); ++t) {
    const auto width = static_cast<float>(2 * bound(shape.rows[t]));
    const std::uint64_t stream = stream_start(seed, t);
    model.embeddings().fill(t, [&](std::int64_t row_begin, std::int64_t, std::span<float> values) {
      const std::uint64_t first = stream + static_cast<std::uint64_t>(row_begin) * shape.dim;
      for (std::size_t v = 0; v < values.size(); ++v) {
        values[v] = (unit_float(tutti::miniapps::mix_counter(first + v)) - 0.5F) * width;
      }
    });
  }
  tutti::miniapps::NumpyRandom random(seed);
  initialize_dense(model, random);
}

}  // namespace dlrm
