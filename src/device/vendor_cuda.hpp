// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstring>

#include "device/runtime.hpp"

/// The runtimes of CUDA and HIP have the same functions by the same names but for the first letters. Where they differ,
/// this file and vendor_hip.hpp have one function each.
#define TUTTI_GPU(name) cuda##name
#define TUTTI_GPU_TEXT(name) "cuda" #name

namespace tutti::detail::device::vendor {

inline constexpr const char* name = "CUDA";
inline constexpr Vendor is = Vendor::nvidia;
using Properties = cudaDeviceProp;
using PointerAttributes = cudaPointerAttributes;

inline cudaError_t capture_info(cudaStream_t stream, cudaStreamCaptureStatus& status, unsigned long long& id,
                                cudaGraph_t& graph) {
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, nullptr);
#else
  return cudaStreamGetCaptureInfo_v2(stream, &status, &id, &graph, nullptr, nullptr);
#endif
}

inline cudaError_t uuid(Uuid& uuid, int device) {
  Properties properties{};
  const cudaError_t code = cudaGetDeviceProperties(&properties, device);
  std::memcpy(uuid.data(), properties.uuid.bytes, uuid.size());
  return code;
}

/// 90 for 9.0.
inline cudaError_t capability(int& number, int device) {
  int major = 0;
  int minor = 0;
  cudaError_t code = cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
  if (code == cudaSuccess) code = cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
  number = 10 * major + minor;
  return code;
}

inline cudaError_t has_memory_pool(int& has, int device) {
  return cudaDeviceGetAttribute(&has, cudaDevAttrMemoryPoolsSupported, device);
}

inline Runtime::Pointer pointer_of(const PointerAttributes& attributes) {
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return {MemoryKind::pinned, -1};
    case cudaMemoryTypeDevice:
      return {MemoryKind::device, attributes.device};
    case cudaMemoryTypeManaged:
      return {MemoryKind::managed, attributes.device};
    default:
      return {};
  }
}

inline cudaError_t allocate_pinned(void** address, std::size_t bytes) {
  return cudaHostAlloc(address, bytes, cudaHostAllocPortable | cudaHostAllocMapped);
}
inline cudaError_t release_pinned(void* address) { return cudaFreeHost(address); }

/// Gives a reference to `data`, which ends by `let_go`, to a graph.
inline cudaError_t retain(cudaGraph_t graph, void (*let_go)(void*), void* data) {
  cudaUserObject_t object = nullptr;
  cudaError_t code = cudaUserObjectCreate(&object, data, let_go, 1, cudaUserObjectNoDestructorSync);
  if (code != cudaSuccess) return code;
  code = cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
  if (code != cudaSuccess) (void)cudaUserObjectRelease(object, 1);
  return code;
}

using WaitValue = CUresult(CUDAAPI*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// Null if the driver lacks it.
inline WaitValue find_wait_value() {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  constexpr unsigned since = 11070;
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &function, since, cudaEnableDefault, &found);
#else
  const cudaError_t code = cudaGetDriverEntryPoint("cuStreamWaitValue32", &function, cudaEnableDefault, &found);
#endif
  if (code != cudaSuccess) (void)cudaGetLastError();
  return code == cudaSuccess && found == cudaDriverEntryPointSuccess ? reinterpret_cast<WaitValue>(function) : nullptr;
}

inline WaitValue wait_value() {
  static const WaitValue function = find_wait_value();
  return function;
}

inline bool can_wait_for_words() { return wait_value() != nullptr; }

/// Makes the stream wait until the word, an address of the device, is at least `value`. 0, or the driver's error.
inline int wait_for_word(cudaStream_t stream, void* word, std::uint32_t value) {
  return wait_value()(stream, reinterpret_cast<CUdeviceptr>(word), value, CU_STREAM_WAIT_VALUE_GEQ);
}

}  // namespace tutti::detail::device::vendor
