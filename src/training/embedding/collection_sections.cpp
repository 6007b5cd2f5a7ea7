// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace tutti::detail {

std::string section_name(const std::string& prefix, const std::string& table, const TableSection& section) {
  return fmt::format("{} {} {} rows {}:{} columns {}:{}", prefix, table, section.content, section.row_begin,
                     section.row_end, section.column_begin, section.column_end);
}

std::vector<TableSection> sections_of(std::span<const std::string> names, const std::string& prefix,
                                      const std::string& table) {
  const std::string start = prefix + " " + table + " ";
  std::vector<TableSection> found;
  for (const std::string& name : names) {
    if (!name.starts_with(start)) continue;
    char content[32] = {};
    TableSection section;
    int length = 0;
    const std::string rest = name.substr(start.size());
    const int fields =
        std::sscanf(rest.c_str(), "%31s rows %" SCNd64 ":%" SCNd64 " columns %zu:%zu%n", content, &section.row_begin,
                    &section.row_end, &section.column_begin, &section.column_end, &length);
    // The name of another table may begin with this one's.
    if (fields != 5 || static_cast<std::size_t>(length) != rest.size()) continue;
    section.name = name;
    section.content = content;
    found.push_back(section);
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
  const Block common{std::max(a.row_begin, b.row_begin), std::min(a.row_end, b.row_end),
                     std::max(a.column_begin, b.column_begin), std::min(a.column_end, b.column_end)};
  if (common.row_begin >= common.row_end || common.column_begin >= common.column_end) return std::nullopt;
  return common;
}

}  // namespace tutti::detail
