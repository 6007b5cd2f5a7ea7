// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <tutti/communicator.hpp>
#include <vector>

#include "settings.hpp"
#include "suite.hpp"

namespace tutti::commbench {

/// The line over the table, and a line for every algorithm at a point: microseconds, GB/s, overlap, checks.
[[nodiscard]] std::string table_header();
[[nodiscard]] std::string table_lines(const PointResult& result, int ranks);

/// Everything, with settings and machine. Throws tutti::Error (io) that names the file, which appears whole or not at
/// all. One rank calls them.
void write_json(const std::string& path, const Settings& settings, const Communicator& comm,
                const std::vector<PointResult>& results);
void write_csv(const std::string& path, const std::vector<PointResult>& results, int ranks);

}  // namespace tutti::commbench
