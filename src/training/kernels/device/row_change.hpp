// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "training/kernels/device/row_sums.hpp"
#include "training/kernels/device/row_writer.hpp"
#include "training/kernels/device/update_rows.hpp"
#include "training/kernels/row_noise.hpp"

namespace tutti::kernels::device {

/// Changes rows by their gradients. A value that depends on no other is changed by the lane that reads it. Row-wise
/// Adagrad and rows of bytes first need the whole row in the scratch of the warp.
template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
struct RowChanger {
  static constexpr bool scaled = std::is_same_v<Stored, std::uint8_t>;
  static constexpr bool row_wise = Optimizer == RowOptimizer::row_wise_adagrad;
  static constexpr bool needs_whole_row = row_wise || scaled;
  static constexpr bool first_moment = Optimizer == RowOptimizer::adagrad || Optimizer == RowOptimizer::adam;
  static constexpr bool second_moment = Optimizer == RowOptimizer::adam;
  UpdateJob update;

  [[nodiscard]] static std::size_t scratch_bytes(std::size_t dim) {
    return needs_whole_row ? row_sum_bytes + row_scale_bytes + dim * sizeof(float) : scratch_alignment;
  }

  /// A row to change, and its first occurrence.
  struct Row {
    const TableJob* job;
    std::uint32_t key;
    std::uint32_t first;

    [[nodiscard]] TUTTI_FUNCTION std::uint64_t number() const { return key - job->first_key; }
    [[nodiscard]] TUTTI_FUNCTION Stored* stored() const {
      return const_cast<Stored*>(row_at<Stored>(job->table, static_cast<std::int64_t>(number())));
    }
  };

  /// The columns of a row, and of its state, that a lane holds.
  struct Piece {
    Stored old[Width];
    float first[Width];
    float second[Width];
  };

  /// sum_of(column, sum) adds the gradients of Width columns.
  template <typename Warp, typename SumOf>
  TUTTI_FUNCTION void change(const Warp& warp, std::size_t dim, const Row& row, const SumOf& sum_of) const {
    if constexpr (needs_whole_row) {
      auto* const gradients = warp.template scratch<float>(row_sum_bytes + row_scale_bytes);
      warp.each(dim / Width, [&](std::size_t p) {
        float sum[Width] = {};
        sum_of(p * Width, sum);
        TUTTI_UNROLL
        for (std::size_t e = 0; e < Width; ++e) gradients[p * Width + e] = sum[e];
      });
      change_whole(warp, row, gradients);
    } else {
      warp.each(dim / Width, [&](std::size_t p) { change_columns(row, p * Width, sum_of); });
    }
  }

 private:
  template <typename SumOf>
  TUTTI_FUNCTION void change_columns(const Row& row, std::size_t column, const SumOf& sum_of) const {
    Piece piece = piece_of(row, column);  // asked for first: gradients take longer
    float sum[Width] = {};
    sum_of(column, sum);
    float values[Width];
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) values[e] = row_value(piece.old[e]);
    change_piece(row, column, piece, sum, values, 0);
    store(row, column, values);
  }

  [[nodiscard]] TUTTI_FUNCTION float* state_at(const Row& row, std::size_t column) const {
    const std::size_t dim = row.job->table.dim;
    return row.job->state + row.number() * (second_moment ? 2 * dim : dim) + column;
  }

  [[nodiscard]] TUTTI_FUNCTION Piece piece_of(const Row& row, std::size_t column) const {
    Piece piece = {};
    load_pack(piece.old, row.stored() + column);
    if constexpr (first_moment) load_pack(piece.first, state_at(row, column));
    if constexpr (second_moment) load_pack(piece.second, state_at(row, column) + row.job->table.dim);
    return piece;
  }

