// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <tutti/detail/export.hpp>
#include <tutti/error.hpp>

#include "stream.hpp"

namespace tutti::miniapps::device {

#if defined(__CUDACC__)
template <typename Body>
__global__ void run_body(std::size_t count, Body body) {
  const std::size_t threads = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) {
    body(i);
  }
}
#endif

/// body(i) for every i < count, in stream order; returns at once. The body is a functor whose call is a TUTTI_FUNCTION.
/// Throws Error: not_built where this source was not compiled for a device, cuda.
template <typename Body>
void launch(StreamHandle stream, std::size_t count, const Body& body) {
  if (count == 0) return;
  if (const HostFunctions run = host_functions()) {
    return run(stream, [body, count] {
      for (std::size_t i = 0; i < count; ++i) body(i);
    });
  }
#if defined(__CUDACC__)
  constexpr std::size_t threads = 256;
  constexpr std::size_t most_blocks = std::size_t{1} << 20U;
  const std::size_t blocks = (count + threads - 1) / threads;
  run_body<<<static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks), threads, 0,
             static_cast<cudaStream_t>(stream)>>>(count, body);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
    throw Error(ErrorCode::cuda, std::string("a kernel could not be launched: ") + cudaGetErrorString(status));
  }
#else
  throw Error(ErrorCode::not_built,
              "device memory: this program was compiled without kernels for it; build it with a "
              "library that has device kernels, or use host memory");
#endif
}

}  // namespace tutti::miniapps::device
