// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace tutti::data {

/// A line of path, length and time of change of an input. Throws tutti::Error (io) for a file that is not there.
[[nodiscard]] std::string file_identity(const std::filesystem::path& path);

}  // namespace tutti::data
