// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "settings.hpp"
#include "suite.hpp"

namespace tutti::commbench {

/// Widths of the columns that names fill.
struct TableWidths {
  std::size_t operation = 9;
  std::size_t type = 4;
  std::size_t op = 3;
  std::size_t algorithm = 9;
  Beside beside = Beside::nothing;  ///< with the columns of this computation
};

/// Wide enough for these points and names of algorithms.
[[nodiscard]] TableWidths table_widths(const std::vector<Point>& points, const std::vector<std::string>& algorithms,
                                       Beside beside);

/// The line over the table, and a line for every algorithm at a point: microseconds, GB/s, overlap, checks.
[[nodiscard]] std::string table_header(const TableWidths& widths);
[[nodiscard]] std::string table_lines(const TableWidths& widths, const PointResult& result, int ranks);

/// Everything, with settings and machine. Throws tutti::Error (io) that names the file, which appears whole or not at
/// all. One rank calls them.
void write_json(const std::string& path, const Settings& settings, const Communicator& comm,
                const std::vector<PointResult>& results);
void write_csv(const std::string& path, const std::vector<PointResult>& results, int ranks);

}  // namespace tutti::commbench
