// SPDX-License-Identifier: BSD-3-Clause
#include "diagnosis/recorder_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/draft.hpp"
#include "core/file_limit.hpp"
#include "diagnosis/format.hpp"
#include "diagnosis/ticks.hpp"

namespace tutti::detail::flight {
namespace {

int open_file(const std::string& folder, std::string& problem) {
  if (folder.empty()) {
    const int file = memfd_create(RecorderMemory::file_name, MFD_CLOEXEC);
    if (file < 0) problem = fmt::format("memfd_create failed: {}", std::strerror(errno));
    return file;
  }
  const std::string path = fmt::format("{}/{}.{}.{}.{}", folder, RecorderMemory::file_name, host_name(), getpid(),
                                       nanoseconds(CLOCK_REALTIME));
  const int file = open_new(path, S_IRUSR | S_IWUSR);
  if (file < 0)
    problem = fmt::format("making {} failed: {}; name a folder that exists on each node", path, std::strerror(errno));
  return file;
}

bool reserve(int file, std::size_t bytes, std::string& problem) {
  const int error = reserve_file(file, 0, bytes);
  if (error != 0) problem = fmt::format("reserving {} bytes failed: {}", bytes, std::strerror(error));
  return error == 0;
}

}  // namespace

RecorderMemory RecorderMemory::create(std::size_t bytes, const std::string& folder, std::string& problem) {
  RecorderMemory memory;
  memory.file_ = open_file(folder, problem);
  if (memory.file_ < 0 || !reserve(memory.file_, bytes, problem)) return memory;
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory.file_, 0);
  if (data == MAP_FAILED) {
    problem = fmt::format("mapping {} bytes failed: {}", bytes, std::strerror(errno));
    return memory;
  }
  memory.data_ = static_cast<std::byte*>(data);
  memory.bytes_ = bytes;
  return memory;
}

RecorderMemory::~RecorderMemory() {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
}

RecorderMemory& RecorderMemory::operator=(RecorderMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(file_, other.file_);
  return *this;
}

}  // namespace tutti::detail::flight
