// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "backends/nccl/types.hpp"

/// The arithmetic of the stand-in NCCL: as NCCL's, rounded to the type at every hop.
namespace tutti::standin {

using detail::nccl::DataType;
using detail::nccl::RedOp;

/// 0 for what is no type.
[[nodiscard]] std::size_t bytes_of(DataType type);
[[nodiscard]] std::string name_of(DataType type);
/// Operations made by ncclRedOpCreatePreMulSum are "premul_sum".
[[nodiscard]] std::string name_of(RedOp op);

/// into[i] = into[i] op from[i]: sum, prod, max, min. max and min drop NaN, as NCCL's do.
void combine(DataType type, RedOp op, void* into, const void* from, std::size_t count);
/// data[i] *= factor, which is of the type.
void scale(DataType type, const void* factor, void* data, std::size_t count);
/// Of an average: the factor 1/ranks that NCCL multiplies floats by before the sum; nothing for integers.
void scale_for_average(DataType type, int ranks, void* data, std::size_t count);
/// Of an average: integers are divided after the sum; nothing for floats.
void divide_for_average(DataType type, int ranks, void* data, std::size_t count);

}  // namespace tutti::standin
