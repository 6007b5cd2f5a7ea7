// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace tutti::miniapps {

/// The path of a data file that ships with Tutti, such as "adult/adult.data.gz": in the folder that TUTTI_DATA_DIR
/// names, else in share/tutti/data beside the program's folder, else where this build installs it. Throws tutti::Error
/// (io) that lists the folders tried. Local.
[[nodiscard]] std::filesystem::path find_data(const std::string& name);

/// The whole content of a file, decompressed where it is gzip. Throws tutti::Error (io) for a missing, damaged or
/// truncated file.
[[nodiscard]] std::string read_maybe_gzip(const std::filesystem::path& path);

}  // namespace tutti::miniapps
