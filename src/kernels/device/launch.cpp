// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/device/launch.hpp"

#include "kernels/device/combine.hpp"

namespace tutti::kernels::device {

bool runs_on_host() {
  const auto* runtime = tutti::detail::device::runtime();
  return runtime != nullptr && runtime->runs_host_functions();
}

void throw_without_kernels() {
  throw Error(ErrorCode::not_built,
              "device memory: this library has no kernels for it; build it where nvcc is found, or use host "
              "memory");
}

#if defined(__CUDACC__)
bool has_kernels() noexcept { return tutti::detail::device::runtime() != nullptr; }
#else
bool has_kernels() noexcept { return runs_on_host(); }
#endif

}  // namespace tutti::kernels::device
