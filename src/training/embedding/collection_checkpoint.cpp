// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>

#include "training/checkpoint/increment.hpp"
#include "training/embedding/collection_sections.hpp"
#include "training/embedding/collection_state.hpp"
#include "training/embedding/piece_grids.hpp"

namespace tutti {

namespace {

using detail::PieceGrids;
using detail::RowGrid;
using detail::TableSection;

// Limits the memory that a reader needs beside its shards, since it reads whole sections.
constexpr std::size_t section_bytes = std::size_t{16} << 20U;

std::int64_t rows_of_section(const std::vector<RowGrid>& grids) {
  std::size_t largest = 1;
  for (const RowGrid& grid : grids) largest = std::max(largest, grid.row_bytes());
  return static_cast<std::int64_t>(std::max<std::size_t>(1, section_bytes / largest));
}

/// Adds the sections of one piece: of all its rows, or of those that were chosen.
class PieceSections {
 public:
  PieceSections(CheckpointPart& part, const std::string& prefix, const PieceGrids& grids,
                std::shared_ptr<detail::SavedRows> rows, std::size_t piece,
                std::shared_ptr<const detail::ChosenRows> chosen, std::uint64_t increment)
      : part_(part),
        prefix_(prefix),
        grids_(grids),
        rows_(std::move(rows)),
        piece_(piece),
        chosen_(std::move(chosen)),
        increment_(increment),
        step_(rows_of_section(grids.all())) {}

  /// The places of the rows that were chosen.
  void add_places() const {
    const detail::Block& block = grids_.rows().block;
    for_each_block([&](std::int64_t begin, std::int64_t end, std::size_t first, std::size_t last) {
      part_.add(name(detail::changed_rows, block, begin, end), (last - first) * sizeof(std::uint32_t),
                DatatypeKind::bytes, [chosen = chosen_, first, begin](std::uint64_t offset, std::span<std::byte> out) {
                  const auto* from = chosen->rows.data() + first + offset / sizeof(std::uint32_t);
                  for (std::size_t i = 0; i < out.size() / sizeof(std::uint32_t); ++i) {
                    const std::uint32_t place = from[i] - static_cast<std::uint32_t>(begin);
                    std::memcpy(out.data() + i * sizeof place, &place, sizeof place);
                  }
                });
    });
  }

  /// All grids of a piece are divided at the same rows, so that rows are found with their scales.
  void add_grid(const RowGrid& grid, std::size_t number) const {
    const std::size_t row = grid.row_bytes();
    for_each_block([&](std::int64_t begin, std::int64_t end, std::size_t first, std::size_t last) {
      part_.add(name(grid.content, grid.block, begin, end), (last - first) * row, detail::value_type(grid.content),
                [rows = rows_, piece = piece_, number, at = first * row](
                    std::uint64_t offset, std::span<std::byte> out) { rows->read(piece, number, at + offset, out); });
    });
  }

 private:
  [[nodiscard]] std::string name(const std::string& content, const detail::Block& block, std::int64_t begin,
                                 std::int64_t end) const {
    const TableRows& rows = block.rows;
    const TableRows stored{rows.row(begin), rows.row(end - 1) + 1, rows.step};
    return detail::section_name(prefix_, grids_.config().name,
                                {{}, content, stored, block.column_begin, block.column_end, increment_});
  }

  /// Calls visit(begin, end, first, last) with the places of a block of rows, and which of the saved rows are in it.
  template <typename Visit>
  void for_each_block(const Visit& visit) const {
    const std::int64_t rows = grids_.shard().rows();
    for (std::int64_t begin = 0; begin < rows; begin += step_) {
      const std::int64_t end = std::min(begin + step_, rows);
      const std::size_t first = saved_below(begin);
      const std::size_t last = saved_below(end);
      if (first < last) visit(begin, end, first, last);
    }
  }
  [[nodiscard]] std::size_t saved_below(std::int64_t place) const {
    if (!chosen_) return static_cast<std::size_t>(place);
    const auto& rows = chosen_->rows;
    return static_cast<std::size_t>(std::lower_bound(rows.begin(), rows.end(), place) - rows.begin());
  }

  CheckpointPart& part_;
  const std::string& prefix_;
  const PieceGrids& grids_;
  std::shared_ptr<detail::SavedRows> rows_;
  std::size_t piece_;
  std::shared_ptr<const detail::ChosenRows> chosen_;
  std::uint64_t increment_;
  std::int64_t step_;
};

/// Copies the rows of a grid that is not in memory; null if it is.
detail::SavedRows::CopyRows copier(const detail::ShardTables& tables, std::size_t piece, const RowGrid& grid) {
  if (tables.caches().empty()) return {};
  const detail::RowCache& cache = tables.cache(piece);
  const std::uint64_t first_row = tables.cached(piece).first_row;
  return [&cache, first_row, array = grid.array](std::size_t first, std::size_t rows, std::byte* to) {
    detail::RowArrays arrays;
    arrays.*array = to;
    cache.read(first_row + first, rows, arrays);
  };
}

}  // namespace

void EmbeddingCollection::add_to(CheckpointPart& part, const std::string& prefix) const {
  const auto& facts = state_->facts;
  auto* increment = part.increment();
  if (increment != nullptr && !state_->begin_increment(*increment, prefix)) return;
  const bool only_changed = increment != nullptr && increment->base != 0;
  const auto rows = std::make_shared<detail::SavedRows>();
  const detail::ShardTables* tables = &state_->tables;
  if (facts.on_device()) {
    const auto copy = detail::copy_on_host(*tables, facts);
    tables = copy.get();
    rows->hold(copy);
  } else {
    state_->saved.push_back(rows);
  }
  for (std::size_t i = 0; i < facts.pieces().size(); ++i) {
    const PieceGrids grids(facts, *tables, i);
    const auto chosen = only_changed ? state_->changes->chosen(i) : nullptr;
    const PieceSections sections(part, prefix, grids, rows, i, chosen, only_changed ? increment->number : 0);
    std::vector<detail::SavedRows::Grid> saved;
    const bool is_written_elsewhere = facts.pieces()[i].replica && facts.rank != 0;
    if (chosen && !is_written_elsewhere) sections.add_places();
    for (const RowGrid& grid : grids.all()) {
      if (is_written_elsewhere) continue;
      // All columns share the row-wise state: the shard with the first column writes it.
      const bool once = grid.content == detail::state_name(kernels::RowOptimizer::row_wise_adagrad);
      if (once && grids.shard().column_begin != 0) continue;
      sections.add_grid(grid, saved.size());
      saved.push_back({grid.data, grid.row_bytes(), copier(*tables, i, grid)});
    }
    rows->add_piece(static_cast<std::size_t>(grids.shard().rows()), saved, chosen);
  }
  if (facts.rank != 0) return;
  part.add(prefix + " steps", sizeof state_->steps, DatatypeKind::bytes,
           [steps = state_->steps](std::uint64_t offset, std::span<std::byte> out) {
             std::memcpy(out.data(), reinterpret_cast<const std::byte*>(&steps) + offset, out.size());
           });
}

}  // namespace tutti
