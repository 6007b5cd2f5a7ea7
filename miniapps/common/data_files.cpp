// SPDX-License-Identifier: BSD-3-Clause
#include "data_files.hpp"

#include <zlib.h>

#include <cstdlib>
#include <tutti/error.hpp>
#include <vector>

namespace tutti::miniapps {

namespace fs = std::filesystem;

std::filesystem::path find_data(const std::string& name) {
  std::vector<fs::path> folders;
  if (const char* named = std::getenv("TUTTI_DATA_DIR"); named != nullptr && *named != '\0') {
    folders.emplace_back(named);
  }
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    folders.push_back(program.parent_path().parent_path() / "share" / "tutti" / "data");
  }
  folders.emplace_back(TUTTI_INSTALL_DATADIR);
  std::string tried;
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / name, error)) {
      return folder / name;
    }
    tried += (tried.empty() ? "" : ", ") + folder.string();
  }
  throw Error(ErrorCode::io, "data file " + name + " is in none of " + tried + "; name its folder by TUTTI_DATA_DIR");
}

std::string read_maybe_gzip(const std::filesystem::path& path) {
  gzFile file = ::gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    throw Error(ErrorCode::io, path.string() + ": cannot be opened");
  }
  std::string content;
  std::vector<char> block(1U << 18U);
  int got = 0;
  while ((got = ::gzread(file, block.data(), static_cast<unsigned>(block.size()))) > 0) {
    content.append(block.data(), static_cast<std::size_t>(got));
  }
  int status = Z_OK;
  ::gzerror(file, &status);
  const bool complete = ::gzclose_r(file) == Z_OK;
  if (got < 0 || status < 0 || !complete) {
    throw Error(ErrorCode::io, path.string() + ": is damaged or truncated");
  }
  return content;
}

}  // namespace tutti::miniapps
