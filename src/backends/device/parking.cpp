// SPDX-License-Identifier: BSD-3-Clause
#include "backends/device/parking.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "call/deferred_free.hpp"

namespace tutti::detail {
namespace {

struct Parked {
  DeviceBuffers buffers;
  device::Event passed;
  std::uint64_t runtime;
};

/// Never destroyed: a stream may use the memory until the very end.
struct Parking {
  std::mutex mutex;
  std::vector<Parked> all;
  std::atomic<std::size_t> count{0};
};

Parking& parking() {
  static auto* only = new Parking;
  return *only;
}

bool has_passed(const Parked& parked) {
  if (parked.runtime != device::runtime_generation()) return true;
  try {
    return parked.passed.is_complete();
  } catch (const std::exception&) {
    return false;
  }
}

void release_buffers(void* buffers) { delete static_cast<DeviceBuffers*>(buffers); }

}  // namespace

void park(DeviceBuffers buffers, device::Event passed) noexcept {
  Parked parked{std::move(buffers), std::move(passed), device::runtime_generation()};
  Parking& all = parking();
  try {
    const std::lock_guard lock(all.mutex);
    all.all.push_back(std::move(parked));
    all.count.store(all.all.size(), std::memory_order_relaxed);
  } catch (const std::exception&) {
    defer_free(std::move(parked.buffers));
  }
}

void collect_parked() noexcept {
  Parking& all = parking();
  if (all.count.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.all, has_passed);
  all.count.store(all.all.size(), std::memory_order_relaxed);
}

DeviceBuffers& retain_by_graph(std::unique_ptr<DeviceBuffers> buffers, device::StreamHandle stream) {
  device::required_runtime("a graph").retain_by_graph(stream, release_buffers, buffers.get());
  return *buffers.release();
}

}  // namespace tutti::detail
