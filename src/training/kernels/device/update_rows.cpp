// SPDX-License-Identifier: BSD-3-Clause
#include "training/kernels/device/update_rows.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "training/kernels/device/atomics.hpp"
#include "training/kernels/device/row_change.hpp"
#include "training/kernels/device/row_gradient.hpp"
#include "training/kernels/embedding_common.hpp"

namespace tutti::kernels::device {
namespace {

/// Occurrences of an item: many, which a warp reads at once, where enough items are left.
constexpr std::uint32_t fewest_of_item = 8;
constexpr std::uint32_t most_of_item = 32;
std::uint32_t span_of(std::size_t count) {
  constexpr std::size_t enough = std::size_t{1} << 14U;  // warps, which fill any device several times
  return static_cast<std::uint32_t>(
      std::clamp<std::size_t>(std::bit_floor(count / enough), fewest_of_item, most_of_item));
}

/// What an item reads of the occurrences: keys with the one before its first and those after its last, and values.
constexpr std::size_t window_keys = most_of_item + warp_occurrences + 4;
constexpr std::size_t window_bytes = (window_keys + most_of_item + warp_occurrences) * sizeof(std::uint32_t);

/// Sums of all values of a bag, without factors, and rounding to nearest.
bool is_plain(const UpdateJob& update) {
  const Occurrences& all = update.occurrences;
  return all.bags == nullptr && all.factors == nullptr && update.winners.positions == nullptr && !update.stochastic;
}

/// Says again that an update is plain, so that the compiler drops all else.
template <bool Plain>
TUTTI_FUNCTION UpdateJob known(UpdateJob update) {
  if constexpr (Plain) {
    update.occurrences.bags = nullptr;
    update.occurrences.factors = nullptr;
    update.winners.positions = nullptr;
    update.stochastic = false;
  }
  return update;
}

/// Item g: changes the rows of the group whose first occurrences are among those of g, but cuts those that occur often
/// into parts.
template <typename Changer, bool Plain>
struct RowBody {
  static constexpr unsigned blocks_at_once = 4;
  UpdateJob given;
  std::uint32_t span;       ///< occurrences of an item
  std::size_t window_from;  ///< bytes of scratch before the window

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t item) const {
    const UpdateJob update = known<Plain>(given);
    if (is_stopped(update.guard)) return;
    const std::uint32_t begin = static_cast<std::uint32_t>(item) * span;
    auto* const keys = warp.template scratch<std::uint32_t>(window_from);
    std::uint32_t* const values = keys + window_keys;
    load_window(warp, begin, keys, values);
    const TableJob* table = update.jobs;
    for (std::uint32_t u = 0; u < span; ++u) {
      const std::uint32_t* const from = keys + u + 1;
      if (*from == update.occurrences.no_row || *from == keys[u]) continue;
      if (!has_row(*table, *from)) {
        const TableJob* const found = find_table(update, *from);
        if (found == nullptr) continue;
        table = found;
      }
      if (from[warp_occurrences] == *from) {
        cut(warp, *from, begin + u);
        continue;
      }
      Changer{update}.change(
          warp, update.jobs->table.dim, {table, *from, begin + u},
          [&](std::size_t column, auto& sum) { add_row(update, *table, from, values + u, column, sum); });
    }
  }

  /// Reads the keys from the one before the item's on, and the values from its first on: so many that those of a row
  /// that is not cut are there.
  template <typename Warp>
  TUTTI_FUNCTION void load_window(const Warp& warp, std::size_t begin, std::uint32_t* keys,
                                  std::uint32_t* values) const {
    const Occurrences& all = given.occurrences;
    warp.each(span + warp_occurrences + 1, [&](std::size_t k) {
      keys[k] = begin + k > 0 ? key_at(begin + k - 1) : all.no_row;
      if (k < span + warp_occurrences && begin + k < all.count) values[k] = all.values[begin + k];
    });
  }

  [[nodiscard]] TUTTI_FUNCTION std::uint32_t key_at(std::size_t i) const {
    const Occurrences& all = given.occurrences;
    return i < all.count ? all.keys[i] : all.no_row;
  }

  /// The end of the row's occurrences, of which `low` is one.
  [[nodiscard]] TUTTI_FUNCTION std::uint32_t end_of(std::uint32_t key, std::size_t low) const {
    std::size_t step = warp_occurrences;
    for (; key_at(low + step) == key; step *= 2) low += step;
    std::size_t high = low + step;
    while (high - low > 1) {
      const std::size_t middle = (low + high) / 2;
      (key_at(middle) == key ? low : high) = middle;
    }
    return static_cast<std::uint32_t>(high);
  }

