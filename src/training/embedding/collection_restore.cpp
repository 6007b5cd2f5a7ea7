// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_rows.hpp>

#include "training/embedding/collection_sections.hpp"
#include "training/embedding/collection_state.hpp"
#include "training/embedding/piece_grids.hpp"
#include "training/embedding/rows_on_host.hpp"

namespace tutti {

namespace {

using detail::Block;
using detail::PieceGrids;
using detail::row_type;
using detail::RowGrid;
using detail::RowsOnHost;
using detail::TableSection;

[[noreturn]] void fail(const EmbeddingTableConfig& table, const std::string& what) {
  throw Error(ErrorCode::io, fmt::format("checkpoint: table '{}' {}", table.name, what));
}

/// Rows that lie one after the other in two places.
struct Run {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t count = 0;
};

/// Calls visit(run) for the common rows of two parts of a table: all at once if both parts have the same step.
template <typename Visit>
void for_each_run(const TableRows& common, const TableRows& from, const TableRows& to, const Visit& visit) {
  const std::int64_t count = from.step == to.step ? common.size() : 1;
  for (std::int64_t i = 0; i < common.size(); i += count)
    visit(Run{from.below(common.row(i)), to.below(common.row(i)), count});
}

/// The same where only the rows at some places of `from` are stored.
template <typename Visit>
void for_each_run(const std::vector<std::uint32_t>& places, const TableRows& from, const TableRows& to,
                  const Visit& visit) {
  Run run;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t row = from.row(places[i]);
    if (!to.has(row)) continue;
    const Run one{static_cast<std::int64_t>(i), to.below(row), 1};
    const bool goes_on = one.from == run.from + run.count && one.to == run.to + run.count;
    if (!goes_on && run.count > 0) visit(run);
    run = goes_on ? Run{run.from, run.to, run.count + 1} : one;
  }
  if (run.count > 0) visit(run);
}

/// Reads one piece's part of a checkpoint: the rows of the full save, then those of the increments in their order.
class PieceLoader {
 public:
  PieceLoader(const CheckpointReader& reader, const std::vector<std::string>& names, const std::string& prefix,
              const detail::CollectionFacts& facts, const detail::ShardTables& tables, std::size_t piece)
      : reader_(reader),
        facts_(facts),
        tables_(tables),
        piece_(piece),
        grids_(facts, tables, piece),
        sections_(detail::sections_of(names, prefix, grids_.config().name)) {
    const bool grows = facts.options.grow;  // the checkpoint may lack the last rows of the table
    for (const auto& section : sections_)
      if (grows) rows_needed_ = std::max(rows_needed_, section.rows.end);
    if (!grows) rows_needed_ = grids_.config().rows;
  }

  void load() {
    load_rows();
    if (const RowGrid* state = grids_.state(facts_.options.optimizer)) load_state(*state);
  }

 private:
  void load_rows() {
    const RowGrid& rows = grids_.rows();
    for (const auto& section : sections_) {
      if (row_type(section.content) == DatatypeKind::bytes) continue;
      if (section.column_end > grids_.config().dim || section.rows.end > grids_.config().rows) {
        fail(grids_.config(),
             fmt::format("has rows up to {} with {} values in the checkpoint, but is {} x {} here", section.rows.end,
                         section.column_end, grids_.config().rows, grids_.config().dim));
      }
      const auto common = common_of(section, rows.block);
      if (!common) continue;
      take_rows(section, *common);
      cover(section, *common);
    }
    check_covered(rows, "rows");
  }

  void load_state(const RowGrid& state) {
    covered_ = 0;
    for (const auto& section : sections_) {
      if (section.content != state.content) continue;
      const auto common = common_of(section, state.block);
      if (!common) continue;
      take_state(section, *common, state);
      cover(section, *common);
    }
    check_covered(state, ("state of " + state.content).c_str());
  }

  static Block block_of(const TableSection& s) { return {s.rows, s.column_begin, s.column_end}; }
  static std::optional<Block> common_of(const TableSection& s, const Block& block) {
    return detail::common_block(block_of(s), block);
  }

