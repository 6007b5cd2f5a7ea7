// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/launch.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "kernels/device/combine.hpp"
#include "kernels/runtime.hpp"

namespace tutti::kernels::device {

bool runs_on_host() {
  const auto* runtime = tutti::detail::device::runtime();
  return runtime != nullptr && runtime->runs_host_functions();
}

void throw_without_kernels() {
  throw Error(ErrorCode::not_built,
              "device memory: this library has no kernels for it; build it with a Kokkos that has CUDA, or use host "
              "memory");
}

#if defined(__CUDACC__)

namespace {

/// The instances of all streams so far, until Kokkos is finalized. A stream made at the address of a former one may use
/// its instance; the default stream has one handle on all devices.
struct Spaces {
  std::mutex mutex;
  std::map<std::pair<int, StreamHandle>, Kokkos::Cuda> of_stream;
};

Spaces& spaces() {
  static auto* all = new Spaces;
  return *all;
}

void release_spaces() {
  const std::lock_guard lock(spaces().mutex);
  spaces().of_stream.clear();
}

}  // namespace

const Kokkos::Cuda& space_of(StreamHandle stream) {
  auto* runtime = tutti::detail::device::runtime();
  if (runtime == nullptr) throw_without_kernels();
  if (!ensure_kokkos()) throw_without_kernels();
  const std::lock_guard lock(spaces().mutex);
  auto& map = spaces().of_stream;
  if (map.empty()) Kokkos::push_finalize_hook(release_spaces);
  const std::pair key{runtime->current_device(), stream};
  const auto found = map.find(key);
  if (found != map.end()) return found->second;
  return map.emplace(key, Kokkos::Cuda(static_cast<cudaStream_t>(stream))).first->second;
}

bool has_kernels() noexcept { return tutti::detail::device::runtime() != nullptr; }
void prepare_stream(StreamHandle stream) {
  if (!runs_on_host()) static_cast<void>(space_of(stream));
}

#else

bool has_kernels() noexcept { return runs_on_host(); }
void prepare_stream(StreamHandle /*stream*/) {
  if (!runs_on_host()) throw_without_kernels();
}

#endif

}  // namespace tutti::kernels::device
