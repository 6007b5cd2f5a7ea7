// SPDX-License-Identifier: BSD-3-Clause
#include "mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::miniapps {

namespace {

[[noreturn]] void fail_mapped(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::io, path.string() + ": " + what);
}

std::string_view map_file(int file, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    fail_mapped(path, "is no file that can be read");
  }
  const auto bytes = static_cast<std::size_t>(info.st_size);
  if (bytes == 0) {
    return {};
  }
  void* address = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (address == MAP_FAILED) {
    fail_mapped(path, std::string("cannot be mapped: ") + std::strerror(errno));
  }
  (void)::madvise(address, bytes, MADV_SEQUENTIAL);
  return {static_cast<const char*>(address), bytes};
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    fail_mapped(path, std::string("cannot be opened: ") + std::strerror(errno));
  }
  try {
    content_ = map_file(file, path);
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), content_(std::exchange(other.content_, {})) {}

MappedFile::~MappedFile() {
  if (!content_.empty()) {
    ::munmap(const_cast<char*>(content_.data()), content_.size());
  }
}

}  // namespace tutti::miniapps
