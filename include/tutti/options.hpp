// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <tutti/buffer.hpp>
#include <tutti/detail/export.hpp>
#include <type_traits>

namespace tutti {

enum class StreamKind : std::uint8_t { none = 0, cuda = 1 };

/// The stream that a call on device memory is ordered on. "None" is not the default stream (handle 0): without a
/// stream the caller has synchronised the buffer and the call returns when it is done.
struct Stream {
  StreamKind kind = StreamKind::none;
  void* handle = nullptr;

  constexpr Stream() = default;
  constexpr Stream(StreamKind stream_kind, void* stream_handle) : kind(stream_kind), handle(stream_handle) {}
  /// From a cudaStream_t (a pointer to an incomplete type, so that this header needs no CUDA).
  template <typename T>
  requires(!std::is_void_v<T>) Stream(T* cuda_stream)
      : kind(StreamKind::cuda), handle(cuda_stream) {}  // NOLINT(google-explicit-constructor)
};

/// How 16- and 8-bit floats are summed: `full` in float32, rounded once; `backend` as the backend does it.
enum class Accumulation : std::uint8_t { full = 0, backend = 1 };

/// What a call may be told beside its arguments. All members but the stream and the memory kind must be equal on all
/// ranks of the call; the class of the memory kind (host or device) must be equal as well.
struct Options {
  Stream stream{};
  MemoryKind memory = MemoryKind::detect;  ///< declared kind of all buffers of the call; saves the look-up
  std::chrono::nanoseconds timeout{0};     ///< 0: the communicator's; the call fails with ErrorCode::timeout
  std::string algorithm{};                 ///< "": the planner's choice; else "ring", "mpi:ring", "native", …
  bool reproducible = false;               ///< one association order, whatever algorithm, size and layout
  Accumulation accumulation = Accumulation::full;
};

}  // namespace tutti
