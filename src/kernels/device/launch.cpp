// SPDX-License-Identifier: BSD-3-Clause
#include <mutex>
#include <tutti/kernels/launch.hpp>
#include <utility>

#include "device/runtime.hpp"
#include "kernels/device/launcher.hpp"
#include "kernels/runtime.hpp"

namespace tutti::kernels::device {

bool runs_on_host() {
  const auto* runtime = tutti::detail::device::runtime();
  return runtime != nullptr && runtime->runs_host_functions();
}

void run_on_host(StreamHandle stream, Kernel& kernel, std::function<void()> launch) {
  auto& runtime = tutti::detail::device::required_runtime("kernels on device memory");
  kernel.load(stream, [&] { runtime.load_kernel(&kernel); });
  if (!launch) return;
  if (!ensure_kokkos()) throw Error(ErrorCode::not_supported, "kernels as host functions: Kokkos finds no device");
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
