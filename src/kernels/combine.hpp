// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/kernels/combine.hpp>
#include <tutti/reduce_op.hpp>

/// The steps of reductions beside combine(), on host memory. Any thread may call these; none uses Kokkos or MPI, and
/// none allocates. All throw Error(invalid_op) where the operation is not defined for the type.
namespace tutti::kernels {

/// The last combination of an average: the sum as in combine, divided by `divisor` before the one rounding.
/// Integers wrap in the sum and round towards zero in the division.
void combine_avg(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                 std::size_t divisor);

/// The combination of Accumulation::exact: output[i] = (inputs[0][i] + inputs[1][i] + ...) / divisor, where the sum is
/// rounded once, and its quotient again. Floating-point and complex types.
void combine_exactly(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                     std::size_t divisor = 1);

/// output[i] = input[i] * factor, floating-point and complex types. `output` may be `input`. The factor is rounded to
/// float32 for types of 32 bits and fewer.
void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor);

/// scale_copy in place.
void scale(Datatype type, void* data, std::size_t count, double factor);

/// data[i] /= divisor; integers round towards zero.
void divide(Datatype type, void* data, std::size_t count, std::size_t divisor);

}  // namespace tutti::kernels
