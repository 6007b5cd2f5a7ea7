// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <tutti/detail/export.hpp>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "device/runtime.hpp"
#include "kernels/device/kernel.hpp"

/// The one way to launch work on a device: a functor over a range, or over warps. Compiled by nvcc, and
/// launched by CUDA itself, not by Kokkos, which keeps memory for each stream, which it allocates and clears while
/// other work runs. Otherwise, and with a test runtime, the same functor is a host function in stream order.
namespace tutti::kernels::device {

inline constexpr unsigned warp_lanes = 32;
inline constexpr unsigned block_threads = 256;

/// The lanes that share one item of launch_warps or launch_blocks, and their scratch memory.
template <unsigned lanes>
class ThreadGroup {
 public:
  TUTTI_FUNCTION ThreadGroup(unsigned lane, void* scratch) : lane_(lane), scratch_(scratch) {}
  /// Calls body(k) for every k < count; then all lanes see the writes of all. Lane k % lanes does k, in ascending
  /// order.
  template <typename Body>
  TUTTI_FUNCTION void each(std::size_t count, const Body& body) const {
#if defined(__CUDA_ARCH__)
    for (std::size_t k = lane_; k < count; k += lanes) body(k);
    if constexpr (lanes == warp_lanes)
      __syncwarp();
    else
      __syncthreads();
#else
    for (std::size_t k = 0; k < count; ++k) body(k);
#endif
  }
  /// As many bytes as the launch was given, aligned to 16.
  template <typename T>
  [[nodiscard]] TUTTI_FUNCTION T* scratch(std::size_t bytes_before = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(scratch_) + bytes_before);
  }

 private:
  unsigned lane_;
  void* scratch_;
};
using Warp = ThreadGroup<warp_lanes>;
using Block = ThreadGroup<block_threads>;

/// Throws not_built: this library has no kernels for the memory it was given.
[[noreturn]] void throw_without_kernels();
/// Whether bodies are host functions, as in tests.
[[nodiscard]] bool runs_on_host();

/// Bytes of a body, which is passed as an argument of the kernel: CUDA's limit is 4 KiB.
inline constexpr std::size_t most_body_bytes = 4000;

/// Scratch of a warp that every device has.
inline constexpr std::size_t most_scratch_bytes = 40960;

/// Warps that share the memory of a block.
inline int team_warps(std::size_t scratch_bytes) {
  constexpr std::size_t most = 8;
  const std::size_t fitting = scratch_bytes == 0 ? most : most_scratch_bytes / scratch_bytes;
  return static_cast<int>(fitting < 1 ? 1 : (fitting < most ? fitting : most));
}

#if defined(__CUDACC__)
template <typename Body>
__global__ void __launch_bounds__(block_threads) run_each(std::size_t count, const Body body) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x;
  if (i < count) body(i);
}

template <typename Body>
__global__ void __launch_bounds__(block_threads)
    run_warps(std::size_t warps, std::size_t scratch_bytes, const Body body) {
  extern __shared__ double2 shared[];  // aligned to 16
  const std::size_t item = static_cast<std::size_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (item < warps) body(Warp(threadIdx.x, reinterpret_cast<char*>(shared) + threadIdx.y * scratch_bytes), item);
}

template <typename Body>
__global__ void __launch_bounds__(block_threads) run_blocks(const Body body) {
  extern __shared__ double2 shared[];
  body(Block(threadIdx.x, shared), static_cast<std::size_t>(blockIdx.x));
}

inline void check_launch() {
  if (const cudaError_t code = cudaGetLastError(); code != cudaSuccess)
    throw Error(ErrorCode::cuda, std::string("a kernel could not be launched: ") + cudaGetErrorString(code));
}
#endif

/// Who shares an item of a launch.
enum class Sharing : std::uint8_t { none, warp, block };

/// The kernel that calls a body for each item.
template <typename Body, Sharing sharing>
Kernel& kernel_of() {
#if defined(__CUDACC__)
  if constexpr (sharing == Sharing::block) {
    static Kernel kernel(reinterpret_cast<const void*>(&run_blocks<Body>));
    return kernel;
  } else if constexpr (sharing == Sharing::warp) {
    static Kernel kernel(reinterpret_cast<const void*>(&run_warps<Body>));
    return kernel;
  } else {
    static Kernel kernel(reinterpret_cast<const void*>(&run_each<Body>));
    return kernel;
  }
#else
  static Kernel kernel(&kernel);
  return kernel;
#endif
}

