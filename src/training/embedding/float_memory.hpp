// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/buffer.hpp>
#include <vector>

#include "device/pool.hpp"

namespace tutti::detail {

/// Values of vectors and gradients, on the host or on the current device. Those on a device are undefined at first, and
/// end when no stream uses them any more.
class FloatMemory {
 public:
  void resize(std::size_t n, MemoryKind kind) {
    if (kind == MemoryKind::host) return host_.resize(n);
    const int device = device::required_runtime("vectors on a device").current_device();
    block_ = device::Pool::of(kind, device).acquire(n * sizeof(float));
  }
  [[nodiscard]] float* data() { return is_host() ? host_.data() : reinterpret_cast<float*>(block_.data()); }
  [[nodiscard]] const float* data() const { return const_cast<FloatMemory*>(this)->data(); }

 private:
  [[nodiscard]] bool is_host() const { return block_.data() == nullptr; }
  std::vector<float> host_;
  device::Block block_;
};

}  // namespace tutti::detail
