// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/update_rows.hpp"

#include "kernels/device/row_sums.hpp"
#include "kernels/device/row_writer.hpp"
#include "kernels/embedding_common.hpp"

namespace tutti::kernels::device {
namespace {

/// Loads of occurrences that a lane has in flight.
inline constexpr std::size_t occurrences_in_flight = 4;

/// Adds the gradients of the occurrence `first` and of those after it in the same row, in their order.
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
      load_constant_pack(gradient[u], job.pooled + bag * job.pooled_stride + column);
    }
    TUTTI_UNROLL
    for (std::size_t u = 0; u < occurrences_in_flight; ++u) {
      if (!used[u]) continue;
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) sum[e] += gradient[u][e] * factor[u];
    }
  }
}

/// Item i: changes a row of the group, if occurrence i is its first. A value that depends on no other is changed by the
/// lane that reads it. Row-wise Adagrad and rows of bytes first need the whole row in the scratch of the warp.
template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
struct UpdateBody {
  static constexpr bool scaled = std::is_same_v<Stored, std::uint8_t>;
  static constexpr bool row_wise = Optimizer == RowOptimizer::row_wise_adagrad;
  static constexpr bool needs_whole_row = row_wise || scaled;
  static constexpr bool first_moment = Optimizer == RowOptimizer::adagrad || Optimizer == RowOptimizer::adam;
  static constexpr bool second_moment = Optimizer == RowOptimizer::adam;
  UpdateJob update;

  [[nodiscard]] static std::size_t scratch_bytes(std::size_t dim) {
    return needs_whole_row ? row_sum_bytes + row_scale_bytes + dim * sizeof(float) : 0;
  }