  /// Changes `values`, and the state.
  TUTTI_FUNCTION void change_piece(const Row& row, std::size_t column, Piece& piece, const float (&gradient)[Width],
                                   float (&values)[Width], float denominator) const {
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) {
      change_values<Optimizer>(update.rule, values[e], gradient[e], piece.first[e], piece.second[e], denominator);
    }
    if constexpr (first_moment) store_pack(state_at(row, column), piece.first);
    if constexpr (second_moment) store_pack(state_at(row, column) + row.job->table.dim, piece.second);
  }

  /// `values` are the gradients, and then the changed values.
  template <typename Warp>
  TUTTI_FUNCTION void change_whole(const Warp& warp, const Row& row, float* values) const {
    float denominator = 0;
    if constexpr (row_wise) {
      if (update.finds_squares) return keep_squares(warp, row, values);
      denominator = add_square(warp, row, values);
    }
    [[maybe_unused]] RowScale scale;
    if constexpr (scaled) scale = row.job->table.scales[row.number()];
    warp.each(row.job->table.dim / Width, [&](std::size_t p) {
      const std::size_t column = p * Width;
      Piece piece = piece_of(row, column);
      float gradient[Width];
      float changed[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) {
        gradient[e] = values[column + e];
        changed[e] = row_value(piece.old[e]);
        if constexpr (scaled) changed[e] = scaled_value(changed[e], scale);
      }
      change_piece(row, column, piece, gradient, changed, denominator);
      if constexpr (scaled) {
        TUTTI_UNROLL
        for (std::size_t e = 0; e < Width; ++e) values[column + e] = changed[e];
      } else {
        store(row, column, changed);
      }
    });
    if constexpr (scaled) store_scaled(warp, row, values);
  }

  [[nodiscard]] TUTTI_FUNCTION double* squares_of(const Row& row) const {
    const Occurrences& all = update.occurrences;
    return row.job->squares + (all.values[row.first] - all.starts[row.job->number]);
  }

  template <typename Warp>
  TUTTI_FUNCTION void keep_squares(const Warp& warp, const Row& row, const float* gradients) const {
    const double squares = row_squares(warp, gradients, row.job->table.dim, warp.template scratch<double>());
    warp.each(1, [&](std::size_t) { *squares_of(row) = squares; });
  }

  /// Adds the mean of squares to the state of a row; returns the denominator of its update.
  template <typename Warp>
  TUTTI_FUNCTION float add_square(const Warp& warp, const Row& row, const float* gradients) const {
    const DeviceTable& table = row.job->table;
    const bool is_given = row.job->squares != nullptr;
    const double squares =
        is_given ? *squares_of(row) : row_squares(warp, gradients, table.dim, warp.template scratch<double>());
    const std::size_t columns = is_given ? table.place.whole_columns : table.dim;
    float* const state = row.job->state + row.number();
    const float sum = *state + static_cast<float>(squares / static_cast<double>(columns));
    warp.each(0, [](std::size_t) {});  // all lanes have read the state
    warp.each(1, [&](std::size_t) { *state = sum; });
    return std::sqrt(sum) + update.rule.epsilon;
  }

  TUTTI_FUNCTION void store(const Row& row, std::size_t column, const float (&values)[Width]) const {
    if (!update.stochastic) return store_rounded(row.stored(), values, nullptr, column);
    const RowNoise noise = TableNoise(update.noise_key, row.job->table.place).row(row.number());
    store_rounded(row.stored(), values, &noise, column);
  }

  template <typename Warp>
  TUTTI_FUNCTION void store_scaled(const Warp& warp, const Row& row, const float* values) const {
    const std::size_t dim = row.job->table.dim;
    const RowScale scale = row_scale(warp, values, dim, warp.template scratch<float>());
    const float inverse = 1.0F / scale.scale;
    warp.each(dim / Width, [&](std::size_t p) {
      float steps[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) steps[e] = (values[p * Width + e] - scale.bias) * inverse;
      store(row, p * Width, steps);
    });
    warp.each(1, [&](std::size_t) { row.job->table.scales[row.number()] = scale; });
  }
};

}  // namespace tutti::kernels::device
