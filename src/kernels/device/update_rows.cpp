// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/update_rows.hpp"

#include <algorithm>

#include "kernels/device/row_sums.hpp"
#include "kernels/device/row_writer.hpp"
#include "kernels/embedding_common.hpp"

namespace tutti::kernels::device {
namespace {

/// Counts one more; returns the number before.
TUTTI_FUNCTION std::uint32_t next_place(std::uint32_t* count) {
#if defined(__CUDA_ARCH__)
  return atomicAdd(count, 1U);
#else
  return (*count)++;
#endif
}

/// Loads of occurrences that a lane has in flight.
inline constexpr std::size_t occurrences_in_flight = 4;

/// An occurrence: the bag whose gradient it gets, and the factor. With max pooling it gets the columns that it has won.
struct Occurrence {
  std::size_t bag;
  float factor;
  const std::uint32_t* winners;  ///< of the bag, by column; null: all columns are its
  std::uint32_t position;
};

/// The part of a gradient's columns that an occurrence gets, times its factor.
template <std::size_t Width>
TUTTI_FUNCTION void take_share(const Occurrence& of, std::size_t column, float (&gradient)[Width]) {
  TUTTI_UNROLL
  for (std::size_t e = 0; e < Width; ++e) {
    gradient[e] *= of.factor;
    if (of.winners != nullptr && of.winners[column + e] != of.position) gradient[e] = 0;
  }
}

TUTTI_FUNCTION Occurrence occurrence_at(const UpdateJob& update, const TableJob& job, std::size_t i) {
  const Occurrences& all = update.occurrences;
  const std::uint32_t value = all.values[i];
  Occurrence found{all.bags != nullptr ? all.bags[value] : value, 1.0F, nullptr, 0};
  if (all.factors != nullptr) found.factor = all.factors[job.number * update.bags + found.bag];
  if (update.winners.positions != nullptr) {
    found.winners = update.winners.positions + (job.number * update.bags + found.bag) * update.winners.stride;
    found.position = static_cast<std::uint32_t>(value - all.starts[job.number]);
  }
  if (job.lookups.weights != nullptr) {
    const std::uint64_t position = value - all.starts[job.number];
    found.factor *= job.lookups.weights[job.lookups.offsets[0] + static_cast<std::int64_t>(position)];
  }
  return found;
}

/// Adds the gradients of the occurrence `first` and of those after it in the same row, in their order.
template <std::size_t Width>
TUTTI_FUNCTION void add_occurrences(const UpdateJob& update, const TableJob& job, std::size_t first, std::size_t column,
                                    float (&sum)[Width]) {
  const Occurrences& all = update.occurrences;
  const std::uint32_t key = all.keys[first];
  bool more = true;
  for (std::size_t i = first; more; i += occurrences_in_flight) {
    float gradient[occurrences_in_flight][Width];
    Occurrence at[occurrences_in_flight] = {};
    bool used[occurrences_in_flight];
    TUTTI_UNROLL
    for (std::size_t u = 0; u < occurrences_in_flight; ++u) {
      more = more && i + u < all.count && all.keys[i + u] == key;
      used[u] = more;
      if (!more) continue;
      at[u] = occurrence_at(update, job, i + u);
      load_constant_pack(gradient[u], job.pooled + at[u].bag * job.pooled_stride + column);
    }
    TUTTI_UNROLL
    for (std::size_t u = 0; u < occurrences_in_flight; ++u) {
      if (!used[u]) continue;
      take_share(at[u], column, gradient[u]);
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) sum[e] += gradient[u][e];
    }
  }
}

/// Item i: changes a row of the group, if occurrence i is its first and it does not occur often. A value that depends
/// on no other is changed by the lane that reads it. Row-wise Adagrad and rows of bytes first need the whole row in the
/// scratch of the warp.
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
    const Occurrences& all = update.occurrences;
    const std::uint32_t key = all.keys[i];
    if (key == all.no_row || (i > 0 && all.keys[i - 1] == key) || is_stopped(update.guard)) return;
    const TableJob* job = find_table(key);
    if (job == nullptr) return;
    const bool is_often = i + warp_occurrences < all.count && all.keys[i + warp_occurrences] == key;
    if (is_often && update.often != nullptr) return leave_to_block(warp, i);
    const Row row = row_of(*job, key, i);
    if constexpr (needs_whole_row) {
      auto* const gradients = warp.scratch<float>(row_sum_bytes + row_scale_bytes);
      sum_gradients(warp, row, gradients);
      change_whole(warp, row, gradients);
    } else {
      change_parts(warp, row);
    }
  }

  TUTTI_FUNCTION Row row_of(const TableJob& job, std::uint32_t key, std::size_t first) const {
    const std::uint64_t number = key - job.first_key;
    auto* stored = const_cast<Stored*>(row_at<Stored>(job.table, static_cast<std::int64_t>(number)));
    return {job, number, first, stored, TableNoise(update.noise_key, job.table.place).row(number)};
  }

  /// In any order: each row is changed by one block.
  TUTTI_FUNCTION void leave_to_block(const Warp& warp, std::size_t i) const {
    warp.each(1, [&](std::size_t) { update.often[1 + next_place(update.often)] = static_cast<std::uint32_t>(i); });
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
      float gradient[Width] = {};
      add_occurrences(update, row.job, row.first, piece * Width, gradient);
      change_part(row, piece * Width, gradient);
    });
  }

  TUTTI_FUNCTION void change_part(const Row& row, std::size_t column, const float (&gradient)[Width]) const {
    Stored old[Width];
    load_pack(old, row.stored + column);
    float values[Width];
    TUTTI_UNROLL
    for (std::size_t e = 0; e < Width; ++e) values[e] = row_value(old[e]);
    change(row, column, gradient, values, 0);
    store(row, column, values);
  }

  /// `values` are the gradients, and then the changed values.
  template <typename Team>
  TUTTI_FUNCTION void change_whole(const Team& team, const Row& row, float* values) const {
    float denominator = 0;
    if constexpr (row_wise) {
      if (update.finds_squares) return keep_squares(team, row, values);
      denominator = add_square(team, row, values);
    }
    [[maybe_unused]] RowScale scale;
    if constexpr (scaled) scale = row.job.table.scales[row.number];
    team.each(row.job.table.dim / Width, [&](std::size_t piece) {
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
    if constexpr (scaled) store_scaled(team, row, values);
  }

  TUTTI_FUNCTION void sum_gradients(const Warp& warp, const Row& row, float* gradients) const {
    warp.each(row.job.table.dim / Width, [&](std::size_t piece) {
      float sum[Width] = {};
      add_occurrences(update, row.job, row.first, piece * Width, sum);
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) gradients[piece * Width + e] = sum[e];
    });
  }

  [[nodiscard]] TUTTI_FUNCTION double* squares_of(const Row& row) const {
    const Occurrences& all = update.occurrences;
    return row.job.squares + (all.values[row.first] - all.starts[row.job.number]);
  }

  template <typename Team>
  TUTTI_FUNCTION void keep_squares(const Team& team, const Row& row, const float* gradients) const {
    const double squares = row_squares(team, gradients, row.job.table.dim, team.template scratch<double>());
    team.each(1, [&](std::size_t) { *squares_of(row) = squares; });
  }

  /// Adds the mean of squares to the state of a row; returns the denominator of its update.
  template <typename Team>
  TUTTI_FUNCTION float add_square(const Team& team, const Row& row, const float* gradients) const {
    const DeviceTable& table = row.job.table;
    const bool is_given = row.job.squares != nullptr;
    const double squares =
        is_given ? *squares_of(row) : row_squares(team, gradients, table.dim, team.template scratch<double>());
    const std::size_t columns = is_given ? table.place.whole_columns : table.dim;
    float* const state = row.job.state + row.number;
    const float sum = *state + static_cast<float>(squares / static_cast<double>(columns));
    team.each(0, [](std::size_t) {});  // all lanes have read the state
    team.each(1, [&](std::size_t) { *state = sum; });
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

  template <typename Team>
  TUTTI_FUNCTION void store_scaled(const Team& team, const Row& row, const float* values) const {
    const std::size_t dim = row.job.table.dim;
    const RowScale scale = row_scale(team, values, dim, team.template scratch<float>());
    const float inverse = 1.0F / scale.scale;
    team.each(dim / Width, [&](std::size_t piece) {
      float steps[Width];
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) steps[e] = (values[piece * Width + e] - scale.bias) * inverse;
      store(row, piece * Width, steps);
    });
    team.each(1, [&](std::size_t) { row.job.table.scales[row.number] = scale; });
  }
};

