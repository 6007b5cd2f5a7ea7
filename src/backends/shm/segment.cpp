// SPDX-License-Identifier: BSD-3-Clause
#include "backends/shm/segment.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace tutti::detail::shm {
namespace {

std::string random_name() {
  std::array<std::uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) return {};
  return fmt::format("/tutti-{:016x}{:016x}", bits[0], bits[1]);
}

void* map(int file, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return data == MAP_FAILED ? nullptr : data;
}

std::string words(const char* what, int error) {
  return fmt::format("{} in /dev/shm failed: {}", what, std::strerror(error));
}

}  // namespace

Segment::~Segment() {
  if (data_ != nullptr) munmap(data_, bytes_);
}

Segment Segment::create(std::size_t bytes, std::string& name, std::string& problem) {
  name = random_name();
  if (name.empty()) {
    problem = "the kernel gave no random name for shared memory";
    return {};
  }
  const int file = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (file < 0) {
    problem = words("creating shared memory", errno);
    return {};
  }
  // Every page now: a write to a page that /dev/shm has no room for would end the process.
  const int full = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  void* data = full == 0 ? map(file, bytes) : nullptr;
  if (data == nullptr) {
    problem = words(fmt::format("reserving {} KiB of shared memory", bytes / 1024).c_str(), full != 0 ? full : errno);
    remove(name);
  }
  close(file);
  return {data, bytes};
}

Segment Segment::open(const std::string& name, std::size_t bytes, std::string& problem) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (file < 0) {
    problem = words("opening shared memory", errno);
    return {};
  }
  void* data = map(file, bytes);
  if (data == nullptr) problem = words("mapping shared memory", errno);
  close(file);
  return {data, bytes};
}

void Segment::remove(const std::string& name) noexcept { shm_unlink(name.c_str()); }

}  // namespace tutti::detail::shm
