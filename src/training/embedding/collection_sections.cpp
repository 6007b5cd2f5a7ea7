// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace tutti::detail {

namespace {

/// "datatype rows a:b columns c:d", or with "a:b:step".
std::optional<TableSection> parse(const std::string& text) {
  TableSection section;
  char content[32] = {};
  int length = 0;
  const int fields =
      std::sscanf(text.c_str(), "%31s rows %" SCNd64 ":%" SCNd64 " columns %zu:%zu%n", content, &section.rows.begin,
                  &section.rows.end, &section.column_begin, &section.column_end, &length);
  if (fields != 5) {
    const int with_step = std::sscanf(text.c_str(), "%31s rows %" SCNd64 ":%" SCNd64 ":%" SCNd64 " columns %zu:%zu%n",
                                      content, &section.rows.begin, &section.rows.end, &section.rows.step,
                                      &section.column_begin, &section.column_end, &length);
    if (with_step != 6 || section.rows.step < 1) return std::nullopt;
  }
  if (static_cast<std::size_t>(length) != text.size()) return std::nullopt;
  section.content = content;
  return section;
}

}  // namespace

std::string section_name(const std::string& prefix, const std::string& table, const TableSection& section) {
  const std::string step = section.rows.step == 1 ? "" : fmt::format(":{}", section.rows.step);
  return fmt::format("{} {} {} rows {}:{}{} columns {}:{}", prefix, table, section.content, section.rows.begin,
                     section.rows.end, step, section.column_begin, section.column_end);
}

std::vector<TableSection> sections_of(std::span<const std::string> names, const std::string& prefix,
                                      const std::string& table) {
  const std::string start = prefix + " " + table + " ";
  std::vector<TableSection> found;
  for (const std::string& name : names) {
    if (!name.starts_with(start)) continue;
    // The name of another table may begin with this one's.
    auto section = parse(name.substr(start.size()));
    if (!section) continue;
    section->name = name;
    found.push_back(std::move(*section));
  }
  return found;
}

const char* state_name(kernels::RowOptimizer optimizer) {
  switch (optimizer) {
    case kernels::RowOptimizer::adagrad:
      return "adagrad";
    case kernels::RowOptimizer::row_wise_adagrad:
      return "row-wise-adagrad";
    case kernels::RowOptimizer::adam:
      return "adam";
    default:
      return "";
  }
}

std::optional<Block> common_block(const Block& a, const Block& b) {
  const auto rows = common_rows(a.rows, b.rows);
  const std::size_t column_begin = std::max(a.column_begin, b.column_begin);
  const std::size_t column_end = std::min(a.column_end, b.column_end);
  if (!rows || column_begin >= column_end) return std::nullopt;
  return Block{*rows, column_begin, column_end};
}

}  // namespace tutti::detail
