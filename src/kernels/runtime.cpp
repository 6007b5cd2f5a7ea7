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

/// The device that this process has chosen, if Kokkos has CUDA; -1 if there is none.
int chosen_device() {
  int device = 0;
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 || cudaGetDevice(&device) != cudaSuccess) return -1;
#endif
  return device;
}

bool host_may_start_it() {
#if defined(KOKKOS_ENABLE_CUDA)
  CUcontext context = nullptr;
  return cuCtxGetCurrent(&context) == CUDA_SUCCESS && context != nullptr;
#else
  return true;
#endif
}

void initialize_kokkos() {
  if (Kokkos::is_initialized() || chosen_device() < 0) return;
#if defined(KOKKOS_VERSION) && KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true).set_device_id(chosen_device()));
#else
  Kokkos::InitArguments arguments;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
  std::atexit(finalize_kokkos);
}

}  // namespace

bool ensure_kokkos(KokkosUse use) {
  if (Kokkos::is_initialized()) return true;
  if (use == KokkosUse::host && !host_may_start_it()) return false;
  static std::once_flag once;
  std::call_once(once, initialize_kokkos);
  return Kokkos::is_initialized();
}

}  // namespace tutti::kernels
