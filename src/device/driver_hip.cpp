// SPDX-License-Identifier: BSD-3-Clause
#include <hip/hip_runtime_api.h>

#include <vector>

#include "device/driver.hpp"

namespace tutti::detail::device {

// HIP has one interface and no contexts. Any question starts it, so it is asked once whether there are devices.
struct Driver::Functions {
  int devices = 0;
};

namespace {

/// The devices that were current on this thread before push().
std::vector<int>& former_devices() {
  static thread_local std::vector<int> former;
  return former;
}

}  // namespace

Driver::Driver() : functions_(new Functions) {
  if (hipGetDeviceCount(&functions_->devices) != hipSuccess) functions_->devices = 0;
}

Driver& Driver::instance() {
  static auto* driver = new Driver;
  return *driver;
}

bool Driver::has_context() noexcept { return functions_->devices > 0; }

bool Driver::inspect(const void* /*address*/, Runtime::Pointer& pointer) noexcept {
  pointer = {};
  return !has_context();
}

bool Driver::uuid(int /*device*/, Uuid& /*uuid*/) noexcept { return false; }

bool Driver::has_stream_memory_operations(int /*device*/) noexcept { return false; }

bool Driver::device_of(StreamHandle stream, int& device) noexcept {
#if HIP_VERSION >= 50600000
  return hipStreamGetDevice(static_cast<hipStream_t>(stream), &device) == hipSuccess;
#else  // HIP cannot be asked
  (void)stream, (void)device;
  return false;
#endif
}

bool Driver::push(int device) noexcept {
  int former = 0;
  if (hipGetDevice(&former) != hipSuccess || hipSetDevice(device) != hipSuccess) return false;
  try {
    former_devices().push_back(former);
    return true;
  } catch (...) {
    (void)hipSetDevice(former);
    return false;
  }
}

void Driver::pop() noexcept {
  if (former_devices().empty()) return;
  (void)hipSetDevice(former_devices().back());
  former_devices().pop_back();
}

}  // namespace tutti::detail::device
