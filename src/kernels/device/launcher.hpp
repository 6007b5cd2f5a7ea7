// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tutti::kernels::device {

/// Who launches the kernels of this library.
enum class Launcher : std::uint8_t {
  none,    ///< nobody: the build had neither a Kokkos with CUDA nor nvcc
  host,    ///< Kokkos, over a host space: a test runtime
  cuda,    ///< CUDA: nvcc compiled them beside a Kokkos without CUDA
  kokkos,  ///< Kokkos, over its execution space of the device
};

[[nodiscard]] Launcher launcher() noexcept;
/// Says it in words, with the remedy for none.
[[nodiscard]] const char* launcher_text(Launcher launcher) noexcept;
/// Whether this build has kernels for the device of this process.
[[nodiscard]] inline bool has_kernels() noexcept { return launcher() != Launcher::none; }

}  // namespace tutti::kernels::device
