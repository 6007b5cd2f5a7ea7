// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>
#include <set>
#include <tuple>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/error.hpp>

#include "device/at_rest.hpp"
#include "kernels/device/load_at_rest.hpp"

namespace tutti::kernels::device {
namespace {

namespace lower = tutti::detail::device;

/// The kernels whose code is on devices, by runtime and device.
struct Loaded {
  std::mutex mutex;
  std::set<std::tuple<std::uint64_t, int, const Kernel*>> all;
};

Loaded& loaded() {
  static auto* only = new Loaded;
  return *only;
}

lower::Runtime& runtime() { return lower::required_runtime("kernels on device memory"); }

/// The runtime and its current device.
std::uint64_t here(int device) {
  constexpr unsigned device_bits = 16;
  return (lower::runtime_generation() + 1) << device_bits | static_cast<std::uint64_t>(device);
}

}  // namespace

void load_at_rest(int device, const std::function<void()>& act) {
  lower::Traffic& traffic = lower::Traffic::of(device);
  if (!traffic.launch_mutex().is_mine()) return lower::at_rest(device, act);
  if (traffic.is_idle()) return act();
  throw Error(ErrorCode::not_supported,
              "a kernel cannot be loaded while NCCL connects and other NCCL work is in flight; make the call once "
              "before");
}

void Kernel::load(StreamHandle stream, const std::function<void()>& idle) {
  const int device = runtime().current_device();
  const std::uint64_t now = here(device);
  if (last_.load(std::memory_order_acquire) == now) return;
  const std::tuple key(lower::runtime_generation(), device, this);
  {
    const std::lock_guard lock(loaded().mutex);
    if (loaded().all.contains(key)) return last_.store(now, std::memory_order_release);
  }
  if (runtime().capture_of(stream) != 0)
    throw Error(ErrorCode::not_supported,
                "capture: a kernel of this operation is not loaded yet; make the call once before the capture");
  load_at_rest(device, idle);
  const std::lock_guard lock(loaded().mutex);
  loaded().all.insert(key);
  last_.store(now, std::memory_order_release);
}

}  // namespace tutti::kernels::device
