// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <tutti/datatype.hpp>
#include <tutti/reduce_op.hpp>

#include "device/runtime.hpp"

/// The arithmetic of reductions on device memory, in stream order: combine.hpp with the same functors, and so the same
/// bits. The functions take any number of inputs, return at once and may be captured. User functions run on the host
/// only.
namespace tutti::kernels::device {

using tutti::detail::device::StreamHandle;

/// Whether this build has kernels for the device of this process: Kokkos with CUDA, or a runtime that runs host
/// functions (tests).
[[nodiscard]] bool has_kernels() noexcept;

/// Makes the objects that launching on a stream needs, which allocates device memory. Call it before the stream is
/// captured, and while no NCCL work is in flight. Throws not_built.
void prepare_stream(StreamHandle stream);

void combine(Datatype type, const ReduceOp& op, std::span<const void* const> inputs, void* output, std::size_t count,
             StreamHandle stream);
void combine_avg(Datatype type, std::span<const void* const> inputs, void* output, std::size_t count,
                 std::size_t divisor, StreamHandle stream);
void scale_copy(Datatype type, const void* input, void* output, std::size_t count, double factor, StreamHandle stream);
void divide(Datatype type, void* data, std::size_t count, std::size_t divisor, StreamHandle stream);

}  // namespace tutti::kernels::device
