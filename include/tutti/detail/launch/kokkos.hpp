// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <tutti/detail/export.hpp>
#include <tutti/detail/launch/work.hpp>
#include <type_traits>

/// Work as Kokkos' parallel loops over an instance of any execution space: items are a range, warps the threads of
/// teams and lanes their vector lanes. Nothing here fences a device.
namespace tutti::kernels::device {

#if defined(KOKKOS_ENABLE_CUDA)
#define TUTTI_KOKKOS_DEVICE
using DeviceSpace = Kokkos::Cuda;
#elif defined(KOKKOS_ENABLE_HIP)
#define TUTTI_KOKKOS_DEVICE
using DeviceSpace = Kokkos::HIP;
#endif
using HostSpace = Kokkos::DefaultHostExecutionSpace;

template <typename Space>
inline constexpr bool is_host_space = std::is_same_v<typename Space::memory_space, Kokkos::HostSpace>;

#if defined(TUTTI_DEVICE_CODE)
/// The lanes of a warp meet, and see one another's writes.
__device__ inline void sync_lanes() {
#if defined(__CUDA_ARCH__)
  __syncwarp();
#else  // the lanes of a wavefront run in step
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#endif
}
#endif

/// A thread of a team, whose vector lanes share an item. Without a member, on the host: a thread outside any loop.
template <typename Member>
class KokkosWarp {
 public:
  TUTTI_FUNCTION KokkosWarp(const Member* member, void* scratch) : member_(member), scratch_(scratch) {}

  /// Calls body(k) for every k < count, each on one lane; then all lanes see the writes of all.
#if defined(__NVCC__)
#pragma nv_exec_check_disable
#endif
  template <typename Body>
  TUTTI_FUNCTION void each(std::size_t count, const Body& body) const {
#if defined(TUTTI_DEVICE_CODE)
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(*member_, count), body);
    sync_lanes();  // Kokkos does so on CUDA, and promises it nowhere
#else
    if (member_ != nullptr) return Kokkos::parallel_for(Kokkos::ThreadVectorRange(*member_, count), body);
    for (std::size_t k = 0; k < count; ++k) body(k);
#endif
  }
  /// The scratch memory of the warp, aligned to scratch_alignment.
  template <typename T>
  [[nodiscard]] TUTTI_FUNCTION T* scratch(std::size_t bytes_before = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(scratch_) + bytes_before);
  }

 private:
  const Member* member_;
  void* scratch_;
};

/// A member of a team runs the warp that is its place in the league.
template <typename Work, typename Member>
struct TeamFunctor {
  Work work;
  std::size_t first;  ///< of the items of this launch

#if defined(__NVCC__)
#pragma nv_exec_check_disable
#endif
  TUTTI_FUNCTION void operator()(const Member& member) const {
    void* scratch = nullptr;
    if (work.scratch_bytes > 0) {
      // Aligned here: Kokkos does it by a division.
      auto at = reinterpret_cast<std::uintptr_t>(
          member.thread_scratch(0).get_shmem(static_cast<int>(work.scratch_bytes + scratch_alignment)));
      scratch = reinterpret_cast<void*>((at + scratch_alignment - 1) & ~(scratch_alignment - 1));
    }
    const auto team = static_cast<std::size_t>(member.team_size());
    const auto item =
        static_cast<std::size_t>(member.league_rank()) * team + static_cast<std::size_t>(member.team_rank());
    work(KokkosWarp<Member>(&member, scratch), first + item);
  }
};

#if defined(TUTTI_KOKKOS_DEVICE)
/// Calls launch(instance), where the instance's loops run in the order of the stream. Makes the instance at rest at the
/// stream's first use on the device, because Kokkos allocates and clears memory for it (about 1 MB), and keeps those of
/// the last streams. Throws not_supported if the first use is under capture, and cuda if a launch has failed; an older
/// error of the caller's own calls stays for cudaGetLastError(). Any thread.
TUTTI_EXPORT void launch_checked(void* stream, const std::function<void(const DeviceSpace&)>& launch);
#endif

