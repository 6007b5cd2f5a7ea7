// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::miniapps {

/// The cells of a CSV file by column.
struct CsvTable {
  std::string name;                ///< of the file, for messages
  std::vector<std::string> names;  ///< of the columns; "0", "1", ... without a header
  std::vector<std::vector<std::string>> columns;
  std::vector<std::size_t> lines;  ///< of each row: its number in the file, from 1

  [[nodiscard]] std::size_t rows() const { return lines.size(); }
  /// The number of the column of that name, or of that number from 0. Throws tutti::Error (invalid_argument) that lists
  /// the names.
  [[nodiscard]] std::size_t column(const std::string& name_or_number) const;
};

/// Cells are divided by commas; one in double quotes may hold commas and, doubled, quotes, but no end of line (RFC 4180
/// but for that). Spaces around a cell without quotes are dropped, empty lines skipped. Throws tutti::Error (io) with
/// the number of the line: another number of cells than the first line has, an open quote, no rows.
[[nodiscard]] CsvTable parse_csv(std::string_view content, const std::string& name, bool header);

/// The same of a file, which may be gzip.
[[nodiscard]] CsvTable read_csv(const std::filesystem::path& path, bool header);

}  // namespace tutti::miniapps
