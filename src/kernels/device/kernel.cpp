// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/kernel.hpp"

#include <mutex>
#include <set>
#include <tuple>
#include <tutti/error.hpp>

#include "device/at_rest.hpp"

namespace tutti::kernels::device {
namespace {

namespace lower = tutti::detail::device;

/// The code that is on devices, by runtime, device and address.
struct Loaded {
  std::mutex mutex;
  std::set<std::tuple<std::uint64_t, int, const void*>> all;
};

Loaded& loaded() {
  static auto* only = new Loaded;
  return *only;
}

}  // namespace

std::uint64_t Kernel::here() {
  constexpr unsigned device_bits = 16;
  const int device = lower::required_runtime("kernels on device memory").current_device();
  return (lower::runtime_generation() + 1) << device_bits | static_cast<std::uint64_t>(device);
}

void Kernel::load(StreamHandle stream) {
  (void)launch_first(stream, [this] { lower::required_runtime("kernels on device memory").load_kernel(code_); });
}

bool Kernel::launch_first(StreamHandle stream, const std::function<void()>& launch) {
  const std::uint64_t now = here();
  if (last_.load(std::memory_order_acquire) == now) return false;
  const bool is_first = once(stream, launch);
  last_.store(now, std::memory_order_release);
  return is_first;
}

bool Kernel::once(StreamHandle stream, const std::function<void()>& act) {
  lower::Runtime& runtime = lower::required_runtime("kernels on device memory");
  const int device = runtime.current_device();
  const std::tuple key(lower::runtime_generation(), device, code_);
  {
    const std::lock_guard lock(loaded().mutex);
    if (loaded().all.contains(key)) return false;
  }
  if (runtime.capture_of(stream) != 0)
    throw Error(ErrorCode::not_supported,
                "capture: a kernel of this operation is not loaded yet; make the call once before the capture");
  lower::Traffic& traffic = lower::Traffic::of(device);
  if (!traffic.launch_mutex().is_mine())
    lower::at_rest(device, act);
  else if (traffic.is_idle())
    act();
  else
    throw Error(ErrorCode::not_supported,
                "a kernel cannot be loaded while NCCL connects and other NCCL work is in flight; make the call once "
                "before");
  const std::lock_guard lock(loaded().mutex);
  loaded().all.insert(key);
  return true;
}

}  // namespace tutti::kernels::device
