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

/// An advisory lock on a file, held until the end of its life, which removes the file. Waits for the process that has
/// it. Throws tutti::Error (io) that names TUTTI_CACHE_DIR.
class FileLock {
 public:
  explicit FileLock(std::filesystem::path path);
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  /// Returns false if the process before has removed the file meanwhile, so that others lock a new one.
  [[nodiscard]] bool take();

  std::filesystem::path path_;
  int file_ = -1;
};

}  // namespace tutti::miniapps
