// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/runtime.hpp"

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <mutex>

namespace tutti::kernels {

namespace {

void finalize_kokkos() {
  if (Kokkos::is_initialized()) Kokkos::finalize();
}

void initialize_kokkos() {
  if (Kokkos::is_initialized()) return;
#if defined(KOKKOS_VERSION) && KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  std::atexit(finalize_kokkos);
}

}  // namespace

void ensure_kokkos() {
  static std::once_flag once;
  std::call_once(once, initialize_kokkos);
}

}  // namespace tutti::kernels
