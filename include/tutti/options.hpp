// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/detail/export.hpp>
#include <type_traits>

namespace tutti {

/// The kind of a stream's handle.
enum class StreamKind : std::uint8_t { none = 0, cuda = 1 };

/// The stream that orders a call on device memory. StreamKind::none is not the default stream (handle 0): without a
/// stream, the caller has synchronised the buffers before the call, and the call returns when it is done. Owns nothing.
struct Stream {
  StreamKind kind = StreamKind::none;
  void* handle = nullptr;

  constexpr Stream() = default;
  constexpr Stream(StreamKind stream_kind, void* stream_handle) : kind(stream_kind), handle(stream_handle) {}
  /// Takes a cudaStream_t, which is a pointer; the template keeps CUDA's headers out of this one.
  template <typename T>
  requires(!std::is_void_v<T>) Stream(T* cuda_stream)
      : kind(StreamKind::cuda), handle(cuda_stream) {}  // NOLINT(google-explicit-constructor)
};

/// The way of sum, avg and premul_sum to add floating-point numbers, and the parts of complex ones. `full` adds those
/// of 16 and 8 bits in float32 and rounds once; `backend` leaves these to the backend. `exact` adds the contributions
/// of all ranks without rounding and rounds the sum once, to nearest, ties to even: the bits depend on neither the
/// order of the ranks nor the algorithm. avg divides that sum. Special values of `exact`: as in exact.hpp. In host
/// memory, or by copies in host memory; GPUs do not add so.
enum class Accumulation : std::uint8_t { full = 0, backend = 1, exact = 2 };

/// The options of a call. All ranks of the call pass the same values, with two exceptions: streams may differ, and
/// memory kinds may differ within one class (host or device).
struct Options {
  Stream stream{};
  MemoryKind memory = MemoryKind::detect;  ///< kind of all buffers of the call; declaring it saves the look-up
  std::chrono::nanoseconds timeout{0};     ///< the call fails with ErrorCode::timeout after it; 0: the communicator's
  std::string algorithm{};                 ///< "ring", "mpi:ring", "native", …; "": the planner chooses
  bool reproducible = false;               ///< one order of association for any algorithm, size and layout
  Accumulation accumulation = Accumulation::full;
};

}  // namespace tutti
