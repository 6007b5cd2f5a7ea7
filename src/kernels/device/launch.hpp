// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/detail/export.hpp>
#include <tutti/error.hpp>
#include <utility>
#include <vector>

#include "device/runtime.hpp"

#if defined(__CUDACC__)
#include <Kokkos_Core.hpp>
#endif

/// The one way to launch work on a device: a functor over a range, or over warps. Compiled by nvcc for a Kokkos with
/// CUDA. Otherwise, and with a test runtime, the same functor is a host function in stream order.
namespace tutti::kernels::device {

using tutti::detail::device::StreamHandle;

inline constexpr unsigned warp_lanes = 32;

/// The lanes that share one item of launch_warps, and their scratch memory.
class Warp {
 public:
  TUTTI_FUNCTION Warp(unsigned lane, void* scratch) : lane_(lane), scratch_(scratch) {}
  /// Calls body(k) for every k < count; then all lanes see the writes of all. Lane k % 32 does k, in ascending order.
  template <typename Body>
  TUTTI_FUNCTION void each(std::size_t count, const Body& body) const {
#if defined(__CUDA_ARCH__)
    for (std::size_t k = lane_; k < count; k += warp_lanes) body(k);
    __syncwarp();
#else
    for (std::size_t k = 0; k < count; ++k) body(k);
#endif
  }
  /// As many bytes as launch_warps was given, aligned to 16.
  template <typename T>
  [[nodiscard]] TUTTI_FUNCTION T* scratch(std::size_t bytes_before = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(scratch_) + bytes_before);
  }

 private:
  unsigned lane_;
  void* scratch_;
};

/// Throws not_built: this library has no kernels for the memory it was given.
[[noreturn]] void throw_without_kernels();
/// Whether bodies are host functions, as in tests.
[[nodiscard]] bool runs_on_host();

/// Bytes of a body. With Kokkos' policy beside it, it stays within the 512 bytes that Kokkos passes as arguments of a
/// kernel; larger ones are copied through constant memory, where a launch waits for the one before.
inline constexpr std::size_t most_body_bytes = 448;

/// Scratch of a warp that every device has.
inline constexpr std::size_t most_scratch_bytes = 40960;

/// Warps that share the memory of a block.
inline int team_warps(std::size_t scratch_bytes) {
  constexpr std::size_t most = 8;
  const std::size_t fitting = scratch_bytes == 0 ? most : most_scratch_bytes / scratch_bytes;
  return static_cast<int>(fitting < 1 ? 1 : (fitting < most ? fitting : most));
}

#if defined(__CUDACC__)
/// The instance of a stream of the current device. The first use makes it, which allocates device memory. Any thread.
[[nodiscard]] const Kokkos::Cuda& space_of(StreamHandle stream);

template <typename Body>
struct WarpBody {
  using Member = typename Kokkos::TeamPolicy<Kokkos::Cuda>::member_type;
  Body body;
  std::size_t warps;
  std::size_t scratch_bytes;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const auto item = static_cast<std::size_t>(member.league_rank()) * static_cast<std::size_t>(member.team_size()) +
                      static_cast<std::size_t>(member.team_rank());
    if (item >= warps) return;
    void* scratch = nullptr;
    if (scratch_bytes > 0) scratch = member.thread_scratch(0).get_shmem_aligned(scratch_bytes, 16);
#if defined(__CUDA_ARCH__)
    body(Warp(threadIdx.x, scratch), item);
#endif
  }
};
#endif

/// Calls body(i) for every i < count, in stream order; returns at once. Throws not_built.
template <typename Body>
void launch(StreamHandle stream, std::size_t count, const Body& body) {
  static_assert(sizeof(Body) <= most_body_bytes, "make the body smaller, or pass an address in device memory");
  if (count == 0) return;
  if (runs_on_host()) {
    return tutti::detail::device::runtime()->run_host(stream, [body, count] {
      for (std::size_t i = 0; i < count; ++i) body(i);
    });
  }
#if defined(__CUDACC__)
  using Policy = Kokkos::RangePolicy<Kokkos::Cuda, Kokkos::IndexType<std::size_t>, Kokkos::LaunchBounds<256, 1>>;
  Kokkos::parallel_for("tutti", Policy(space_of(stream), 0, count), body);
#else
  throw_without_kernels();
#endif
}

/// Calls body(warp, item) for every item < warps. The lanes of a warp run the body together, so every branch outside
/// Warp::each must be the same for all of them. In stream order; returns at once. Throws not_built.
template <typename Body>
void launch_warps(StreamHandle stream, std::size_t warps, std::size_t scratch_bytes, const Body& body) {
  static_assert(sizeof(Body) <= most_body_bytes, "make the body smaller, or pass an address in device memory");
  if (warps == 0) return;
  if (runs_on_host()) {
    return tutti::detail::device::runtime()->run_host(stream, [body, warps, scratch_bytes] {
      std::vector<std::max_align_t> scratch(scratch_bytes / sizeof(std::max_align_t) + 1);
      for (std::size_t item = 0; item < warps; ++item) body(Warp(0, scratch.data()), item);
    });
  }
#if defined(__CUDACC__)
  const int warps_of_team = team_warps(scratch_bytes);
  const auto team = static_cast<std::size_t>(warps_of_team);
  const auto league = static_cast<int>((warps + team - 1) / team);
  Kokkos::TeamPolicy<Kokkos::Cuda, Kokkos::LaunchBounds<256, 1>> policy(space_of(stream), league, warps_of_team,
                                                                        warp_lanes);
  if (scratch_bytes > 0) policy.set_scratch_size(0, Kokkos::PerThread(scratch_bytes + 16));
  Kokkos::parallel_for("tutti", policy, WarpBody<Body>{body, warps, scratch_bytes});
#else
  throw_without_kernels();
#endif
}

}  // namespace tutti::kernels::device