/// Item b of `blocks`: changes the rows that occur often, one after another. All lanes load gradients into the scratch,
/// a chunk of occurrences at a time, so that many loads are in flight; then each column is added in the order of the
/// occurrences.
template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
struct OftenBody {
  using Rows = UpdateBody<Stored, Optimizer, Width>;
  Rows rows;
  std::size_t blocks;
  std::size_t dim;
  std::size_t chunk;  ///< occurrences

  static constexpr std::size_t sums_at = row_sum_bytes + row_scale_bytes;
  /// As many occurrences as the scratch has room for, beside the sums.
  [[nodiscard]] static std::size_t chunk_of(std::size_t dim) {
    const std::size_t row = dim * sizeof(float);
    const std::size_t room = most_scratch_bytes > sums_at + row ? most_scratch_bytes - sums_at - row : 0;
    return std::max<std::size_t>(room / row, 1);
  }
  [[nodiscard]] static std::size_t scratch_bytes(std::size_t dim) {
    return sums_at + (1 + chunk_of(dim)) * dim * sizeof(float);
  }

  TUTTI_FUNCTION void operator()(const Block& block, std::size_t b) const {
    const UpdateJob& update = rows.update;
    if (is_stopped(update.guard)) return;
    for (std::size_t k = b; k < update.often[0]; k += blocks) {
      const std::size_t first = update.often[1 + k];
      const std::uint32_t key = update.occurrences.keys[first];
      const TableJob* job = rows.find_table(key);
      if (job != nullptr) change(block, rows.row_of(*job, key, first), key);
    }
  }