/// Bodies travel as arguments of the kernel at every size that Work may have, and not through a buffer of Kokkos' that
/// it would wait for.
using ByArgument = Kokkos::Experimental::WorkItemProperty::HintLightWeight_t;
inline constexpr std::size_t most_work_bytes = 3600;

template <typename Space, typename Body>
void launch_on(const Space& space, const ItemWork<Body>& work) {
  using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::size_t>,
                                     Kokkos::LaunchBounds<block_threads, blocks_at_once<Body>()>, ByArgument>;
  constexpr std::size_t most = std::size_t{1} << 31U;  // on CUDA Kokkos before 4.6 steps by 32 bits
  const std::size_t items = std::max<std::size_t>(work.count, 1);
  for (std::size_t first = 0; first < items; first += most)
    Kokkos::parallel_for("tutti", Policy(space, first, std::min(items, first + most)), work);
}

template <typename Space, typename Body>
using WarpPolicy = Kokkos::TeamPolicy<Space, Kokkos::LaunchBounds<block_threads, blocks_at_once<Body>()>, ByArgument>;

template <typename Space, typename Body>
void launch_on(const Space& space, const WarpWork<Body>& work) {
  using Policy = WarpPolicy<Space, Body>;
  using Functor = TeamFunctor<WarpWork<Body>, typename Policy::member_type>;
  const auto with_scratch = [&](Policy policy) {
    if (work.scratch_bytes == 0) return policy;
    return policy.set_scratch_size(0, Kokkos::PerThread(static_cast<int>(work.scratch_bytes + scratch_alignment)));
  };
  const int lanes = std::min(static_cast<int>(warp_lanes), Policy::vector_length_max());
  auto team = static_cast<int>(work.warps_of_a_block());
  if constexpr (is_host_space<Space>)
    team = std::min(team, Policy(space, 1, 1, lanes).team_size_max(Functor{work, 0}, Kokkos::ParallelForTag()));
  const auto team_items = static_cast<std::size_t>(team);
  constexpr std::size_t most_teams = std::size_t{1} << 30U;
  const std::size_t most_items = most_teams * team_items;
  const std::size_t items = std::max<std::size_t>(work.count, 1);
  for (std::size_t first = 0; first < items; first += most_items) {
    const std::size_t teams = (std::min(items - first, most_items) + team_items - 1) / team_items;
    Kokkos::parallel_for("tutti", with_scratch(Policy(space, static_cast<int>(teams), team, lanes)),
                         Functor{work, first});
  }
}

/// Bodies of any type behind one, so that the loops over a host space are compiled once.
struct AnyItems {
  const void* body;
  void (*call)(const void*, std::size_t);
  TUTTI_FUNCTION void operator()(std::size_t i) const { call(body, i); }
};
using HostWarp = KokkosWarp<typename WarpPolicy<HostSpace, void>::member_type>;
struct AnyWarps {
  const void* body;
  void (*call)(const void*, const HostWarp&, std::size_t);
  TUTTI_FUNCTION void operator()(const HostWarp& warp, std::size_t item) const { call(body, warp, item); }
};
/// Returns when the work is done. Where the host space takes no loops of this thread, it runs them alone. Any thread.
TUTTI_EXPORT void run_on_host_space(const ItemWork<AnyItems>& work);
TUTTI_EXPORT void run_on_host_space(const WarpWork<AnyWarps>& work);

template <typename Body>
void run_on_host_space(const ItemWork<Body>& work) {
  const auto call = [](const void* body, std::size_t i) { (*static_cast<const Body*>(body))(i); };
  run_on_host_space(ItemWork<AnyItems>{{&work.body, call}, work.count});
}

template <typename Body>
void run_on_host_space(const WarpWork<Body>& work) {
  const auto call = [](const void* body, const HostWarp& warp, std::size_t item) {
    (*static_cast<const Body*>(body))(warp, item);
  };
  run_on_host_space(WarpWork<AnyWarps>{{&work.body, call}, work.count, work.scratch_bytes});
}

}  // namespace tutti::kernels::device
