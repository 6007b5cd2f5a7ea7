// SPDX-License-Identifier: BSD-3-Clause
#include "unit/device/driver/fake_driver.hpp"

FakeDriver fake_driver;

namespace {
constexpr int success = 0;
constexpr int not_initialized = 3;
constexpr int invalid_context = 201;

char contexts[8];

int answer() {
  ++fake_driver.calls;
  return fake_driver.is_initialized ? success : not_initialized;
}
}  // namespace

extern "C" {

int cuDeviceGetCount(int* count) {
  *count = fake_driver.devices;
  return answer();
}

int cuDevicePrimaryCtxGetState(int device, unsigned* /*flags*/, int* active) {
  *active = device == fake_driver.active_device ? 1 : 0;
  return answer();
}

int cuCtxGetCurrent(void** context) {
  *context = fake_driver.has_current ? &fake_driver : nullptr;
  return answer();
}

int cuPointerGetAttributes(unsigned count, int* names, void** values, unsigned long long /*address*/) {
  if (!fake_driver.is_answering) return invalid_context;
  for (unsigned i = 0; i < count; ++i) {
    if (names[i] == 2)
      *static_cast<unsigned*>(values[i]) = fake_driver.memory_type;             // CU_POINTER_ATTRIBUTE_MEMORY_TYPE
    if (names[i] == 8) *static_cast<int*>(values[i]) = fake_driver.is_managed;  // …_IS_MANAGED
    if (names[i] == 9) *static_cast<int*>(values[i]) = fake_driver.device;      // …_DEVICE_ORDINAL
  }
  return answer();
}

int cuDeviceGetAttribute(int* value, int /*attribute*/, int device) {
  *value = device == 0 ? 1 : 0;
  return answer();
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device >= fake_driver.devices) return invalid_context;
  ++fake_driver.retained;
  *context = contexts + device;
  return answer();
}

int cuCtxPushCurrent_v2(void* context) {
  fake_driver.pushed = static_cast<int>(static_cast<char*>(context) - contexts);
  return answer();
}

int cuCtxPopCurrent_v2(void** context) {
  *context = contexts + fake_driver.pushed;
  fake_driver.pushed = -1;
  return answer();
}

int cuCtxGetDevice(int* device) {
  *device = fake_driver.pushed;
  return answer();
}

int cuStreamGetCtx(void* /*stream*/, void** context) {
  *context = contexts + fake_driver.stream_device;
  return answer();
}

int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (int i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(device + i);
  return answer();
}
}
