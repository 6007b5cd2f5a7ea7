// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tutti/error.hpp>
#include <tutti/kernels/embedding_rows.hpp>

#include "training/embedding/collection_sections.hpp"
#include "training/embedding/collection_state.hpp"
#include "training/embedding/rows_on_host.hpp"

namespace tutti {

namespace {

using detail::Block;
using detail::RowArrays;
using detail::RowsOnHost;
using detail::state_name;
using detail::TableSection;
using kernels::RowOptimizer;

// Limits the memory that a reader needs beside its shards, since it reads whole sections.
constexpr std::size_t section_bytes = std::size_t{16} << 20U;

/// Memory of values laid out as [rows][parts][columns]: rows (1 part), scales and row-wise state (1 part of 1 column),
/// state of Adagrad and Adam (1 and 2 parts).
struct Grid {
  std::string content;
  std::byte* RowArrays::*array = nullptr;  ///< of the rows' arrays
  std::byte* data = nullptr;               ///< null if they are cached
  Block block;
  std::size_t parts = 1;
  std::size_t value_bytes = 0;
  [[nodiscard]] std::size_t row_bytes() const { return parts * block.columns() * value_bytes; }
};

/// The grids of one piece: its rows, their scales and their optimizer state.
class PieceGrids {
 public:
  PieceGrids(const detail::CollectionFacts& facts, const detail::ShardTables& tables, std::size_t i)
      : shard_(facts.pieces()[i].shard), config_(facts.tables[shard_.table]) {
    const RowOptimizer optimizer = facts.options.optimizer;
    const Block all{shard_.table_rows(), shard_.column_begin, shard_.column_end};
    const auto table = tables.table(i);
    const bool is_cached = !tables.caches().empty();
    const auto in_memory = [is_cached](void* data) { return is_cached ? nullptr : static_cast<std::byte*>(data); };
    grids_.push_back({datatype_name(config_.type), &RowArrays::values, in_memory(table.weights), all, 1,
                      Datatype(config_.type).size()});
    if (table.scales != nullptr) {
      // One scale a row, valid for these columns only.
      grids_.push_back({"scales", &RowArrays::scales, in_memory(table.scales), all, 1, sizeof(kernels::RowScale)});
    }
    std::byte* const state = in_memory(tables.state(i));
    if (optimizer == RowOptimizer::row_wise_adagrad) {
      grids_.push_back(
          {state_name(optimizer), &RowArrays::state, state, {shard_.table_rows(), 0, 1}, 1, sizeof(float)});
    } else if (tables.state_width(i) > 0) {
      grids_.push_back({state_name(optimizer), &RowArrays::state, state, all, tables.state_width(i) / shard_.columns(),
                        sizeof(float)});
    }
  }

  [[nodiscard]] const TableShard& shard() const { return shard_; }
  [[nodiscard]] const EmbeddingTableConfig& config() const { return config_; }
  [[nodiscard]] const Grid& rows() const { return grids_.front(); }
  [[nodiscard]] const std::vector<Grid>& all() const { return grids_; }
  /// Null if the optimizer has no state.
  [[nodiscard]] const Grid* state(RowOptimizer optimizer) const {
    const auto* name = state_name(optimizer);
    const auto at = std::find_if(grids_.begin(), grids_.end(), [&](const Grid& g) { return g.content == name; });
    return *name == 0 || at == grids_.end() ? nullptr : &*at;
  }