  /// The row to change, and its first occurrence.
  struct Row {
    const TableJob& job;
    std::uint64_t number;
    std::size_t first;
    Stored* stored;
    RowNoise noise;
  };

  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t i) const {
    const std::uint32_t* keys = update.occurrences.keys;
    const std::uint32_t key = keys[i];
    if (key == update.occurrences.no_row || (i > 0 && keys[i - 1] == key) || is_stopped(update.guard)) return;
    const TableJob* job = find_table(key);
    if (job == nullptr) return;
    const std::uint64_t number = key - job->first_key;
    auto* stored = const_cast<Stored*>(row_at<Stored>(job->table, static_cast<std::int64_t>(number)));
    const Row row{*job, number, i, stored, TableNoise(update.noise_key, job->table.place).row(number)};
    if constexpr (needs_whole_row) {
      change_whole(warp, row);
    } else {
      change_parts(warp, row);
    }
  }

  /// The table of the group that has the row; null if another group has it. Jobs ascend in first_key.
  TUTTI_FUNCTION const TableJob* find_table(std::uint32_t key) const {
    std::size_t low = 0;
    std::size_t high = update.tables;
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (update.jobs[middle].first_key <= key ? low : high) = middle;
    }
    const TableJob& job = update.jobs[low];
    return key >= job.first_key && key - job.first_key < static_cast<std::uint64_t>(job.table.rows) ? &job : nullptr;
  }

  TUTTI_FUNCTION void change_parts(const Warp& warp, const Row& row) const {
    warp.each(row.job.table.dim / Width, [&](std::size_t piece) {
      const std::size_t column = piece * Width;
      Stored old[Width];
      load_pack(old, row.stored + column);
      float gradient[Width] = {};
      add_occurrences(update, row.job, row.first, column, gradient);
      float values[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) values[e] = row_value(old[e]);
      change(row, column, gradient, values, 0);
      store(row, column, values);
    });
  }

  TUTTI_FUNCTION void change_whole(const Warp& warp, const Row& row) const {
    auto* const values = warp.scratch<float>(row_sum_bytes + row_scale_bytes);  // gradients first, then changed values
    sum_gradients(warp, row, values);
    float denominator = 0;
    if constexpr (row_wise) denominator = add_square(warp, row, values);
    [[maybe_unused]] RowScale scale;
    if constexpr (scaled) scale = row.job.table.scales[row.number];
    warp.each(row.job.table.dim / Width, [&](std::size_t piece) {
      const std::size_t column = piece * Width;
      Stored old[Width];
      load_pack(old, row.stored + column);
      float gradient[Width];
      float changed[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) {
        gradient[e] = values[column + e];
        changed[e] = row_value(old[e]);
        if constexpr (scaled) changed[e] = scaled_value(changed[e], scale);
      }
      change(row, column, gradient, changed, denominator);
      if constexpr (scaled) {
        TUTTI_UNROLL
        for (std::size_t e = 0; e < Width; ++e) values[column + e] = changed[e];
      } else {
        store(row, column, changed);
      }
    });
    if constexpr (scaled) store_scaled(warp, row, values);
  }

  TUTTI_FUNCTION void sum_gradients(const Warp& warp, const Row& row, float* gradients) const {
    warp.each(row.job.table.dim / Width, [&](std::size_t piece) {
      float sum[Width] = {};
      add_occurrences(update, row.job, row.first, piece * Width, sum);
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) gradients[piece * Width + e] = sum[e];
    });
  }

  /// Adds the mean of squares to the state of a row; returns the denominator of its update.
  TUTTI_FUNCTION float add_square(const Warp& warp, const Row& row, const float* gradients) const {
    const std::size_t dim = row.job.table.dim;
    const double squares = row_squares(warp, gradients, dim, warp.scratch<double>());
    float* const state = row.job.state + row.number;
    const float sum = *state + static_cast<float>(squares / static_cast<double>(dim));
    warp.each(0, [](std::size_t) {});  // all lanes have read the state
    warp.each(1, [&](std::size_t) { *state = sum; });
    return std::sqrt(sum) + update.rule.epsilon;
  }

  TUTTI_FUNCTION void change(const Row& row, std::size_t column, const float (&gradient)[Width], float (&values)[Width],
                             float denominator) const {
    const std::size_t dim = row.job.table.dim;
    float* state = nullptr;
    float first[Width] = {};
    float second[Width] = {};
    if constexpr (first_moment) {
      state = row.job.state + row.number * (second_moment ? 2 * dim : dim) + column;
      load_pack(first, state);
    }
    if constexpr (second_moment) load_pack(second, state + dim);
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) {
      change_values<Optimizer>(update.rule, values[e], gradient[e], first[e], second[e], denominator);
    }
    if constexpr (first_moment) store_pack(state, first);
    if constexpr (second_moment) store_pack(state + dim, second);
  }

  TUTTI_FUNCTION void store(const Row& row, std::size_t column, const float (&values)[Width]) const {
    store_rounded(row.stored, values, update.stochastic ? &row.noise : nullptr, column);
  }

  TUTTI_FUNCTION void store_scaled(const Warp& warp, const Row& row, const float* values) const {
    const std::size_t dim = row.job.table.dim;
    const RowScale scale = row_scale(warp, values, dim, warp.scratch<float>());
    const float inverse = 1.0F / scale.scale;
    warp.each(dim / Width, [&](std::size_t piece) {
      float steps[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) steps[e] = (values[piece * Width + e] - scale.bias) * inverse;
      store(row, piece * Width, steps);
    });
    warp.each(1, [&](std::size_t) { row.job.table.scales[row.number] = scale; });
  }
};

template <typename Stored, RowOptimizer Optimizer>
void launch_update(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  const auto run = [&](const auto& body) {
    launch_warps(stream, update.occurrences.count, body.scratch_bytes(group.dim), body);
  };
  if (group.wide) return run(UpdateBody<Stored, Optimizer, 4>{update});
  run(UpdateBody<Stored, Optimizer, 1>{update});
}

}  // namespace

void update_rows(const UpdateJob& update, const TableGroup& group, RowOptimizer optimizer, StreamHandle stream) {
  visit_row(group.type, [&]<typename Stored>(Stored*) {
    switch (optimizer) {
      case RowOptimizer::sgd:
        return launch_update<Stored, RowOptimizer::sgd>(update, group, stream);
      case RowOptimizer::adagrad:
        return launch_update<Stored, RowOptimizer::adagrad>(update, group, stream);
      case RowOptimizer::row_wise_adagrad:
        return launch_update<Stored, RowOptimizer::row_wise_adagrad>(update, group, stream);
      case RowOptimizer::adam:
        return launch_update<Stored, RowOptimizer::adam>(update, group, stream);
    }
  });
}

}  // namespace tutti::kernels::device
