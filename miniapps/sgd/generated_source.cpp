// SPDX-License-Identifier: BSD-3-Clause
#include "generated_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sgd {

namespace mini = tutti::miniapps;

namespace {

enum Stream : std::uint64_t { teacher_stream = 1, value_stream, noise_stream, test_value_stream, test_noise_stream };

}  // namespace

GeneratedSource::GeneratedSource(const GeneratedShape& shape)
    : shape_(shape),
      outputs_(shape.target == Target::many_classes ? shape.classes : 1),
      forms_(shape.target == Target::many_classes ? 3 : 1),
      teacher_(outputs_ * forms_ * shape.features) {
  const mini::CounterRandom random(shape.seed, teacher_stream);
  const double scale = 1 / std::sqrt(static_cast<double>(shape.features));
  for (std::size_t i = 0; i < teacher_.size(); ++i) {
    teacher_[i] = scale * random.normal(i);
  }
}

std::size_t GeneratedSource::classes() const {
  return shape_.target == Target::number ? 0 : shape_.target == Target::two_classes ? 2 : shape_.classes;
}

std::uint64_t GeneratedSource::samples(Split split) const {
  return split == Split::train  ? shape_.samples
         : split == Split::test ? std::max<std::uint64_t>(1, shape_.samples / 4)
                                : 0;
}

double GeneratedSource::score(Split split, std::uint64_t k, std::size_t output, const double* x) const {
  const double* w = teacher_.data() + output * forms_ * shape_.features;
  std::array<double, 3> forms{};
  for (std::size_t f = 0; f < forms_; ++f) {
    for (std::size_t j = 0; j < shape_.features; ++j) {
      forms[f] += w[f * shape_.features + j] * x[j];
    }
  }
  const mini::CounterRandom random(shape_.seed, split == Split::train ? noise_stream : test_noise_stream);
  const double noise = shape_.noise > 0 ? shape_.noise * random.normal(k * outputs_ + output) : 0;
  return forms[0] + forms[1] * forms[2] + noise;
}

void GeneratedSource::append(Split split, std::uint64_t k, Rows& rows) const {
  const mini::CounterRandom random(shape_.seed, split == Split::train ? value_stream : test_value_stream);
  const double range = 2 * std::sqrt(3.0);
  const std::size_t begin = rows.values.size();
  rows.values.resize(begin + shape_.features);
  double* x = rows.values.data() + begin;
  for (std::size_t j = 0; j < shape_.features; ++j) {
    x[j] = range * (random.uniform(k * shape_.features + j) - 0.5);
  }
  std::size_t best = 0;
  double largest = score(split, k, 0, x);
  for (std::size_t c = 1; c < outputs_; ++c) {
    const double s = score(split, k, c, x);
    best = s > largest ? c : best;
    largest = std::max(largest, s);
  }
  rows.labels.push_back(shape_.target == Target::number        ? largest
                        : shape_.target == Target::two_classes ? (largest > 0 ? 1.0 : 0.0)
                                                               : static_cast<double>(best));
}

std::string GeneratedSource::description() const {
  return fmt::format("generated, {} training and {} test samples of {} numbers, seed {}", samples(Split::train),
                     samples(Split::test), shape_.features, shape_.seed);
}

}  // namespace sgd
