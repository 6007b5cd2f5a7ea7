// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/reduce_op.hpp>

namespace tutti::kernels {

/// combine() in Kokkos' default execution space, the device where Kokkos has one; returns when it is done. At most 8
/// inputs, no user operations. Initialises Kokkos where nobody has.
void combine_in_default_space(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output,
                              std::size_t count);

}  // namespace tutti::kernels
