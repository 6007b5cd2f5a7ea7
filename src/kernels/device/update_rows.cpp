// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/update_rows.hpp"

#include <string>

#include "kernels/device/atomics.hpp"
#include "kernels/device/row_change.hpp"
#include "kernels/device/row_gradient.hpp"
#include "kernels/embedding_common.hpp"

namespace tutti::kernels::device {
namespace {

/// Item g: changes the rows of the group whose first occurrences are among those of g, but cuts those that occur often
/// into parts.
template <typename Changer>
struct RowBody {
  static constexpr std::uint32_t occurrences = Changer::rows_in_flight;  ///< of an item
  Changer changer;

  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& warp, std::size_t item) const {
    const UpdateJob& update = changer.update;
    if (is_stopped(update.guard)) return;
    const auto begin = static_cast<std::uint32_t>(item) * occurrences;
    std::uint32_t keys[occurrences + 2];  // with those before and after
    std::uint32_t later[occurrences];
    TUTTI_UNROLL
    for (std::uint32_t u = 0; u < occurrences + 2; ++u)
      keys[u] = begin + u > 0 ? key_at(std::size_t{begin} + u - 1) : update.occurrences.no_row;
    TUTTI_UNROLL
    for (std::uint32_t u = 0; u < occurrences; ++u) later[u] = key_at(std::size_t{begin} + u + warp_occurrences);
    typename Changer::Row rows[occurrences];
    bool has_more[occurrences];
    TUTTI_UNROLL
    for (std::uint32_t u = 0; u < occurrences; ++u) {
      const std::uint32_t key = keys[u + 1];
      const bool is_first = key != update.occurrences.no_row && key != keys[u];
      rows[u] = {is_first ? find_table(update, key) : nullptr, key, begin + u};
      has_more[u] = keys[u + 2] == key;
      if (rows[u].job == nullptr || later[u] != key) continue;
      cut(warp, key, begin + u);
      rows[u].job = nullptr;
    }
    if (!has_any(rows)) return;
    changer.change(warp, update.jobs->table.dim, rows,
                   [&](std::size_t column, auto& sums) { add_rows(update, rows, has_more, column, sums); });
  }

  [[nodiscard]] TUTTI_FUNCTION static bool has_any(const typename Changer::Row (&rows)[occurrences]) {
    bool any = false;
    TUTTI_UNROLL
    for (std::uint32_t u = 0; u < occurrences; ++u) any = any || rows[u].job != nullptr;
    return any;
  }

  [[nodiscard]] TUTTI_FUNCTION std::uint32_t key_at(std::size_t i) const {
    const Occurrences& all = changer.update.occurrences;
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
    const OftenRows& often = changer.update.often;
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
    const typename Changer::Row rows[] = {{find_table(update, key), key, row.first}};
    changer.change(warp, dim, rows,
                   [&](std::size_t column, auto& sums) { add_parts(update, row, dim, column, sums[0]); });
  }
};

template <typename Stored, RowOptimizer Optimizer, std::size_t Width>
void launch_width(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  using Changer = RowChanger<Stored, Optimizer, Width>;
  const std::size_t count = update.occurrences.count;
  const std::size_t scratch = Changer::scratch_bytes(group.dim);
  const Changer changer{update};
  launch_warps(stream, (count - 1) / Changer::rows_in_flight + 1, scratch, RowBody<Changer>{changer});
  launch_warps(stream, most_often_rows(count) > 0 ? most_row_parts(count) : 0, 0, PartBody<Width>{update});
  launch_warps(stream, most_often_rows(count), scratch, OftenBody<Changer>{changer});
}

template <typename Stored, RowOptimizer Optimizer>
void launch_update(const UpdateJob& update, const TableGroup& group, StreamHandle stream) {
  if (group.wide) return launch_width<Stored, Optimizer, 4>(update, group, stream);
  launch_width<Stored, Optimizer, 1>(update, group, stream);
}

}  // namespace

void check_row_length(const char* function, const TableList& list, RowOptimizer optimizer) {
  constexpr std::size_t most = (most_scratch_bytes - row_sum_bytes - row_scale_bytes) / sizeof(float);
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
