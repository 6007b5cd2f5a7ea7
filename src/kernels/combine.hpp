// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

/// The arithmetic of every reduction, on host memory. Any thread may call these; none touches Kokkos or MPI, and none
/// allocates except for user operations. All throw Error(invalid_op) if the operation is not defined for the type.
namespace tutti::kernels {

/// output[i] = inputs[0][i] op inputs[1][i] op ..., associated from the left, so that combining in several calls gives
/// the same bits as in one (except for types of 16 and 8 bits, which accumulate in float32 and round once per call).
/// One pass over memory for any number of inputs >= 1. `output` may be any of the inputs, but must not overlap one
/// partly.
/// avg and premul_sum combine as sum: see combine_avg, divide and scale_copy. User functions are called piecewise.
void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output, std::size_t count);

/// The last combination of an average: the sum as in combine, divided by `divisor` before the one rounding.
/// Integers wrap in the sum and round towards zero in the division.
void combine_avg(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                 std::size_t divisor);

/// output[i] = input[i] * factor, floating-point and complex types. `output` may be `input`. The factor is rounded to
/// float32 for types of 32 bits and fewer.
void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor);

/// scale_copy in place.
void scale(Datatype type, void* data, std::size_t count, double factor);

/// data[i] /= divisor; integers round towards zero.
void divide(Datatype type, void* data, std::size_t count, std::size_t divisor);

}  // namespace tutti::kernels