  void read(const TableSection& section, std::size_t bytes, std::vector<std::byte>& to) const {
    if (reader_.bytes(section.name) != bytes)
      fail(grids_.config(), "has a section '" + section.name + "' of another size than its name says");
    to.resize(bytes);
    reader_.read(section.name, std::span(to));
  }

  void cover(const TableSection& section, const Block& common) {
    if (section.increment == 0) covered_ += static_cast<std::size_t>(common.rows.size()) * common.columns();
  }

  void check_covered(const RowGrid& grid, const char* what) const {
    const TableRows& rows = grid.block.rows;
    const std::int64_t needed = rows.below(rows_needed_);
    if (rows_needed_ == 0 || covered_ != static_cast<std::size_t>(needed) * grid.block.columns())
      fail(grids_.config(), fmt::format("lacks {} {} to {} of columns {} to {}", what, rows.begin,
                                        rows.row(std::max<std::int64_t>(needed, 1) - 1) + 1, grid.block.column_begin,
                                        grid.block.column_end));
  }

  /// The section of other content for the rows and columns of this one.
  [[nodiscard]] const TableSection& beside(const TableSection& section, std::string_view content) const {
    const auto at = std::find_if(sections_.begin(), sections_.end(), [&](const TableSection& other) {
      return other.content == content && other.increment == section.increment && other.rows == section.rows &&
             other.column_begin == section.column_begin;
    });
    if (at == sections_.end())
      fail(grids_.config(), fmt::format("lacks the section '{}' of '{}'", content, section.name));
    return *at;
  }

  /// Reads the places of the rows that a section of an increment stores.
  void read_places(const TableSection& section) {
    places_.clear();
    if (section.increment == 0) return;
    const TableSection& at = beside(section, detail::changed_rows);
    places_.resize(reader_.bytes(at.name) / sizeof(std::uint32_t));
    reader_.read(at.name, std::span(places_));
    if (std::any_of(places_.begin(), places_.end(), [&](auto place) { return place >= section.rows.size(); }))
      fail(grids_.config(), "has a section '" + at.name + "' with rows that its name does not have");
  }
  [[nodiscard]] std::int64_t stored_rows(const TableSection& section) const {
    return section.increment == 0 ? section.rows.size() : static_cast<std::int64_t>(places_.size());
  }
  /// Calls visit(run, window) for the rows that a section stores, of which run.to is counted in the window's table.
  template <typename Visit>
  void for_each_stored_run(const TableSection& section, const Block& common, RowsOnHost::Content content,
                           const Visit& visit) const {
    const TableRows& to = grids_.rows().block.rows;
    if (section.increment != 0) {
      return for_each_run(places_, section.rows, to, [&](const Run& run) {
        change_rows(run.to, run.count, content, [&](const RowsOnHost& window) {
          visit(Run{run.from, window.first_row(), run.count}, window);
        });
      });
    }
    const std::int64_t first = to.below(common.rows.begin);
    const std::int64_t end = to.below(common.rows.row(common.rows.size() - 1)) + 1;
    change_rows(first, end - first, content, [&](const RowsOnHost& window) {
      for_each_run(common.rows, section.rows, to, [&](const Run& run) {
        visit(Run{run.from, run.to - first + window.first_row(), run.count}, window);
      });
    });
  }
  /// Calls visit(window) with rows of the piece, and puts them back.
  template <typename Visit>
  void change_rows(std::int64_t first, std::int64_t rows, RowsOnHost::Content content, const Visit& visit) const {
    const RowsOnHost window(facts_, tables_, piece_, first, rows, content);
    window.read();
    visit(window);
    window.write();
  }

