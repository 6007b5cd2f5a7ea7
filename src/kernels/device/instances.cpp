// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/detail/launch/kokkos.hpp>
#include <tutti/error.hpp>
#include <utility>

#include "device/beside_captures.hpp"
#include "kernels/device/load_at_rest.hpp"
#include "kernels/runtime.hpp"

namespace tutti::kernels::device {
namespace {

using tutti::detail::device::required_runtime;

[[noreturn]] void throw_failed(const std::string& why) {
  throw Error(ErrorCode::cuda, "a kernel could not be launched: " + why);
}

class Instances {
 public:
  /// Never destroyed; empty from Kokkos' end on.
  static Instances& all() {
    static auto* only = new Instances;
    return *only;
  }

  DeviceSpace of(StreamHandle stream) {
    const Key key(required_runtime("kernels on device memory").current_device(), stream);
    std::optional<DeviceSpace> found = find(key);
    if (found) return *std::move(found);
    if (required_runtime("kernels on device memory").capture_of(stream) != 0)
      throw Error(ErrorCode::not_supported,
                  "capture: no kernel of Tutti has run on this stream yet; make the call once before the capture");
    load_at_rest(key.first, [&] { found = make(key); });
    return *std::move(found);
  }

 private:
  using Key = std::pair<int, StreamHandle>;
  struct Kept {
    DeviceSpace space;
    std::uint64_t last_use;
  };
  static constexpr std::size_t most = 32;

  std::optional<DeviceSpace> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = all_.find(key);
    if (at == all_.end()) return std::nullopt;
    at->second.last_use = ++uses_;
    return at->second.space;
  }

  DeviceSpace make(const Key& key) {
    if (!ensure_kokkos(KokkosUse::device)) throw_failed("Kokkos finds no device");
    const std::lock_guard lock(mutex_);
    if (!is_hooked_) Kokkos::push_finalize_hook([] { all().clear(); });
    is_hooked_ = true;
    if (all_.size() >= most)
      all_.erase(std::min_element(all_.begin(), all_.end(),
                                  [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; }));
    DeviceSpace made(static_cast<cudaStream_t>(key.second));
    all_.emplace(key, Kept{made, ++uses_});
    return made;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

  std::mutex mutex_;
  std::map<Key, Kept> all_;
  std::uint64_t uses_ = 0;
  bool is_hooked_ = false;
};

}  // namespace

void launch_checked(StreamHandle stream, const std::function<void(const DeviceSpace&)>& launch) {
  // Before a loop over teams Kokkos asks CUDA for memory of no bytes.
  const tutti::detail::device::BesideCaptures beside;
  const cudaError_t before = cudaPeekAtLastError();
  try {
    launch(Instances::all().of(stream));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw_failed(e.what());
  }
  const cudaError_t after = cudaPeekAtLastError();
  if (after == before || after == cudaSuccess) return;
  (void)cudaGetLastError();
  throw_failed(cudaGetErrorString(after));
}

}  // namespace tutti::kernels::device
