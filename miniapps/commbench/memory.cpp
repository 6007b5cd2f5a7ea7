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

std::string why_no_memory(MemoryKind kind) { return kind == MemoryKind::host ? std::string{} : why_no_cuda(); }

Memory::Memory(MemoryKind kind, std::size_t bytes) : kind_(kind), bytes_(bytes) {
  if (bytes == 0) return;
  data_ = static_cast<std::byte*>(kind == MemoryKind::host ? map(bytes) : cuda_allocate(kind, bytes));
}

Memory::~Memory() {
  if (data_ == nullptr) return;
  if (kind_ == MemoryKind::host)
    ::munmap(data_, bytes_);
  else
    cuda_free(kind_, data_);
}

Memory::Memory(Memory&& other) noexcept
    : kind_(other.kind_), bytes_(std::exchange(other.bytes_, 0)), data_(std::exchange(other.data_, nullptr)) {}

Memory& Memory::operator=(Memory&& other) noexcept {
  std::swap(kind_, other.kind_);
  std::swap(bytes_, other.bytes_);
  std::swap(data_, other.data_);
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
