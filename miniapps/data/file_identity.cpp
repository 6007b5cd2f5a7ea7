// SPDX-License-Identifier: BSD-3-Clause
#include "file_identity.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <tutti/error.hpp>

namespace tutti::data {

std::string file_identity(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    throw Error(ErrorCode::io, path.string() + ": cannot be read; copy it again");
  }
  return fmt::format("{} {} {}\n", path.string(), info.st_size,
                     info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec);
}

}  // namespace tutti::data