  void take_rows(const TableSection& section, const Block& common) {
    const Block saved = block_of(section);
    read_places(section);
    kernels::EmbeddingTable from;
    from.type = row_type(section.content);
    from.rows = stored_rows(section);
    from.dim = saved.columns();
    from.row_stride = from.dim;
    const std::size_t row_bytes = from.dim * Datatype(from.type).size();
    read(section, static_cast<std::size_t>(from.rows) * row_bytes, content_);
    from.weights = content_.data();
    if (from.type == DatatypeKind::uint8) {
      const TableSection& at = beside(section, "scales");
      read(at, static_cast<std::size_t>(from.rows) * sizeof(kernels::RowScale), scales_);
      from.scales = reinterpret_cast<kernels::RowScale*>(scales_.data());
    }
    for_each_stored_run(section, common, RowsOnHost::Content::rows, [&](const Run& run, const RowsOnHost& window) {
      copy_rows(from, saved.column_begin, common, run, window.table());
    });
  }

  void copy_rows(const kernels::EmbeddingTable& from, std::size_t from_column, const Block& common, const Run& run,
                 const kernels::EmbeddingTable& to) {
    const std::size_t to_column = grids_.shard().column_begin;
    if (from.type == to.type && from.dim == to.dim && from_column == to_column) {
      const std::size_t row_bytes = from.dim * Datatype(from.type).size();
      const auto first = static_cast<std::size_t>(run.to);
      const auto skipped = static_cast<std::size_t>(run.from);
      const auto count = static_cast<std::size_t>(run.count);
      std::memcpy(static_cast<std::byte*>(to.weights) + first * row_bytes, content_.data() + skipped * row_bytes,
                  count * row_bytes);
      if (to.scales != nullptr) std::copy_n(from.scales + skipped, count, to.scales + first);
      return;
    }
    values_.resize(static_cast<std::size_t>(run.count) * common.columns());
    kernels::read_rows(from, {run.from, run.count, common.column_begin - from_column, common.columns()}, values_.data(),
                       common.columns());
    kernels::write_rows(to, {run.to, run.count, common.column_begin - to_column, common.columns()}, values_.data(),
                        common.columns());
  }

  void take_state(const TableSection& section, const Block& common, const RowGrid& state) {
    const Block saved = block_of(section);
    read_places(section);
    read(section, static_cast<std::size_t>(stored_rows(section)) * state.parts * saved.columns() * sizeof(float),
         content_);
    for_each_stored_run(
        section, common, RowsOnHost::Content::rows_and_state,
        [&](const Run& run, const RowsOnHost& window) { copy_state(saved, common, state, run, window.state()); });
  }

  void copy_state(const Block& saved, const Block& common, const RowGrid& state, const Run& run, float* to) {
    const auto* from = reinterpret_cast<const float*>(content_.data());
    const auto at = [&](const Block& block, std::int64_t place, std::size_t part) {
      return (static_cast<std::size_t>(place) * state.parts + part) * block.columns() + common.column_begin -
             block.column_begin;
    };
    for (std::int64_t i = 0; i < run.count; ++i)
      for (std::size_t k = 0; k < state.parts; ++k)
        std::copy_n(from + at(saved, run.from + i, k), common.columns(), to + at(state.block, run.to + i, k));
  }

  const CheckpointReader& reader_;
  const detail::CollectionFacts& facts_;
  const detail::ShardTables& tables_;
  std::size_t piece_;
  PieceGrids grids_;
  std::vector<TableSection> sections_;
  std::int64_t rows_needed_ = 0;
  std::size_t covered_ = 0;
  std::vector<std::byte> content_;
  std::vector<std::byte> scales_;
  std::vector<std::uint32_t> places_;
  std::vector<float> values_;
};

}  // namespace

void EmbeddingCollection::load(const CheckpointReader& reader, const std::string& prefix) {
  const auto& facts = state_->facts;
  const auto names = reader.names();
  state_->end_saved("was loaded before its checkpoint was written");
  const auto copy = facts.on_device() ? detail::copy_on_host(state_->tables, facts) : nullptr;
  const auto& tables = copy ? *copy : state_->tables;
  for (std::size_t i = 0; i < facts.pieces().size(); ++i) PieceLoader(reader, names, prefix, facts, tables, i).load();
  reader.read(prefix + " steps", std::span<std::uint64_t>(&state_->steps, 1));
  if (!copy) return;
  state_->tables.copy(*copy, facts);
  detail::services::wait_for_stream(facts.device, facts.stream());
}

}  // namespace tutti