  TUTTI_FUNCTION void change(const Block& block, const typename Rows::Row& row, std::uint32_t key) const {
    auto* const sums = block.scratch<float>(sums_at);
    block.each(dim, [&](std::size_t column) { sums[column] = 0; });
    for (std::size_t begin = row.first; is_of(key, begin); begin += chunk) add_chunk(block, row, key, begin, sums);
    if constexpr (Rows::needs_whole_row) {
      rows.change_whole(block, row, sums);
    } else {
      block.each(dim / Width, [&](std::size_t piece) {
        float gradient[Width];
        TUTTI_UNROLL
        for (std::size_t e = 0; e < Width; ++e) gradient[e] = sums[piece * Width + e];
        rows.change_part(row, piece * Width, gradient);
      });
    }
  }

  [[nodiscard]] TUTTI_FUNCTION bool is_of(std::uint32_t key, std::size_t i) const {
    return i < rows.update.occurrences.count && rows.update.occurrences.keys[i] == key;
  }

  TUTTI_FUNCTION void add_chunk(const Block& block, const typename Rows::Row& row, std::uint32_t key, std::size_t begin,
                                float* sums) const {
    auto* const loaded = sums + dim;
    const std::size_t pieces = dim / Width;
    block.each(chunk * pieces, [&](std::size_t k) {
      const Division at = divide_item(k, pieces);
      const std::size_t i = begin + at.quotient;
      if (!is_of(key, i)) return;
      const Occurrence found = occurrence_at(rows.update, row.job, i);
      const std::size_t column = at.remainder * Width;
      float gradient[Width];
      load_constant_pack(gradient, row.job.pooled + found.bag * row.job.pooled_stride + column);
      take_share(found, column, gradient);
      TUTTI_UNROLL
      for (std::size_t e = 0; e < Width; ++e) loaded[at.quotient * dim + column + e] = gradient[e];
    });
    block.each(dim, [&](std::size_t column) {
      float sum = sums[column];
      for (std::size_t k = 0; k < chunk && is_of(key, begin + k); ++k) sum += loaded[k * dim + column];
      sums[column] = sum;
    });
  }
};

/// Item 0: no row occurs often yet.
struct ForgetBody {
  std::uint32_t* often;
  TUTTI_FUNCTION void operator()(std::size_t /*i*/) const { *often = 0; }
};

template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
void launch_width(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  using Rows = UpdateBody<Stored, Optimizer, Width>;
  using Often = OftenBody<Stored, Optimizer, Width>;
  constexpr std::size_t most_blocks = 264;  // two for each multiprocessor of a large device
  Rows rows{update};
  if (Often::scratch_bytes(group.dim) > most_scratch_bytes) rows.update.often = nullptr;
  const std::size_t often = often_words(update.occurrences.count) - 1;
  const std::size_t blocks = rows.update.often == nullptr ? 0 : std::min(often, most_blocks);
  if (blocks > 0) launch(stream, 1, ForgetBody{update.often});
  launch_warps(stream, update.occurrences.count, Rows::scratch_bytes(group.dim), rows);
  const Often body{rows, blocks, group.dim, Often::chunk_of(group.dim)};
  launch_blocks(stream, blocks, Often::scratch_bytes(group.dim), body);
}

template <typename Stored, RowOptimizer Optimizer>
void launch_update(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  if (group.wide) return launch_width<Stored, Optimizer, 4>(update, group, stream);
  launch_width<Stored, Optimizer, 1>(update, group, stream);
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
