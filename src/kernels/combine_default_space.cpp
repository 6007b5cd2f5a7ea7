// SPDX-License-Identifier: BSD-3-Clause
#include "kernels/combine_default_space.hpp"

#include "kernels/combine_kokkos.hpp"
#include "kernels/runtime.hpp"

namespace tutti::kernels {

void combine_in_default_space(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output,
                              std::size_t count) {
  ensure_kokkos();
  const Kokkos::DefaultExecutionSpace space;
  combine_in_space(space, type, op, inputs, output, count);
  space.fence();
}

}  // namespace tutti::kernels
