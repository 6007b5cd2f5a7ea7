// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tutti/device.hpp>
#include <tutti/error.hpp>
#include <utility>

namespace tutti::commbench {
namespace {

void* map(std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    throw Error(ErrorCode::out_of_memory,
                fmt::format("{} bytes of host memory cannot be had; lower --high or --cold-bytes", bytes));
  return data;
}

}  // namespace

const char* space_name(MemorySpace space) {
  return space == MemorySpace::shared ? "shared" : memory_kind_name(kind_of(space));
}

MemoryKind kind_of(MemorySpace space) {
  switch (space) {
    case MemorySpace::pinned:
      return MemoryKind::pinned;
    case MemorySpace::device:
      return MemoryKind::device;
    case MemorySpace::managed:
      return MemoryKind::managed;
    default:
      return MemoryKind::host;
  }
}

std::string why_no_memory(MemorySpace space) {
  return kind_of(space) == MemoryKind::host ? std::string{} : why_no_device();
}

Memory::Memory(const Communicator* comm, MemorySpace space, std::size_t bytes) : space_(space), bytes_(bytes) {
  if (space == MemorySpace::host) {
    if (bytes > 0) data_ = static_cast<std::byte*>(map(bytes));
  } else if (comm != nullptr) {
    allocation_ = allocate(*comm, bytes, kind_of(space));
    data_ = static_cast<std::byte*>(allocation_.data());
  } else {
    device_ = DeviceMemory(kind_of(space), bytes);
    data_ = device_.data();
  }
}

Memory::~Memory() {
  if (data_ != nullptr && space_ == MemorySpace::host) ::munmap(data_, bytes_);
}

Memory::Memory(Memory&& other) noexcept
    : space_(other.space_),
      bytes_(std::exchange(other.bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      allocation_(std::move(other.allocation_)),
      device_(std::move(other.device_)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(space_, other.space_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  std::swap(allocation_, other.allocation_);
  std::swap(device_, other.device_);
  return *this;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return;
  const DeviceStream stream;
  tutti::copy_bytes(to, from, bytes, stream.stream());
  stream.wait();
}

std::size_t largest_cache() {
  long bytes = 0;
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    bytes = std::max(bytes, ::sysconf(name));
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{64} << 20U;
}

}  // namespace tutti::commbench
