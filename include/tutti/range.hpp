// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <tutti/detail/export.hpp>

namespace tutti {

/// A named part of a program, such as a phase of a time step, from the construction to the destruction of this object.
/// It is shown in the trace of TUTTI_TRACE and, if the library is built with CUDA, as an NVTX range in NVIDIA's tools.
/// Ranges of one thread must nest. Names of more than 103 bytes are cut. Local; never blocks; needs no MPI; costs a
/// test of a flag if nobody records it. Counterpart: nvtxRangePush.
class TUTTI_EXPORT Range {
 public:
  /// Copies the name.
  explicit Range(std::string_view name) noexcept;
  ~Range();
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  std::uint32_t place_;
};

/// The same for interfaces without destructors: opens a range of this thread.
TUTTI_EXPORT void range_push(std::string_view name);
/// Closes the range that this thread opened last. Throws Error(invalid_argument) if none is open. Counterpart:
/// nvtxRangePop.
TUTTI_EXPORT void range_pop();

}  // namespace tutti
