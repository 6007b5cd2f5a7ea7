// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

/// Work on the threads of Kokkos' host space, without Kokkos' headers: if Kokkos has CUDA, only nvcc can read them.
namespace tutti::kernels {

/// The number of partitions to make: the caller's choice, or one per thread.
[[nodiscard]] std::size_t partition_count(std::size_t asked);

/// Calls run(body, p) for every p < partitions, concurrently if the host space has threads.
void run_partitions(std::size_t partitions, void (*run)(const void* body, std::size_t p), const void* body);

/// Calls body(p) for every p < partitions, concurrently if the host space has threads. The body must not throw.
template <typename Body>
void for_each_partition(std::size_t partitions, const Body& body) {
  if (partitions == 1) return body(std::size_t{0});
  run_partitions(
      partitions, [](const void* data, std::size_t p) { (*static_cast<const Body*>(data))(p); }, &body);
}

/// The half-open range of the `total` items that belongs to partition p of `partitions`.
inline std::pair<std::size_t, std::size_t> partition_range(std::size_t total, std::size_t partitions, std::size_t p) {
  const std::size_t each = total / partitions;
  const std::size_t rest = total % partitions;
  const std::size_t begin = p * each + (p < rest ? p : rest);
  return {begin, begin + each + (p < rest ? 1 : 0)};
}

}  // namespace tutti::kernels
