// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/buffer.hpp>

#if TUTTI_HAVE_CUDA
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#endif

namespace tutti {

const char* memory_kind_name(MemoryKind kind) noexcept {
  switch (kind) {
    case MemoryKind::detect:
      return "detect";
    case MemoryKind::host:
      return "host";
    case MemoryKind::pinned:
      return "pinned";
    case MemoryKind::device:
      return "device";
    case MemoryKind::managed:
      return "managed";
  }
  return "unknown";
}

#if TUTTI_HAVE_CUDA

namespace {

/// Whether this process already has a CUDA context: asking an address of CUDA would else create one.
bool has_context() {
  using GetCount = int (*)(int*);
  using GetState = int (*)(int, unsigned*, int*);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  const auto count = reinterpret_cast<GetCount>(dlsym(driver, "cuDeviceGetCount"));
  const auto state = reinterpret_cast<GetState>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  int devices = 0;
  bool active = false;
  if (count != nullptr && state != nullptr && count(&devices) == 0) {
    for (int device = 0; device < devices && !active; ++device) {
      unsigned flags = 0;
      int is_active = 0;
      active = state(device, &flags, &is_active) == 0 && is_active != 0;
    }
  }
  dlclose(driver);
  return active;
}

}  // namespace

MemoryKind memory_kind(const void* address) {
  if (address == nullptr || !has_context()) return MemoryKind::host;
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, address) != cudaSuccess) {
    (void)cudaGetLastError();
    return MemoryKind::host;
  }
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return MemoryKind::pinned;
    case cudaMemoryTypeDevice:
      return MemoryKind::device;
    case cudaMemoryTypeManaged:
      return MemoryKind::managed;
    default:
      return MemoryKind::host;
  }
}

#else

MemoryKind memory_kind(const void* /*address*/) { return MemoryKind::host; }

#endif

}  // namespace tutti
