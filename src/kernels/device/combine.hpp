// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#include "device/runtime.hpp"

/// The arithmetic of reductions on device memory, in stream order: combine.hpp with the same functors, and so the same
/// bits. The functions take any number of inputs, return at once and may be captured after a first call (see Kernel).
/// With a count of 0 they only load their kernels. User functions run on the host only.
namespace tutti::kernels::device {

using tutti::detail::device::StreamHandle;

inline StreamHandle handle_of(const Stream& stream) {
  return stream.kind == StreamKind::cuda ? stream.handle : nullptr;
}

void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output, std::size_t count,
             StreamHandle stream);
void combine_avg(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                 std::size_t divisor, StreamHandle stream);
void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor, StreamHandle stream);
void divide(Datatype type, void* data, std::size_t count, std::size_t divisor, StreamHandle stream);

}  // namespace tutti::kernels::device
