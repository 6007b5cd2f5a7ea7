// SPDX-License-Identifier: BSD-3-Clause
#include "cache_folder.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::miniapps {

namespace {

namespace fs = std::filesystem;

fs::path cache_folder(const fs::path& given) {
  if (!given.empty()) {
    return given;
  }
  const char* named = std::getenv("TUTTI_CACHE_DIR");
  return named != nullptr ? fs::path(named) : fs::temp_directory_path() / ("tutti-cache-" + std::to_string(::getuid()));
}

}  // namespace

nlohmann::json file_identity(const fs::path& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) {
    return {};
  }
  return {{"file", fs::canonical(file).string()},
          {"bytes", static_cast<std::int64_t>(info.st_size)},
          {"changed", {info.st_mtim.tv_sec, info.st_mtim.tv_nsec}},
          {"inode", info.st_ino}};
}

std::string cache_stem(const fs::path& given, const fs::path& file, const nlohmann::json& identity) {
  const std::string text = identity.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  const auto key = ::crc32_z(0, reinterpret_cast<const Bytef*>(text.data()), text.size());
  const fs::path folder = cache_folder(given);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw Error(ErrorCode::io, folder.string() + ": cannot be created; name another folder by TUTTI_CACHE_DIR");
  }
  return (folder / file.stem()).string() + "-" + std::to_string(key);
}

FileLock::FileLock(fs::path path) : path_(std::move(path)) {
  while (!take()) {
    ::close(file_);
  }
}

FileLock::~FileLock() {
  ::unlink(path_.c_str());
  ::close(file_);
}

bool FileLock::take() {
  file_ = ::open(path_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (file_ < 0 || ::flock(file_, LOCK_EX) != 0) {
    throw Error(ErrorCode::io, path_.string() + ": cannot be locked; name another folder by TUTTI_CACHE_DIR");
  }
  struct stat mine {};
  struct stat there {};
  return ::fstat(file_, &mine) == 0 && ::stat(path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino;
}

}  // namespace tutti::miniapps
