// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace tutti::miniapps {

/// Writes a file whole or not at all; throws tutti::Error (io) that names it.
void write_text(const std::filesystem::path& path, const std::string& text);

/// Reads a file; throws tutti::Error (io) that names it.
[[nodiscard]] std::string read_text(const std::filesystem::path& path);

/// Throws tutti::Error (io) where `path` could not be written, so that a long run does not find out at its end.
void check_writable(const std::filesystem::path& path);

}  // namespace tutti::miniapps
