// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>
#include <set>
#include <tutti/kernels/launch.hpp>
#include <utility>
#include <vector>

#include "device/runtime.hpp"
#include "kernels/device/launcher.hpp"
#include "kernels/device/load_at_rest.hpp"
#include "kernels/runtime.hpp"

namespace tutti::kernels::device {

bool runs_on_host() {
  const auto* runtime = tutti::detail::device::runtime();
  return runtime != nullptr && runtime->runs_host_functions();
}

namespace {

/// Kokkos' space of a device makes something for each stream, at rest; a test runtime sees whether that would be so.
void prepare_on_host(StreamHandle stream) {
  static std::mutex mutex;
  static std::set<std::pair<std::uint64_t, StreamHandle>> prepared;
  const std::pair key(tutti::detail::device::runtime_generation(), stream);
  {
    const std::lock_guard lock(mutex);
    if (prepared.contains(key)) return;
  }
  load_at_rest(tutti::detail::device::runtime()->current_device(), [] {});
  const std::lock_guard lock(mutex);
  prepared.insert(key);
}

}  // namespace

void prepare_stream([[maybe_unused]] StreamHandle stream) {
  if (runs_on_host()) return prepare_on_host(stream);
#if defined(TUTTI_KOKKOS_DEVICE)
  launch_checked(stream, [](const DeviceSpace& /*space*/) {});
#endif
}

namespace {

void run_alone(const ItemWork<AnyItems>& work) {
  for (std::size_t i = 0; i < work.count; ++i) work(i);
}

void run_alone(const WarpWork<AnyWarps>& work) {
  struct alignas(scratch_alignment) Aligned {
    std::byte bytes[scratch_alignment];
  };
  std::vector<Aligned> scratch(work.scratch_bytes / scratch_alignment);
  for (std::size_t item = 0; item < work.count; ++item) work(HostWarp(nullptr, scratch.data()), item);
}

template <typename Work>
void run_on_space(const Work& work) {
  if (!ensure_kokkos()) return run_alone(work);
  launch_on(HostSpace(), work);
  HostSpace().fence();
}

}  // namespace

void run_on_host_space(const ItemWork<AnyItems>& work) { run_on_space(work); }
void run_on_host_space(const WarpWork<AnyWarps>& work) { run_on_space(work); }

void run_on_host(StreamHandle stream, Kernel& kernel, std::function<void()> launch) {
  auto& runtime = tutti::detail::device::required_runtime("kernels on device memory");
  kernel.load(stream, [&] { runtime.load_kernel(&kernel); });
  prepare_on_host(stream);
  if (!launch) return;
  const auto alone = [launch = std::move(launch)] {
    static std::mutex mutex;  // a host space runs one loop at a time
    const std::lock_guard lock(mutex);
    launch();
  };
  runtime.run_host(stream, alone, &kernel);
}

void throw_without_kernels() {
  throw Error(ErrorCode::not_built, std::string("device memory: kernels are launched by ") +
                                        launcher_text(Launcher::none) + ", or use host memory");
}

Launcher launcher() noexcept {
  if (runs_on_host()) return Launcher::host;
#if defined(TUTTI_KOKKOS_DEVICE)
  return tutti::detail::device::runtime() != nullptr ? Launcher::kokkos : Launcher::none;
#elif defined(__CUDACC__)
  return tutti::detail::device::runtime() != nullptr ? Launcher::cuda : Launcher::none;
#else
  return Launcher::none;
#endif
}

const char* launcher_text(Launcher launcher) noexcept {
  switch (launcher) {
    case Launcher::host:
      return "Kokkos on the host";
    case Launcher::cuda:
      return "CUDA, since this Kokkos has no CUDA";
    case Launcher::kokkos:
      return "Kokkos";
    default:
      return "nobody: build the library with a Kokkos that has CUDA, or where nvcc is found";
  }
}

}  // namespace tutti::kernels::device
