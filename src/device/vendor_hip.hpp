// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstring>

#include "device/runtime.hpp"

/// As vendor_cuda.hpp, for HIP 5.2 and newer on AMD's devices.
#define TUTTI_GPU(name) hip##name
#define TUTTI_GPU_TEXT(name) "hip" #name

namespace tutti::detail::device::vendor {

inline constexpr const char* name = "HIP";
inline constexpr Vendor is = Vendor::amd;
using Properties = hipDeviceProp_t;
using PointerAttributes = hipPointerAttribute_t;

inline hipError_t capture_info(hipStream_t stream, hipStreamCaptureStatus& status, unsigned long long& id,
                               hipGraph_t& graph) {
  return hipStreamGetCaptureInfo_v2(stream, &status, &id, &graph, nullptr, nullptr);
}

inline hipError_t uuid(Uuid& uuid, int device) {
  hipUUID found{};
  hipDevice_t handle{};
  hipError_t code = hipDeviceGet(&handle, device);
  if (code == hipSuccess) code = hipDeviceGetUuid(&found, handle);
  std::memcpy(uuid.data(), found.bytes, uuid.size());
  return code;
}

/// AMD's devices have names in place of numbers.
inline hipError_t capability(int& number, int /*device*/) {
  number = 0;
  return hipSuccess;
}

inline hipError_t has_memory_pool(int& has, int device) {
  return hipDeviceGetAttribute(&has, hipDeviceAttributeMemoryPoolsSupported, device);
}

inline Runtime::Pointer pointer_of(const PointerAttributes& attributes) {
#if HIP_VERSION >= 60000000
  const hipMemoryType type = attributes.type;
#else
  const hipMemoryType type = attributes.memoryType;
#endif
  if (attributes.isManaged != 0) return {MemoryKind::managed, attributes.device};
  if (type == hipMemoryTypeHost) return {MemoryKind::pinned, -1};
  if (type == hipMemoryTypeDevice) return {MemoryKind::device, attributes.device};
  return {};
}

inline hipError_t allocate_pinned(void** address, std::size_t bytes) {
  return hipHostMalloc(address, bytes, hipHostMallocPortable | hipHostMallocMapped);
}
inline hipError_t release_pinned(void* address) { return hipHostFree(address); }

inline hipError_t retain(hipGraph_t graph, void (*let_go)(void*), void* data) {
#if HIP_VERSION >= 50500000
  hipUserObject_t object = nullptr;
  hipError_t code = hipUserObjectCreate(&object, data, let_go, 1, hipUserObjectNoDestructorSync);
  if (code != hipSuccess) return code;
  code = hipGraphRetainUserObject(graph, object, 1, hipGraphUserObjectMove);
  if (code != hipSuccess) (void)hipUserObjectRelease(object, 1);
  return code;
#else  // graphs own nothing
  (void)graph, (void)let_go, (void)data;
  return hipErrorNotSupported;
#endif
}

/// HIP's streams wait for words of signal memory only, not for those of pinned memory.
inline bool can_wait_for_words() { return false; }
inline int wait_for_word(hipStream_t /*stream*/, void* /*word*/, std::uint32_t /*value*/) {
  return hipErrorNotSupported;
}

}  // namespace tutti::detail::device::vendor
