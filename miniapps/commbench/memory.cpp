// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <tutti/error.hpp>
#include <utility>

#if TUTTI_HAVE_CUDA
#include <cuda_runtime_api.h>
#endif

namespace tutti::commbench {
namespace {

[[noreturn]] void fail(MemoryKind kind, std::size_t bytes) {
  throw Error(ErrorCode::out_of_memory, fmt::format("{} bytes of {} memory cannot be had; lower --high or --cold-bytes",
                                                    bytes, memory_kind_name(kind)));
}

#if TUTTI_HAVE_CUDA

void* cuda_allocate(MemoryKind kind, std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t status = kind == MemoryKind::pinned    ? cudaMallocHost(&data, bytes)
                             : kind == MemoryKind::managed ? cudaMallocManaged(&data, bytes, cudaMemAttachGlobal)
                                                           : cudaMalloc(&data, bytes);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    fail(kind, bytes);
  }
  return data;
}

void cuda_free(MemoryKind kind, void* data) {
  (void)(kind == MemoryKind::pinned ? cudaFreeHost(data) : cudaFree(data));
}

void cuda_copy(void* to, const void* from, std::size_t bytes) {
  const cudaError_t status = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
  if (status != cudaSuccess)
    throw Error(ErrorCode::cuda, fmt::format("copying {} bytes: {}", bytes, cudaGetErrorString(status)));
}

std::string why_no_cuda() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status == cudaSuccess && devices > 0) return {};
  (void)cudaGetLastError();
  return fmt::format("no GPU was found ({})", cudaGetErrorString(status));
}

#else

void* cuda_allocate(MemoryKind kind, std::size_t bytes) { fail(kind, bytes); }
void cuda_free(MemoryKind /*kind*/, void* /*data*/) {}
void cuda_copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
std::string why_no_cuda() { return "this build has no CUDA (TUTTI_ENABLE_CUDA)"; }

#endif

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

std::string why_no_memory(Place place) { return kind_of(place) == MemoryKind::host ? std::string{} : why_no_cuda(); }

Memory::Memory(const Communicator* comm, Place place, std::size_t bytes) : place_(place), bytes_(bytes) {
  if (place == Place::shared) {
    shared_ = allocate(*comm, bytes);
    data_ = static_cast<std::byte*>(shared_.data());
  } else if (bytes > 0) {
    data_ = static_cast<std::byte*>(place == Place::host ? map(bytes) : cuda_allocate(kind_of(place), bytes));
  }
}

Memory::~Memory() {
  if (data_ == nullptr || place_ == Place::shared) return;
  if (place_ == Place::host)
    ::munmap(data_, bytes_);
  else
    cuda_free(kind_of(place_), data_);
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
  if (bytes > 0) cuda_copy(to, from, bytes);
}

std::size_t largest_cache() {
  long bytes = 0;
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE})
    bytes = std::max(bytes, ::sysconf(name));
  return bytes > 0 ? static_cast<std::size_t>(bytes) : std::size_t{64} << 20U;
}

}  // namespace tutti::commbench
