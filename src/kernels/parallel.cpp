// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/parallel.hpp"

#include <Kokkos_Core.hpp>

#include "kernels/runtime.hpp"

namespace tutti::kernels {

namespace {

using HostSpace = Kokkos::DefaultHostExecutionSpace;

struct PartitionBody {
  void (*run)(const void* body, std::size_t p);
  const void* body;
  void operator()(std::size_t p) const { run(body, p); }
};

}  // namespace

std::size_t partition_count(std::size_t asked) {
  if (asked > 0) return asked;
  return ensure_kokkos() ? static_cast<std::size_t>(HostSpace().concurrency()) : 1;
}

void run_partitions(std::size_t partitions, void (*run)(const void* body, std::size_t p), const void* body) {
  if (!ensure_kokkos()) {
    for (std::size_t p = 0; p < partitions; ++p) run(body, p);
    return;
  }
  Kokkos::parallel_for("tutti", Kokkos::RangePolicy<HostSpace>(HostSpace(), 0, partitions), PartitionBody{run, body});
  HostSpace().fence();
}

}  // namespace tutti::kernels
