// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <tutti/detail/launch/work.hpp>
#include <tutti/error.hpp>

/// Work as plain CUDA kernels: for nvcc beside a Kokkos without CUDA, such as Debian's. Nothing else is launched so.
namespace tutti::kernels::device {

/// As KokkosWarp.
class CudaWarp {
 public:
  __device__ explicit CudaWarp(char* scratch) : scratch_(scratch) {}
  template <typename Body>
  __device__ void each(std::size_t count, const Body& body) const {
    for (std::size_t k = threadIdx.x; k < count; k += warp_lanes) body(k);
    __syncwarp();
  }
  template <typename T>
  [[nodiscard]] __device__ T* scratch(std::size_t bytes_before = 0) const {
    return reinterpret_cast<T*>(scratch_ + bytes_before);
  }

 private:
  char* scratch_;
};

template <typename Body>
__global__ void __launch_bounds__(block_threads, blocks_at_once<Body>()) run_items(const ItemWork<Body> work) {
  const std::size_t all = static_cast<std::size_t>(gridDim.x) * block_threads;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * block_threads + threadIdx.x; i < work.count; i += all) {
    work(i);
  }
}

template <typename Body>
__global__ void __launch_bounds__(block_threads, blocks_at_once<Body>()) run_warps(const WarpWork<Body> work) {
  extern __shared__ double2 shared[];  // aligned to scratch_alignment
  const CudaWarp warp(reinterpret_cast<char*>(shared) + threadIdx.y * work.scratch_bytes);
  const std::size_t all = static_cast<std::size_t>(gridDim.x) * blockDim.y;
  for (std::size_t item = static_cast<std::size_t>(blockIdx.x) * blockDim.y + threadIdx.y; item < work.count;
       item += all) {
    work(warp, item);
    __syncwarp();  // before the next item uses the scratch
  }
}

inline unsigned blocks_for(std::size_t items, std::size_t of_a_block) {
  constexpr std::size_t most = 0x7fffffffU;
  return static_cast<unsigned>(std::clamp<std::size_t>((items + of_a_block - 1) / of_a_block, 1, most));
}

/// The launch's own status: whatever the caller's calls have left in cudaGetLastError() stays there.
inline void require_launched(cudaError_t code) {
  if (code == cudaSuccess) return;
  if (cudaPeekAtLastError() == code) (void)cudaGetLastError();
  throw Error(ErrorCode::cuda, std::string("a kernel could not be launched: ") + cudaGetErrorString(code));
}

template <typename Body>
void launch_on(cudaStream_t stream, const ItemWork<Body>& work) {
  void* arguments[] = {const_cast<ItemWork<Body>*>(&work)};
  require_launched(cudaLaunchKernel(reinterpret_cast<const void*>(&run_items<Body>),
                                    dim3(blocks_for(work.count, block_threads)), dim3(block_threads), arguments, 0,
                                    stream));
}

template <typename Body>
void launch_on(cudaStream_t stream, const WarpWork<Body>& work) {
  const std::size_t warps = work.warps_of_a_block();
  void* arguments[] = {const_cast<WarpWork<Body>*>(&work)};
  require_launched(cudaLaunchKernel(reinterpret_cast<const void*>(&run_warps<Body>),
                                    dim3(blocks_for(work.count, warps)), dim3(warp_lanes, static_cast<unsigned>(warps)),
                                    arguments, warps * work.scratch_bytes, stream));
}

}  // namespace tutti::kernels::device
