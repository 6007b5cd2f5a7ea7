// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tutti/kernels/embedding_backward.hpp>
#include <tutti/table_rows.hpp>
#include <vector>

namespace tutti::detail {

/// A section of a checkpoint with a block of one table.
struct TableSection {
  std::string name;     ///< the section's name
  std::string content;  ///< a datatype, "scales", or an optimizer
  TableRows rows{};
  std::size_t column_begin = 0;
  std::size_t column_end = 0;
  std::uint64_t increment = 0;  ///< 0: it has all these rows; else those that changed before that save
};

/// The content that tells which rows the sections of an increment have: their places, each a uint32.
inline constexpr const char* changed_rows = "changed";

/// "<prefix> <table> <content> rows a:b columns c:d", with "rows a:b:step" if the step of the rows is not 1, and with
/// " of increment n" behind it in an increment.
[[nodiscard]] std::string section_name(const std::string& prefix, const std::string& table,
                                       const TableSection& section);
/// Finds the sections of one table among the names of a checkpoint, and puts them in the order of the increments.
[[nodiscard]] std::vector<TableSection> sections_of(std::span<const std::string> names, const std::string& prefix,
                                                    const std::string& table);

/// The name of an optimizer's state in a checkpoint; "" if it has none.
[[nodiscard]] const char* state_name(kernels::RowOptimizer optimizer);

/// Some rows of a table, in neighboring columns.
struct Block {
  TableRows rows{};
  std::size_t column_begin = 0;
  std::size_t column_end = 0;
  [[nodiscard]] std::size_t columns() const { return column_end - column_begin; }
};
[[nodiscard]] std::optional<Block> common_block(const Block& a, const Block& b);

}  // namespace tutti::detail
