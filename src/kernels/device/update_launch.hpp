// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "kernels/device/row_sums.hpp"
#include "kernels/device/update_rows.hpp"

namespace tutti::kernels::device {

/// Item i: if occurrence i is the first of a row of the group, that row. Values that depend on no other are changed
/// where they are read; row-wise Adagrad and rows of bytes need all of a row first, in the scratch of the warp.
template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
struct UpdateBody {
  static constexpr bool scaled = std::is_same_v<Stored, std::uint8_t>;
  static constexpr bool row_wise = Optimizer == RowOptimizer::row_wise_adagrad;
  static constexpr bool first_moment = Optimizer == RowOptimizer::adagrad || Optimizer == RowOptimizer::adam;
  static constexpr bool second_moment = Optimizer == RowOptimizer::adam;
  UpdateJob update;

  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t i) const {
    const std::uint32_t* keys = update.occurrences.keys;
    const std::uint32_t key = keys[i];
    if (key == update.occurrences.no_row || (i > 0 && keys[i - 1] == key) || is_stopped(update.guard)) return;
    const TableJob* job = find_table(key);
    if (job == nullptr) return;
    const std::uint64_t row = key - job->first_key;
    if constexpr (row_wise || scaled) {
      change_whole(warp, *job, row, i);
    } else {
      change_parts(warp, *job, row, i);
    }
  }

  /// The table of the group that has the row; null where another group has it. Jobs ascend in first_key.
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

  TUTTI_FUNCTION RowNoise noise_of(const TableJob& job, std::uint64_t row) const {
    return TableNoise(update.noise_key, job.table.place).row(row);
  }

  TUTTI_FUNCTION void change(const TableJob& job, std::uint64_t row, std::size_t column, const float (&gradient)[Width],
                             float (&values)[Width], float denominator) const {
    const std::size_t dim = job.table.dim;
    float* state = nullptr;
    float first[Width] = {};
    float second[Width] = {};
    if constexpr (first_moment) {
      state = job.state + row * (second_moment ? 2 * dim : dim) + column;
      load_pack<float, Width, false>(first, state);
    }
    if constexpr (second_moment) load_pack<float, Width, false>(second, state + dim);
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) {
      change_values<Optimizer>(update.rule, values[e], gradient[e], first[e], second[e], denominator);
    }
    if constexpr (first_moment) store_pack(state, first);
    if constexpr (second_moment) store_pack(state + dim, second);
  }

  TUTTI_FUNCTION void change_parts(const Warp& warp, const TableJob& job, std::uint64_t row, std::size_t i) const {
    auto* stored = const_cast<Stored*>(row_at<Stored>(job.table, static_cast<std::int64_t>(row)));
    const RowNoise noise = noise_of(job, row);
    warp.each(job.table.dim / Width, [&](std::size_t piece) {
      const std::size_t column = piece * Width;
      Stored old[Width];
      load_pack<Stored, Width, false>(old, stored + column);
      float gradient[Width] = {};
      add_occurrences(update, job, i, column, gradient);
      float values[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) values[e] = row_value(old[e]);
      change(job, row, column, gradient, values, 0);
      store_rounded(stored, values, update.stochastic ? &noise : nullptr, column);
    });
  }

  TUTTI_FUNCTION void change_whole(const Warp& warp, const TableJob& job, std::uint64_t row, std::size_t i) const {
    const std::size_t dim = job.table.dim;
    double* const room = warp.scratch<double>();
    auto* const gradients = warp.scratch<float>(row_sum_bytes + row_scale_bytes);
    warp.each(dim / Width, [&](std::size_t piece) {
      float sum[Width] = {};
      add_occurrences(update, job, i, piece * Width, sum);
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) gradients[piece * Width + e] = sum[e];
    });
    float denominator = 0;
    if constexpr (row_wise) denominator = add_square(warp, job, row, row_squares(warp, gradients, dim, room));
    auto* stored = const_cast<Stored*>(row_at<Stored>(job.table, static_cast<std::int64_t>(row)));
    const RowNoise noise = noise_of(job, row);
    [[maybe_unused]] RowScale scale;
    if constexpr (scaled) scale = job.table.scales[row];
    warp.each(dim / Width, [&](std::size_t piece) {
      const std::size_t column = piece * Width;
      Stored old[Width];
      load_pack<Stored, Width, false>(old, stored + column);
      float gradient[Width];
      float values[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) {
        gradient[e] = gradients[column + e];
        values[e] = row_value(old[e]);
        if constexpr (scaled) values[e] = scaled_value(values[e], scale);
      }
      change(job, row, column, gradient, values, denominator);
      if constexpr (scaled) {
        TUTTI_UNROLL
        for (std::size_t e = 0; e < Width; ++e) gradients[column + e] = values[e];
      } else {
        store_rounded(stored, values, update.stochastic ? &noise : nullptr, column);
      }
    });
    if constexpr (scaled) store_scaled(warp, job, row, gradients, noise, reinterpret_cast<float*>(room));
  }

  /// Adds the mean of squares to the state of a row; returns the denominator of its update.
  TUTTI_FUNCTION float add_square(const Warp& warp, const TableJob& job, std::uint64_t row, double squares) const {
    const float state = job.state[row] + static_cast<float>(squares / static_cast<double>(job.table.dim));
    warp.each(0, [](std::size_t) {});  // all lanes have read the state
    warp.each(1, [&](std::size_t) { job.state[row] = state; });
    return std::sqrt(state) + update.rule.epsilon;
  }

  TUTTI_FUNCTION void store_scaled(const Warp& warp, const TableJob& job, std::uint64_t row, const float* values,
                                   const RowNoise& noise, float* room) const {
    const RowScale scale = row_scale(warp, values, job.table.dim, room);
    const float inverse = 1.0F / scale.scale;
    auto* stored = const_cast<std::uint8_t*>(row_at<std::uint8_t>(job.table, static_cast<std::int64_t>(row)));
    warp.each(job.table.dim / Width, [&](std::size_t piece) {
      float steps[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) steps[e] = (values[piece * Width + e] - scale.bias) * inverse;
      store_rounded(stored, steps, update.stochastic ? &noise : nullptr, piece * Width);
    });
    warp.each(1, [&](std::size_t) { job.table.scales[row] = scale; });
  }
};

