// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/device/launch.hpp"
#include "kernels/device/occurrences.hpp"
#include "kernels/device/row_pack.hpp"
#include "kernels/row_noise.hpp"

/// Rows updated from their sorted occurrences, a warp a row.
namespace tutti::kernels::device {

/// What all tables of a launch share.
struct UpdateJob {
  const TableJob* jobs;
  std::size_t tables;  ///< of the group, neighbours in `jobs`
  std::size_t bags;
  Occurrences occurrences;
  UpdateRule rule;
  std::uint64_t noise_key;  ///< TableNoise::step_key
  bool stochastic;
  const IndexStatus* guard;
};

/// Occurrences that a lane has asked for at a time.
inline constexpr std::size_t occurrences_in_flight = 4;

/// Adds the gradients of the occurrences from `first` on that are of the same row, in their order.
template <std::size_t Width>
TUTTI_FUNCTION void add_occurrences(const UpdateJob& update, const TableJob& job, std::size_t first, std::size_t column,
                                    float (&sum)[Width]) {
  const Occurrences& all = update.occurrences;
  const std::uint32_t key = all.keys[first];
  const float* factors = all.factors != nullptr ? all.factors + job.number * update.bags : nullptr;
  bool more = true;
  for (std::size_t i = first; more; i += occurrences_in_flight) {
    float gradient[occurrences_in_flight][Width];
    float factor[occurrences_in_flight] = {};
    bool used[occurrences_in_flight];
    TUTTI_UNROLL
    for (std::size_t u = 0; u < occurrences_in_flight; ++u) {
      more = more && i + u < all.count && all.keys[i + u] == key;
      used[u] = more;
      if (!more) continue;
      const std::uint32_t value = all.values[i + u];
      const std::size_t bag = all.bags != nullptr ? all.bags[value] : value;
      factor[u] = factors != nullptr ? factors[bag] : 1.0F;
      if (job.lookups.weights != nullptr) {
        const std::uint64_t position = value - all.starts[job.number];
        factor[u] *= job.lookups.weights[job.lookups.offsets[0] + static_cast<std::int64_t>(position)];
      }
      load_pack<float, Width, true>(gradient[u], job.pooled + bag * job.pooled_stride + column);
    }
    TUTTI_UNROLL
    for (std::size_t u = 0; u < occurrences_in_flight; ++u) {
      if (!used[u]) continue;
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) sum[e] += gradient[u][e] * factor[u];
    }
  }
}

/// One value as it is stored; to nearest where noise is null.
TUTTI_FUNCTION void round_value(float& to, float from, const RowNoise* /*noise*/, std::size_t /*column*/) { to = from; }

TUTTI_FUNCTION void round_value(bfloat16_t& to, float from, const RowNoise* noise, std::size_t column) {
  std::uint32_t bits = 0;
  if (noise != nullptr) noise->load<float>(bits, column);
  std::uint32_t rounded = 0;
  round_bfloat16<float>(rounded, from, noise != nullptr ? &bits : nullptr);
  to.bits = static_cast<std::uint16_t>(rounded);
}

TUTTI_FUNCTION void round_value(float16_t& to, float from, const RowNoise* noise, std::size_t column) {
  if (noise == nullptr) {
    to = float16_t(from);
    return;
  }
  std::uint32_t bits = 0;
  noise->load<float>(bits, column);
  std::uint32_t rounded = 0;
  round_float16<float>(rounded, from, bits);
  to.bits = static_cast<std::uint16_t>(rounded);
}

TUTTI_FUNCTION void round_value(std::uint8_t& to, float from, const RowNoise* noise, std::size_t column) {
  std::uint32_t bits = 0;
  if (noise != nullptr) noise->load<float>(bits, column);
  std::uint32_t step = 0;
  round_step<float>(step, from, noise != nullptr ? &bits : nullptr);
  to = static_cast<std::uint8_t>(step);
}

template <typename Stored, std::size_t Width>
TUTTI_FUNCTION void store_rounded(Stored* row, const float (&values)[Width], const RowNoise* noise,
                                  std::size_t column) {
  Stored stored[Width];
  TUTTI_UNROLL
  for (std::size_t e = 0; e < Width; ++e) round_value(stored[e], values[e], noise, column + e);
  store_pack(row + column, stored);
}

}  // namespace tutti::kernels::device
