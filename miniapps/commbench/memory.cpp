// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tutti/error.hpp>
#include <utility>

#include "device/runtime.hpp"
#include "device_stream.hpp"

namespace tutti::commbench {
namespace {

[[noreturn]] void fail(MemoryKind kind, std::size_t bytes) {
  throw Error(ErrorCode::out_of_memory, fmt::format("{} bytes of {} memory cannot be had; lower --high or --cold-bytes",
                                                    bytes, memory_kind_name(kind)));
}

std::string why_no_device() {
  detail::device::Runtime* runtime = detail::device::runtime();
  if (runtime == nullptr) return "this build has no CUDA (TUTTI_ENABLE_CUDA)";
  try {
    return runtime->device_count() > 0 ? "" : "no GPU was found";
  } catch (const Error& error) {
    return error.what();
  }
}

void* map(std::size_t bytes) {
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) fail(MemoryKind::host, bytes);
  return data;
}

}  // namespace

const char* place_name(Place place) { return place == Place::shared ? "shared" : memory_kind_name(kind_of(place)); }

MemoryKind kind_of(Place place) {
  switch (place) {
    case Place::pinned:
      return MemoryKind::pinned;
    case Place::device:
      return MemoryKind::device;
    case Place::managed:
      return MemoryKind::managed;
    default:
      return MemoryKind::host;
  }
}

std::string why_no_memory(Place place) { return kind_of(place) == MemoryKind::host ? std::string{} : why_no_device(); }

Memory::Memory(const Communicator* comm, Place place, std::size_t bytes) : place_(place), bytes_(bytes) {
  if (place == Place::shared) {
    shared_ = allocate(*comm, bytes);
    data_ = static_cast<std::byte*>(shared_.data());
  } else if (bytes > 0) {
    data_ = static_cast<std::byte*>(
        place == Place::host ? map(bytes)
                             : detail::device::required_runtime("device memory").allocate(kind_of(place), bytes));
  }
}

Memory::~Memory() {
  if (data_ == nullptr || place_ == Place::shared) return;
  if (place_ == Place::host)
    ::munmap(data_, bytes_);
  else if (detail::device::Runtime* runtime = detail::device::runtime())
    runtime->release(kind_of(place_), data_);
}

Memory::Memory(Memory&& other) noexcept
    : place_(other.place_),
      bytes_(std::exchange(other.bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      shared_(std::move(other.shared_)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
  std::swap(shared_, other.shared_);
  return *this;
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes == 0) return;
  const DeviceStream stream;
  detail::device::required_runtime("device memory").copy(to, from, bytes, stream.handle());
  stream.settle();
}

std::size_t largest_cache() {
  long bytes = 0;
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    bytes = std::max(bytes, ::sysconf(name));
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{64} << 20U;
}

}  // namespace tutti::commbench
