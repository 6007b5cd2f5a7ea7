// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/detail/launch/kokkos.hpp>
#include <tutti/error.hpp>
#include <vector>

#include "device/beside_captures.hpp"
#include "device/vendor.hpp"
#include "kernels/device/load_at_rest.hpp"
#include "kernels/runtime.hpp"

namespace tutti::kernels::device {
namespace {

using tutti::detail::device::required_runtime;

[[noreturn]] void throw_failed(const std::string& why) {
  throw Error(ErrorCode::cuda, "a kernel could not be launched: " + why);
}

using Instance = std::shared_ptr<const DeviceSpace>;

class Instances {
 public:
  /// Never destroyed; empty from Kokkos' end on.
  static Instances& all() {
    static auto* only = new Instances;
    return *only;
  }

  Instance of(StreamHandle stream) {
    const Key key{required_runtime("kernels on device memory").current_device(), stream};
    Instance found = find(key);
    if (found) return found;
    if (required_runtime("kernels on device memory").capture_of(stream) != 0)
      throw Error(ErrorCode::not_supported,
                  "capture: no kernel of Tutti has run on this stream yet; make the call once before the capture");
    load_at_rest(key.device, [&] { found = make(key); });
    return found;
  }

 private:
  struct Key {
    int device;
    StreamHandle stream;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Kept {
    Key key;
    Instance instance;
    std::uint64_t last_use;
  };
  static constexpr std::size_t most = 32;

  /// Null if there is none.
  Instance find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(all_.begin(), all_.end(), [&](const Kept& kept) { return kept.key == key; });
    if (at == all_.end()) return nullptr;
    at->last_use = ++uses_;
    return at->instance;
  }

  Instance make(const Key& key) {
    if (!ensure_kokkos(KokkosUse::device)) throw_failed("Kokkos finds no device");
    const std::lock_guard lock(mutex_);
    if (!is_hooked_) Kokkos::push_finalize_hook([] { all().clear(); });
    is_hooked_ = true;
    if (all_.size() >= most)
      all_.erase(std::min_element(all_.begin(), all_.end(),
                                  [](const Kept& a, const Kept& b) { return a.last_use < b.last_use; }));
    auto made = std::make_shared<const DeviceSpace>(static_cast<TUTTI_GPU(Stream_t)>(key.stream));
    all_.push_back({key, made, ++uses_});
    return made;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

  std::mutex mutex_;
  std::vector<Kept> all_;
  std::uint64_t uses_ = 0;
  bool is_hooked_ = false;
};

}  // namespace

void launch_checked(StreamHandle stream, const std::function<void(const DeviceSpace&)>& launch) {
  // Before a loop over teams Kokkos asks the runtime for memory of no bytes.
  const tutti::detail::device::BesideCaptures beside;
  const TUTTI_GPU(Error_t) before = TUTTI_GPU(PeekAtLastError)();
  try {
    launch(*Instances::all().of(stream));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& e) {
    throw_failed(e.what());
  }
  const TUTTI_GPU(Error_t) after = TUTTI_GPU(PeekAtLastError)();
  if (after == before || after == TUTTI_GPU(Success)) return;
  (void)TUTTI_GPU(GetLastError)();
  throw_failed(TUTTI_GPU(GetErrorString)(after));
}

}  // namespace tutti::kernels::device
