// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tutti::miniapps {

/// Writes a file whole or not at all; throws tutti::Error (io) that names it.
void write_text(const std::filesystem::path& path, const std::string& text);

/// Reads a file; throws tutti::Error (io) that names it.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// Throws tutti::Error (io) where `path` could not be written, so that a long run does not find out at its end.
void check_writable(const std::filesystem::path& path);

/// Runs chart.py, which draws what a mini-app wrote as JSON: `document`, where `arguments` name "-" as its file. Throws
/// tutti::Error: not_supported where there is no python3, invalid_argument where chart.py has said why it drew nothing.
void draw_chart(const std::vector<std::string>& arguments, const std::string& document = {});

/// Throws tutti::Error where a chart could not be drawn to `path`: io, or not_supported where there is no python3. So a
/// long run does not find out at its end.
void check_chart(const std::filesystem::path& path);

}  // namespace tutti::miniapps
