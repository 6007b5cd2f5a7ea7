// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <tutti/kernels/launch.hpp>

#include "dense_kernels.hpp"

namespace tutti::miniapps::device {

namespace {

using kernels::Pooled;
using kernels::device::launch;

// As many as go with the arguments of a kernel.
constexpr std::size_t most_features = 64;

/// Some of the features of all samples: item i is value i % dim of feature (i / dim) % count of one sample.
template <typename Float, bool Joins>
struct Move {
  using Joined = std::conditional_t<Joins, float, const float>;
  Pooled<Float> features[most_features];
  std::size_t count;
  std::size_t dim;
  Joined* joined;  ///< at the first of these features
  std::size_t stride;

  TUTTI_FUNCTION void operator()(std::size_t i) const {
    const std::size_t value = i % dim;
    const std::size_t feature = i / dim % count;
    const std::size_t sample = i / dim / count;
    Float* at = features[feature].data + sample * features[feature].stride + value;
    Joined* there = joined + sample * stride + feature * dim + value;
    if constexpr (Joins) {
      *there = *at;
    } else {
      *at = *there;
    }
  }
};

template <bool Joins, typename Float, typename Joined>
void move(std::size_t samples, std::span<const Pooled<Float>> features, std::size_t dim, Joined* joined,
          StreamHandle stream) {
  for (std::size_t first = 0; first < features.size(); first += most_features) {
    Move<Float, Joins> body{};
    body.count = std::min(most_features, features.size() - first);
    std::copy_n(features.begin() + static_cast<std::ptrdiff_t>(first), body.count, body.features);
    body.dim = dim;
    body.joined = joined + first * dim;
    body.stride = features.size() * dim;
    launch(stream, samples * body.count * dim, body);
  }
}

}  // namespace

void join(std::size_t samples, std::span<const Pooled<const float>> features, std::size_t dim, float* joined,
          StreamHandle stream) {
  move<true>(samples, features, dim, joined, stream);
}

void part(std::size_t samples, const float* joined, std::size_t dim, std::span<const Pooled<float>> features,
          StreamHandle stream) {
  move<false>(samples, features, dim, joined, stream);
}

}  // namespace tutti::miniapps::device
