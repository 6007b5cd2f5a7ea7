// SPDX-License-Identifier: BSD-3-Clause
// Needs Kokkos, as <tutti/kokkos.hpp> does. CMake: find_package(tutti COMPONENTS kokkos), link tutti::kokkos.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <tutti/detail/launch/kernel.hpp>
#include <tutti/detail/launch/kokkos.hpp>
#include <tutti/error.hpp>
#include <utility>

#if defined(__CUDACC__) && !defined(TUTTI_KOKKOS_DEVICE)
#include <tutti/detail/launch/cuda.hpp>
#endif
#if defined(TUTTI_HOST_LANES)
#include TUTTI_HOST_LANES  // tests of lanes put their own in the place of a host space
#endif

/// The one way in which Tutti and its mini-apps launch work on a device, in stream order: by Kokkos' parallel loops
/// over an instance of its execution space on that stream where Kokkos has the device, else by CUDA's launch of the
/// same bodies where nvcc compiles this. With a test runtime, by Kokkos' loops over a host space. Bodies are functors
/// whose calls are marked TUTTI_FUNCTION; they travel by value. Kernels are loaded, and the instance of a stream is
/// made, at the first launch, while no NCCL work of Tutti is in flight; so launch once before a capture. Local. Any
/// thread.
namespace tutti::kernels::device {

template <typename Work>
void start([[maybe_unused]] StreamHandle stream, [[maybe_unused]] const Work& work) {
#if defined(TUTTI_KOKKOS_DEVICE)
  launch_checked(stream, [&](const DeviceSpace& space) { launch_on(space, work); });
#elif defined(__CUDACC__)
  launch_on(static_cast<cudaStream_t>(stream), work);
#else
  throw_without_kernels();
#endif
}

template <typename Work>
void run_here(const Work& work) {
#if defined(TUTTI_HOST_LANES)
  launch_on(HostLanes(), work);
#else
  run_on_host_space(work);
#endif
}

/// Launches the work; without items it only loads the kernel and prepares the stream.
template <typename Work>
void enqueue(StreamHandle stream, const Work& work) {
  static_assert(sizeof(Work) <= most_work_bytes, "make the body smaller, or pass an address in device memory");
  static Kernel kernel;
  if (runs_on_host()) {
    std::function<void()> launch;
    if (work.count > 0) launch = [work] { run_here(work); };
    return run_on_host(stream, kernel, std::move(launch));
  }
  kernel.load(stream, [&] {
    Work idle = work;
    idle.count = 0;
    start(stream, idle);
  });
  if (work.count > 0) return start(stream, work);
  prepare_stream(stream);
}

/// Calls body(i) for every i < count, in stream order; returns at once. With a count of 0 the kernel is only loaded.
/// Throws not_built, cuda.
template <typename Body>
void launch(StreamHandle stream, std::size_t count, const Body& body) {
  enqueue(stream, ItemWork<Body>{body, count});
}

/// Calls body(warp, item) for every item < count. The lanes of a warp run the body together, so every branch outside
/// warp.each must be the same for all of them. In stream order; returns at once. With a count of 0 the kernel is only
/// loaded. Throws not_built, not_supported if a warp needs more scratch than every device has, cuda.
template <typename Body>
void launch_warps(StreamHandle stream, std::size_t count, std::size_t scratch_bytes, const Body& body) {
  const std::size_t aligned = (scratch_bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  if (aligned > most_scratch_bytes)
    throw Error(ErrorCode::not_supported, "a kernel on device memory needs " + std::to_string(aligned) +
                                              " bytes of scratch for each item, and at most " +
                                              std::to_string(most_scratch_bytes) + " are there; use host memory");
  enqueue(stream, WarpWork<Body>{body, count, aligned});
}

}  // namespace tutti::kernels::device