 private:
  TableShard shard_;
  const EmbeddingTableConfig& config_;
  std::vector<Grid> grids_;
};

std::size_t stored_row_bytes(const Grid& grid) {
  return grid.content == "scales" ? grid.value_bytes : grid.row_bytes();
}

DatatypeKind row_type(const std::string& content) {
  for (const auto kind : {DatatypeKind::float32, DatatypeKind::float16, DatatypeKind::bfloat16, DatatypeKind::uint8}) {
    if (content == datatype_name(kind)) return kind;
  }
  return DatatypeKind::bytes;
}

/// The type of the values of a grid; scales and states are float32.
DatatypeKind value_type(const std::string& content) {
  const DatatypeKind type = row_type(content);
  return type == DatatypeKind::bytes ? DatatypeKind::float32 : type;
}

/// Where a section's content comes from: a grid of a piece.
struct GridSource {
  std::shared_ptr<detail::SavedRows> rows;
  std::size_t piece;
  std::size_t grid;
};

/// Adds a grid in sections of `step` rows. All grids of a piece have the same steps, so that rows are found with their
/// scales.
void add_grid(CheckpointPart& part, const std::string& prefix, const std::string& table, const Grid& grid,
              std::int64_t step, const GridSource& from) {
  const std::size_t row = stored_row_bytes(grid);
  const TableRows& rows = grid.block.rows;
  for (std::int64_t begin = 0; begin < rows.size(); begin += step) {
    const std::int64_t end = std::min(begin + step, rows.size());
    const TableRows stored{rows.row(begin), rows.row(end - 1) + 1, rows.step};
    const TableSection section{{}, grid.content, stored, grid.block.column_begin, grid.block.column_end};
    const std::uint64_t first = static_cast<std::uint64_t>(begin) * row;
    part.add(detail::section_name(prefix, table, section), static_cast<std::uint64_t>(end - begin) * row,
             value_type(grid.content), [from, first](std::uint64_t offset, std::span<std::byte> out) {
               from.rows->read(from.piece, from.grid, first + offset, out);
             });
  }
}

std::int64_t rows_of_section(const std::vector<Grid>& grids) {
  std::size_t largest = 1;
  for (const Grid& grid : grids) largest = std::max(largest, stored_row_bytes(grid));
  return static_cast<std::int64_t>(std::max<std::size_t>(1, section_bytes / largest));
}

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

/// Reads one piece's part of a checkpoint.
class PieceLoader {
 public:
  PieceLoader(const CheckpointReader& reader, const detail::CollectionFacts& facts, const detail::ShardTables& tables,
              std::size_t piece, const std::vector<TableSection>& sections)
      : reader_(reader),
        facts_(facts),
        tables_(tables),
        piece_(piece),
        grids_(facts, tables, piece),
        sections_(sections) {
    const bool grows = facts.options.grow;  // the checkpoint may lack the last rows of the table
    for (const auto& section : sections)
      if (grows) rows_needed_ = std::max(rows_needed_, section.rows.end);
    if (!grows) rows_needed_ = grids_.config().rows;
  }

  void load() {
    load_rows();
    if (const Grid* state = grids_.state(facts_.options.optimizer)) load_state(*state);
  }

 private:
  void load_rows() {
    const Grid& rows = grids_.rows();
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
      covered_ += static_cast<std::size_t>(common->rows.size()) * common->columns();
    }
    check_covered(rows, "rows");
  }

