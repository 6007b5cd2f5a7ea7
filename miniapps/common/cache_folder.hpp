// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tutti::miniapps {

/// What tells a file from another or changed one: its path, size, time of change and inode. Null where there is none.
[[nodiscard]] nlohmann::json file_identity(const std::filesystem::path& file);

/// The path without suffix of what is kept about `file`, in the folder of the cache: `folder`, where empty the one that
/// TUTTI_CACHE_DIR names, else one of this user in the temporary directory. Files of another `identity` have another
/// path. Makes the folder. Throws tutti::Error (io) that names the variable.
[[nodiscard]] std::string cache_stem(const std::filesystem::path& folder, const std::filesystem::path& file,
                                     const nlohmann::json& identity);

}  // namespace tutti::miniapps
