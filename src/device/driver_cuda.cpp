// SPDX-License-Identifier: BSD-3-Clause
#include "device/driver.hpp"

#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <new>

namespace tutti::detail::device {

struct Driver::Functions {
  decltype(&cuDeviceGetCount) device_count = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) primary_state = nullptr;
  decltype(&cuCtxGetCurrent) current_context = nullptr;
  decltype(&cuPointerGetAttributes) pointer_attributes = nullptr;
  decltype(&cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&cuDeviceGetUuid) uuid = nullptr;
  decltype(&cuDevicePrimaryCtxRetain) retain_primary = nullptr;
  CUresult (*push)(CUcontext) = nullptr;
  CUresult (*pop)(CUcontext*) = nullptr;
  CUresult (*context_of)(CUstream, CUcontext*) = nullptr;
  CUresult (*current_device)(CUdevice*) = nullptr;
  std::atomic<bool> used{false};  ///< a primary context has been seen
  std::mutex mutex{};
  std::map<int, CUcontext> retained{};  ///< primary contexts that push() has used, never released
};

namespace {

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Driver::Driver() {
  // Opened once and kept: checking each time whether the program has opened it costs more than a small collective.
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  auto* all = new Functions;
  const bool complete =
      find(library, "cuDeviceGetCount", all->device_count) &&
      find(library, "cuDevicePrimaryCtxGetState", all->primary_state) &&
      find(library, "cuCtxGetCurrent", all->current_context) &&
      find(library, "cuPointerGetAttributes", all->pointer_attributes) &&
      find(library, "cuDeviceGetAttribute", all->device_attribute) &&
      find(library, "cuDevicePrimaryCtxRetain", all->retain_primary) &&
      find(library, "cuCtxPushCurrent_v2", all->push) && find(library, "cuCtxPopCurrent_v2", all->pop) &&
      find(library, "cuStreamGetCtx", all->context_of) && find(library, "cuCtxGetDevice", all->current_device);
  (void)find(library, "cuDeviceGetUuid_v2", all->uuid);
  if (complete)
    functions_ = all;
  else
    delete all;
}

Driver& Driver::instance() {
  static auto* driver = new Driver;
  return *driver;
}

bool Driver::has_context() noexcept {
  if (functions_ == nullptr) return false;
  if (functions_->used.load(std::memory_order_relaxed)) return true;
  int devices = 0;
  // cuInit has not been called: the usual error in a program that uses no device.
  if (functions_->device_count(&devices) != CUDA_SUCCESS) return false;
  for (int device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (functions_->primary_state(device, &flags, &active) != CUDA_SUCCESS || active == 0) continue;
    functions_->used.store(true, std::memory_order_relaxed);
    return true;
  }
  CUcontext current = nullptr;
  return functions_->current_context(&current) == CUDA_SUCCESS && current != nullptr;
}

bool Driver::inspect(const void* address, Runtime::Pointer& pointer) noexcept {
  pointer = {};
  if (!has_context()) return true;
  CUmemorytype type{};
  int managed = 0;
  int device = -1;
  CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &managed, &device};
  const auto at = reinterpret_cast<CUdeviceptr>(address);
  if (functions_->pointer_attributes(3, names, values, at) != CUDA_SUCCESS) return false;
  if (type == CUmemorytype{}) return true;
  if (managed != 0)
    pointer = {MemoryKind::managed, device};
  else if (type == CU_MEMORYTYPE_HOST)
    pointer = {MemoryKind::pinned, -1};
  else
    pointer = {MemoryKind::device, device};
  return true;
}

bool Driver::uuid(int device, Uuid& uuid) noexcept {
  CUuuid found{};
  if (functions_ == nullptr || functions_->uuid == nullptr || functions_->uuid(&found, device) != CUDA_SUCCESS)
    return false;
  std::memcpy(uuid.data(), found.bytes, uuid.size());
  return true;
}

bool Driver::has_stream_memory_operations(int device) noexcept {
  int has = 0;
  return functions_ != nullptr &&
         functions_->device_attribute(&has, CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, device) ==
             CUDA_SUCCESS &&
         has != 0;
}

bool Driver::device_of(StreamHandle stream, int& device) noexcept {
  CUcontext context = nullptr;
  if (functions_ == nullptr || functions_->context_of(static_cast<CUstream>(stream), &context) != CUDA_SUCCESS ||
      functions_->push(context) != CUDA_SUCCESS)
    return false;
  const bool is_known = functions_->current_device(&device) == CUDA_SUCCESS;
  pop();
  return is_known;
}

bool Driver::push(int device) noexcept {
  if (functions_ == nullptr) return false;
  const std::lock_guard lock(functions_->mutex);
  try {
    CUcontext& context = functions_->retained[device];
    if (context == nullptr && functions_->retain_primary(&context, device) != CUDA_SUCCESS) {
      context = nullptr;
      return false;
    }
    return functions_->push(context) == CUDA_SUCCESS;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Driver::pop() noexcept {
  CUcontext context = nullptr;
  if (functions_ != nullptr) (void)functions_->pop(&context);
}

}  // namespace tutti::detail::device
