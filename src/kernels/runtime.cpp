// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/runtime.hpp"

#include <unistd.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <mutex>

namespace tutti::kernels {

namespace {

#if defined(KOKKOS_ENABLE_THREADS)
/// Whether this thread initialised Kokkos: its place in the pool is the last.
bool may_start_loops() {
  return Kokkos::Threads::impl_thread_pool_rank() == Kokkos::Threads::impl_thread_pool_size() - 1;
}
bool is_right_to_initialize() { return ::gettid() == ::getpid(); }  // the thread that will probably end the process
#else
constexpr bool may_start_loops() { return true; }
constexpr bool is_right_to_initialize() { return true; }
#endif

void finalize_kokkos() {
  if (Kokkos::is_initialized()) Kokkos::finalize();
}

/// The device that this process has chosen, if Kokkos has one; -1 if there is none.
int chosen_device() {
  int device = 0;
#if defined(KOKKOS_ENABLE_CUDA)
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0 || cudaGetDevice(&device) != cudaSuccess) return -1;
#elif defined(KOKKOS_ENABLE_HIP)
  int count = 0;
  if (hipGetDeviceCount(&count) != hipSuccess || count == 0 || hipGetDevice(&device) != hipSuccess) return -1;
#endif
  return device;
}

/// Kokkos is initialised once in a process.
bool was_finalized() {
#if defined(KOKKOS_VERSION) && KOKKOS_VERSION >= 30700
  return Kokkos::is_finalized();
#else
  return false;
#endif
}

bool host_may_start_it() {
#if defined(KOKKOS_ENABLE_CUDA)
  CUcontext context = nullptr;
  if (cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return false;
#endif
  return is_right_to_initialize();
}

void initialize_kokkos() {
  if (was_finalized() || chosen_device() < 0) return;
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
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!Kokkos::is_initialized() && (use == KokkosUse::device || host_may_start_it())) initialize_kokkos();
  return Kokkos::is_initialized() && (use == KokkosUse::device || may_start_loops());
}

}  // namespace tutti::kernels
