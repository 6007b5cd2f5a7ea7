// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/reduce_op.hpp>

/// The arithmetic of every reduction, for host memory.
namespace tutti::kernels {

/// Computes output[i] = inputs[0][i] op inputs[1][i] op ..., associated from the left, in one pass over memory for one
/// or more inputs. Several calls give the same bits as one, except for floats of 16 and 8 bits, which accumulate in
/// float32 and are rounded once per call. `output` may be one of the inputs, but must not overlap one partly. avg and
/// premul_sum combine as sum; a user function is called for one part after the other. Local; any thread may call it.
/// Uses neither MPI nor Kokkos. Throws Error(invalid_op) if the operation is not defined for the type. Counterpart:
/// MPI_Reduce_local.
TUTTI_EXPORT void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output,
                          std::size_t count);

}  // namespace tutti::kernels