  template <typename Warp>
  TUTTI_FUNCTION void cut(const Warp& warp, std::uint32_t key, std::uint32_t first) const {
    const OftenRows& often = given.often;
    const std::uint32_t end = end_of(key, std::size_t{first} + warp_occurrences);
    const std::uint32_t parts = (end - first - 1) / row_part + 1;
    auto* const first_part = warp.template scratch<std::uint32_t>();
    warp.each(1, [&](std::size_t) {
      *first_part = fetch_add(often.counts + 1, parts);
      often.rows[fetch_add(often.counts, 1U)] = {first, *first_part, parts};
    });
    warp.each(parts, [&](std::size_t p) {
      const std::uint32_t begin = first + static_cast<std::uint32_t>(p) * row_part;
      often.parts[*first_part + p] = {begin, end - begin < row_part ? end : begin + row_part};
    });
  }
};

/// Item p: adds the gradients of part p of a row that occurs often.
template <std::size_t Width>
struct PartBody {
  UpdateJob update;

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t p) const {
    if (is_stopped(update.guard) || p >= update.often.counts[1]) return;
    const RowPart part = update.often.parts[p];
    const TableJob& job = *find_table(update, update.occurrences.keys[part.begin]);
    const std::size_t dim = job.table.dim;
    warp.each(dim / Width, [&](std::size_t k) {
      float sum[Width] = {};
      add_part(update, job, part, k * Width, sum);
      store_pack(update.often.sums + p * dim + k * Width, sum);
    });
  }
};

/// Item r: changes row r of those that occur often.
template <typename Changer>
struct OftenBody {
  Changer changer;

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t r) const {
    const UpdateJob& update = changer.update;
    if (is_stopped(update.guard) || r >= update.often.counts[0]) return;
    const OftenRow row = update.often.rows[r];
    const std::uint32_t key = update.occurrences.keys[row.first];
    const std::size_t dim = update.jobs->table.dim;
    const TableJob* const table = find_table(update, key);
    if (table == nullptr) return;  // never: an item of this group has cut the row
    changer.change(warp, dim, {table, key, row.first},
                   [&](std::size_t column, auto& sum) { add_parts(update, row, dim, column, sum); });
  }
};

template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
void launch_width(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  using Changer = RowChanger<Stored, Optimizer, Width>;
  const std::size_t count = update.occurrences.count;
  const std::size_t scratch = Changer::scratch_bytes(group.dim);
  const std::uint32_t span = span_of(count);
  const std::size_t items = (count - 1) / span + 1;
  // Both are loaded, since the next call may be captured and need the other.
  constexpr bool has_plain = Width > 1;
  const bool plain = has_plain && is_plain(update);
  launch_warps(stream, plain ? items : 0, scratch + window_bytes, RowBody<Changer, has_plain>{update, span, scratch});
  launch_warps(stream, plain ? 0 : items, scratch + window_bytes, RowBody<Changer, false>{update, span, scratch});
  launch_warps(stream, most_often_rows(count) > 0 ? most_row_parts(count) : 0, 0, PartBody<Width>{update});
  launch_warps(stream, most_often_rows(count), scratch, OftenBody<Changer>{Changer{update}});
}

template <typename Stored, RowOptimizer Optimizer>
void launch_update(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  if (group.wide) return launch_width<Stored, Optimizer, 4>(update, group, stream);
  launch_width<Stored, Optimizer, 1>(update, group, stream);
}

}  // namespace

void check_row_length(const char* function, const TableList& list, RowOptimizer optimizer) {
  constexpr std::size_t most = (most_scratch_bytes - row_sum_bytes - row_scale_bytes - window_bytes) / sizeof(float);
  for (const TableGroup& group : list.groups) {
    const bool needs_whole_row = optimizer == RowOptimizer::row_wise_adagrad || group.type == DatatypeKind::uint8;
    if (!needs_whole_row || group.dim <= most) continue;
    throw Error(ErrorCode::not_supported, std::string(function) + ": table " +
                                              std::to_string(list.jobs[group.first].number) + " has " +
                                              std::to_string(group.dim) +
                                              " columns; on a device row-wise Adagrad and "
                                              "rows of uint8 take at most " +
                                              std::to_string(most) + "; shard its columns, or use host memory");
  }
}

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
