// SPDX-License-Identifier: BSD-3-Clause
#include "csv.hpp"

#include <algorithm>
#include <tutti/error.hpp>

#include "data_files.hpp"
#include "text_lines.hpp"

namespace tutti::miniapps {

namespace {

[[noreturn]] void fail(const std::string& name, std::size_t line, const std::string& what) {
  throw Error(ErrorCode::io, name + ": line " + std::to_string(line) + ": " + what);
}

/// A quoted cell at the begin of `rest`, taken off it; false where its end is missing.
bool take_quoted(std::string_view& rest, std::string& cell) {
  rest.remove_prefix(1);
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c != '"') {
      cell += c;
    } else if (rest.starts_with('"')) {
      cell += c;
      rest.remove_prefix(1);
    } else {
      rest = trim(rest);
      return rest.empty() || rest.front() == ',';
    }
  }
  return false;
}

/// False where a quote is open, or text follows one.
bool split(std::string_view line, std::vector<std::string>& cells) {
  cells.clear();
  while (true) {
    line = trim(line);
    std::string cell;
    if (line.starts_with('"')) {
      if (!take_quoted(line, cell)) {
        return false;
      }
    } else {
      const auto end = std::min(line.find(','), line.size());
      cell = trim(line.substr(0, end));
      line.remove_prefix(end);
    }
    cells.push_back(std::move(cell));
    if (line.empty()) {
      return true;
    }
    line.remove_prefix(1);
  }
}

void take_header(CsvTable& table, const std::vector<std::string>& cells, bool header) {
  for (std::size_t c = 0; c < cells.size(); ++c) {
    table.names.push_back(header ? cells[c] : std::to_string(c));
  }
  table.columns.resize(cells.size());
}

}  // namespace

std::size_t CsvTable::column(const std::string& wanted) const {
  const auto found = std::find(names.begin(), names.end(), wanted);
  std::size_t number = 0;
  if (found != names.end()) {
    return static_cast<std::size_t>(found - names.begin());
  }
  if (parse_whole(wanted, number) && number < names.size()) {
    return number;
  }
  std::string known;
  for (const auto& n : names) {
    known += (known.empty() ? "" : ", ") + n;
  }
  throw Error(ErrorCode::invalid_argument, name + ": has no column '" + wanted + "'; its columns are " + known);
}

CsvTable parse_csv(std::string_view content, const std::string& name, bool header) {
  CsvTable table;
  table.name = name;
  std::vector<std::string> cells;
  for_each_line(content, [&](std::string_view line, std::size_t number) {
    if (trim(line).empty()) {
      return;
    }
    if (!split(line, cells)) {
      fail(name, number, "a quote is not closed, or is followed by text");
    }
    const bool first = table.names.empty();
    if (first) {
      take_header(table, cells, header);
    }
    if (cells.size() != table.names.size()) {
      fail(name, number,
           "has " + std::to_string(cells.size()) + " cells where the first line has " +
               std::to_string(table.names.size()));
    }
    if (first && header) {
      return;
    }
    for (std::size_t c = 0; c < cells.size(); ++c) {
      table.columns[c].push_back(std::move(cells[c]));
    }
    table.lines.push_back(number);
  });
  if (table.rows() == 0) {
    throw Error(ErrorCode::io, name + ": has no rows");
  }
  return table;
}

CsvTable read_csv(const std::filesystem::path& path, bool header) {
  return parse_csv(read_maybe_gzip(path), path.string(), header);
}

}  // namespace tutti::miniapps