/// Calls body(i) for every i < count, in stream order; returns at once. With a count of 0 the kernel is only loaded.
/// Throws not_built, cuda.
template <typename Body>
void launch(StreamHandle stream, std::size_t count, const Body& body) {
  static_assert(sizeof(Body) <= most_body_bytes, "make the body smaller, or pass an address in device memory");
  Kernel& kernel = kernel_of<Body, Sharing::none>();
  if (runs_on_host()) {
    kernel.load(stream);
    if (count == 0) return;
    const auto run = [body, count] {
      for (std::size_t i = 0; i < count; ++i) body(i);
    };
    return tutti::detail::device::runtime()->run_host(stream, run, kernel.code());
  }
#if defined(__CUDACC__)
  kernel.load(stream);
  if (count == 0) return;
  const auto blocks = static_cast<unsigned>((count + block_threads - 1) / block_threads);
  run_each<<<blocks, block_threads, 0, static_cast<cudaStream_t>(stream)>>>(count, body);
  check_launch();
#else
  throw_without_kernels();
#endif
}

/// launch_warps and launch_blocks where bodies are host functions: a group has one lane.
template <typename Group, typename Body>
void run_groups_on_host(StreamHandle stream, Kernel& kernel, std::size_t items, std::size_t scratch_bytes,
                        const Body& body) {
  kernel.load(stream);
  if (items == 0) return;
  const auto run = [body, items, scratch_bytes] {
    std::vector<std::max_align_t> scratch(scratch_bytes / sizeof(std::max_align_t) + 1);
    for (std::size_t item = 0; item < items; ++item) body(Group(0, scratch.data()), item);
  };
  tutti::detail::device::runtime()->run_host(stream, run, kernel.code());
}

/// Calls body(warp, item) for every item < warps. The lanes of a warp run the body together, so every branch outside
/// Warp::each must be the same for all of them. In stream order; returns at once. With no warps the kernel is only
/// loaded. Throws not_built, cuda.
template <typename Body>
void launch_warps(StreamHandle stream, std::size_t warps, std::size_t scratch_bytes, const Body& body) {
  static_assert(sizeof(Body) <= most_body_bytes, "make the body smaller, or pass an address in device memory");
  Kernel& kernel = kernel_of<Body, Sharing::warp>();
  if (runs_on_host()) return run_groups_on_host<Warp>(stream, kernel, warps, scratch_bytes, body);
#if defined(__CUDACC__)
  kernel.load(stream);
  if (warps == 0) return;
  const std::size_t aligned = (scratch_bytes + 15) / 16 * 16;
  const auto team = static_cast<unsigned>(team_warps(aligned));
  const auto blocks = static_cast<unsigned>((warps + team - 1) / team);
  run_warps<<<blocks, dim3(warp_lanes, team), team * aligned, static_cast<cudaStream_t>(stream)>>>(warps, aligned,
                                                                                                   body);
  check_launch();
#else
  throw_without_kernels();
#endif
}

/// Calls body(block, item) for every item < blocks. Otherwise as launch_warps.
template <typename Body>
void launch_blocks(StreamHandle stream, std::size_t blocks, std::size_t scratch_bytes, const Body& body) {
  static_assert(sizeof(Body) <= most_body_bytes, "make the body smaller, or pass an address in device memory");
  Kernel& kernel = kernel_of<Body, Sharing::block>();
  if (runs_on_host()) return run_groups_on_host<Block>(stream, kernel, blocks, scratch_bytes, body);
#if defined(__CUDACC__)
  kernel.load(stream);
  if (blocks == 0) return;
  run_blocks<<<static_cast<unsigned>(blocks), block_threads, (scratch_bytes + 15) / 16 * 16,
               static_cast<cudaStream_t>(stream)>>>(body);
  check_launch();
#else
  throw_without_kernels();
#endif
}

}  // namespace tutti::kernels::device
