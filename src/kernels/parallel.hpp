// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <utility>

#include "kernels/runtime.hpp"

namespace tutti::kernels {

using HostSpace = Kokkos::DefaultHostExecutionSpace;

/// The number of partitions to make: the caller's choice, or one a thread.
inline std::size_t partition_count(std::size_t asked) {
  ensure_kokkos();
  return asked > 0 ? asked : static_cast<std::size_t>(HostSpace().concurrency());
}

/// body(p) for every p < partitions, concurrently where the host space has threads. The body must not throw.
template <typename Body>
void for_each_partition(std::size_t partitions, const Body& body) {
  if (partitions == 1) return body(std::size_t{0});
  ensure_kokkos();
  Kokkos::parallel_for("tutti", Kokkos::RangePolicy<HostSpace>(HostSpace(), 0, partitions),
                       [&body](std::size_t p) { body(p); });
  HostSpace().fence();
}

/// The half-open range of `total` items that partition p of `partitions` has.
inline std::pair<std::size_t, std::size_t> partition_range(std::size_t total, std::size_t partitions, std::size_t p) {
  const std::size_t each = total / partitions;
  const std::size_t rest = total % partitions;
  const std::size_t begin = p * each + (p < rest ? p : rest);
  return {begin, begin + each + (p < rest ? 1 : 0)};
}

}  // namespace tutti::kernels