  void load_state(const Grid& state) {
    covered_ = 0;
    for (const auto& section : sections_) {
      if (section.content != state.content) continue;
      const auto common = common_of(section, state.block);
      if (!common) continue;
      const Block saved = block_of(section);
      read(section, static_cast<std::size_t>(saved.rows.size()) * state.parts * saved.columns() * sizeof(float),
           content_);
      const RowsOnHost window = window_of(common->rows, RowsOnHost::Content::rows_and_state);
      window.read();
      copy_state(saved, *common, state, window);
      window.write();
      covered_ += static_cast<std::size_t>(common->rows.size()) * common->columns();
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

  void check_covered(const Grid& grid, const char* what) const {
    const TableRows& rows = grid.block.rows;
    const std::int64_t needed = rows.below(rows_needed_);
    if (rows_needed_ == 0 || covered_ != static_cast<std::size_t>(needed) * grid.block.columns())
      fail(grids_.config(), fmt::format("lacks {} {} to {} of columns {} to {}", what, rows.begin,
                                        rows.row(std::max<std::int64_t>(needed, 1) - 1) + 1, grid.block.column_begin,
                                        grid.block.column_end));
  }

  void take_rows(const TableSection& section, const Block& common) {
    const Block saved = block_of(section);
    kernels::EmbeddingTable from;
    from.type = row_type(section.content);
    from.rows = saved.rows.size();
    from.dim = saved.columns();
    from.row_stride = from.dim;
    const std::size_t row_bytes = from.dim * Datatype(from.type).size();
    read(section, static_cast<std::size_t>(from.rows) * row_bytes, content_);
    from.weights = content_.data();
    if (from.type == DatatypeKind::uint8) {
      const auto at = std::find_if(sections_.begin(), sections_.end(), [&](const TableSection& other) {
        return other.content == "scales" && other.rows == section.rows && other.column_begin == section.column_begin &&
               other.column_end == section.column_end;
      });
      if (at == sections_.end()) fail(grids_.config(), "lacks the scales of '" + section.name + "'");
      read(*at, static_cast<std::size_t>(from.rows) * sizeof(kernels::RowScale), scales_);
      from.scales = reinterpret_cast<kernels::RowScale*>(scales_.data());
    }
    const TableRows& rows = grids_.rows().block.rows;
    const RowsOnHost window = window_of(common.rows, RowsOnHost::Content::rows);
    const std::int64_t before = rows.below(common.rows.begin) - window.first_row();
    window.read();
    for_each_run(common.rows, saved.rows, rows, [&](const Run& run) {
      copy_rows(from, saved.column_begin, common, {run.from, run.to - before, run.count}, window.table());
    });
    window.write();
  }

  /// The rows of the piece from the first to the last of some of them.
  RowsOnHost window_of(const TableRows& some, RowsOnHost::Content content) const {
    const TableRows& rows = grids_.rows().block.rows;
    const std::int64_t first = rows.below(some.begin);
    return {facts_, tables_, piece_, first, rows.below(some.row(some.size() - 1)) + 1 - first, content};
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

  void copy_state(const Block& saved, const Block& common, const Grid& state, const RowsOnHost& window) {
    const auto* from = reinterpret_cast<const float*>(content_.data());
    const std::int64_t before = state.block.rows.below(common.rows.begin) - window.first_row();
    for (std::int64_t i = 0; i < common.rows.size(); ++i) {
      for (std::size_t k = 0; k < state.parts; ++k) {
        const auto at = [&](const Block& block, std::int64_t first) {
          const auto place = static_cast<std::size_t>(block.rows.below(common.rows.row(i)) - first);
          return (place * state.parts + k) * block.columns() + common.column_begin - block.column_begin;
        };
        std::copy_n(from + at(saved, 0), common.columns(), window.state() + at(state.block, before));
      }
    }
  }

  const CheckpointReader& reader_;
  const detail::CollectionFacts& facts_;
  const detail::ShardTables& tables_;
  std::size_t piece_;
  PieceGrids grids_;
  const std::vector<TableSection>& sections_;
  std::int64_t rows_needed_ = 0;
  std::size_t covered_ = 0;
  std::vector<std::byte> content_;
  std::vector<std::byte> scales_;
  std::vector<float> values_;
};

/// Copies the rows of a grid that is not in memory; null if it is.
detail::SavedRows::CopyRows copier(const detail::ShardTables& tables, std::size_t piece, const Grid& grid) {
  if (grid.data != nullptr || tables.caches().empty()) return {};
  const detail::RowCache& cache = tables.cache(piece);
  const std::uint64_t first_row = tables.cached(piece).first_row;
  return [&cache, first_row, array = grid.array](std::size_t first, std::size_t rows, std::byte* to) {
    RowArrays arrays;
    arrays.*array = to;
    cache.read(first_row + first, rows, arrays);
  };
}

/// The rows of a device.
std::shared_ptr<detail::ShardTables> copy_on_host(const detail::ShardTables& tables,
                                                  const detail::CollectionFacts& facts) {
  auto copy = std::make_shared<detail::ShardTables>(facts, MemoryKind::host);
  copy->copy(tables, facts);
  detail::services::wait_for_stream(facts.device, facts.stream());
  return copy;
}

}  // namespace

void EmbeddingCollection::add_to(CheckpointPart& part, const std::string& prefix) const {
  const auto& facts = state_->facts;
  const auto rows = std::make_shared<detail::SavedRows>();
  const detail::ShardTables* tables = &state_->tables;
  if (facts.on_device()) {
    const auto copy = copy_on_host(*tables, facts);
    tables = copy.get();
    rows->hold(copy);
  } else {
    state_->saved.push_back(rows);
  }
  for (std::size_t i = 0; i < facts.pieces().size(); ++i) {
    const PieceGrids grids(facts, *tables, i);
    const std::int64_t step = rows_of_section(grids.all());
    std::vector<detail::SavedRows::Grid> saved;
    for (const Grid& grid : grids.all()) {
      if (facts.pieces()[i].replica && facts.rank != 0) continue;
      // All columns share the row-wise state: the shard with the first column writes it.
      const bool once = grid.content == state_name(RowOptimizer::row_wise_adagrad);
      if (once && grids.shard().column_begin != 0) continue;
      add_grid(part, prefix, grids.config().name, grid, step, {rows, i, saved.size()});
      saved.push_back({grid.data, stored_row_bytes(grid), copier(*tables, i, grid)});
    }
    rows->add_piece(static_cast<std::size_t>(grids.shard().rows()), saved);
  }
  if (facts.rank != 0) return;
  part.add(prefix + " steps", sizeof state_->steps, DatatypeKind::bytes,
           [steps = state_->steps](std::uint64_t offset, std::span<std::byte> out) {
             std::memcpy(out.data(), reinterpret_cast<const std::byte*>(&steps) + offset, out.size());
           });
}

void EmbeddingCollection::load(const CheckpointReader& reader, const std::string& prefix) {
  const auto& facts = state_->facts;
  const auto names = reader.names();
  state_->end_saved("was loaded before its checkpoint was written");
  const auto copy = facts.on_device() ? copy_on_host(state_->tables, facts) : nullptr;
  const auto& tables = copy ? *copy : state_->tables;
  for (std::size_t i = 0; i < facts.pieces().size(); ++i) {
    const auto& table = facts.tables[facts.pieces()[i].shard.table];
    const auto sections = detail::sections_of(names, prefix, table.name);
    PieceLoader(reader, facts, tables, i, sections).load();
  }
  reader.read(prefix + " steps", std::span<std::uint64_t>(&state_->steps, 1));
  if (!copy) return;
  state_->tables.copy(*copy, facts);
  detail::services::wait_for_stream(facts.device, facts.stream());
}

}  // namespace tutti