/// Launches the update of the rows of one group, one function a type of rows.
template <typename Stored>
void update_group(const UpdateJob& update, const TableGroup& group, RowOptimizer optimizer, StreamHandle stream) {
  const auto run = [&]<RowOptimizer Optimizer>(std::integral_constant<RowOptimizer, Optimizer>) {
    constexpr bool whole = std::is_same_v<Stored, std::uint8_t> || Optimizer == RowOptimizer::row_wise_adagrad;
    const std::size_t bytes = whole ? row_sum_bytes + row_scale_bytes + group.dim * sizeof(float) : 0;
    const std::size_t items = update.occurrences.count;
    if (group.wide) return launch_warps(stream, items, bytes, UpdateBody<Stored, Optimizer, 4>{update});
    launch_warps(stream, items, bytes, UpdateBody<Stored, Optimizer, 1>{update});
  };
  switch (optimizer) {
    case RowOptimizer::sgd:
      return run(std::integral_constant<RowOptimizer, RowOptimizer::sgd>());
    case RowOptimizer::adagrad:
      return run(std::integral_constant<RowOptimizer, RowOptimizer::adagrad>());
    case RowOptimizer::row_wise_adagrad:
      return run(std::integral_constant<RowOptimizer, RowOptimizer::row_wise_adagrad>());
    case RowOptimizer::adam:
      return run(std::integral_constant<RowOptimizer, RowOptimizer::adam>());
  }
}

extern template void update_group<float>(const UpdateJob&, const TableGroup&, RowOptimizer, StreamHandle);
extern template void update_group<bfloat16_t>(const UpdateJob&, const TableGroup&, RowOptimizer, StreamHandle);
extern template void update_group<float16_t>(const UpdateJob&, const TableGroup&, RowOptimizer, StreamHandle);
extern template void update_group<std::uint8_t>(const UpdateJob&, const TableGroup&, RowOptimizer, StreamHandle);

}  // namespace tutti::kernels::device
