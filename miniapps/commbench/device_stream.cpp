// SPDX-License-Identifier: BSD-3-Clause
#include "device_stream.hpp"

#include <thread>
#include <tutti/environment.hpp>

namespace tutti::commbench {
namespace {

detail::device::Runtime& runtime() { return detail::device::required_runtime("commbench's stream"); }

}  // namespace

DeviceStream::DeviceStream() : handle_(runtime().create_stream()) {}

DeviceStream::~DeviceStream() {
  if (detail::device::Runtime* r = detail::device::runtime()) r->destroy_stream(handle_);
}

void DeviceStream::settle() const {
  constexpr int patient_looks = 256;
  for (int look = 0; !runtime().is_idle(handle_); ++look) {
    if (look < patient_looks) continue;
    progress();
    std::this_thread::yield();
  }
}

}  // namespace tutti::commbench
