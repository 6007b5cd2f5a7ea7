// SPDX-License-Identifier: BSD-3-Clause
#include "call/device_side.hpp"

#include <tutti/error.hpp>

namespace tutti::detail {

DeviceSide::~DeviceSide() {
  device::Runtime* runtime = device::runtime();
  if (runtime == nullptr || stream == nullptr) return;
  try {
    const device::Guard guard(device);
    runtime->destroy_stream(stream);
  } catch (const Error&) {  // NOLINT(bugprone-empty-catch): a device that fails has no streams to end
  }
}

}  // namespace tutti::detail
