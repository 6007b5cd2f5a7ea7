// SPDX-License-Identifier: BSD-3-Clause
#include "training/embedding/collection_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <utility>

namespace tutti::detail {

namespace {

/// "content rows a:b columns c:d", or with "a:b:step", or with " of increment n" at the end.
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
  section.content = content;
  const std::string rest = text.substr(static_cast<std::size_t>(length));
  if (rest.empty()) return section;
  const int numbers = std::sscanf(rest.c_str(), " of increment %" SCNu64 "%n", &section.increment, &length);
  const bool is_whole = numbers == 1 && section.increment > 0 && static_cast<std::size_t>(length) == rest.size();
  return is_whole ? std::optional(section) : std::nullopt;
}

}  // namespace

std::string section_name(const std::string& prefix, const std::string& table, const TableSection& section) {
  const std::string step = section.rows.step == 1 ? "" : fmt::format(":{}", section.rows.step);
  const std::string increment = section.increment == 0 ? "" : fmt::format(" of increment {}", section.increment);
  return fmt::format("{} {} {} rows {}:{}{} columns {}:{}{}", prefix, table, section.content, section.rows.begin,
                     section.rows.end, step, section.column_begin, section.column_end, increment);
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
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.increment < b.increment; });
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
