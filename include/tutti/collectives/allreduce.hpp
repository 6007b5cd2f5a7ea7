// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <ranges>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Combines the ranks' vectors element by element and gives all ranks the result. min and max give every rank the same
/// bits.
/// Collective over `comm`. Blocking; on device memory with a stream, stream-ordered.
/// Shape: `send` and `recv` have n elements. With in_place as `send`, the contribution is read from `recv`.
/// Memory: host, pinned, managed or device, of one class (host or device) on all ranks. The caller owns the buffers.
/// Equal on all ranks: datatype, count, operation and options.
/// Errors: ErrorCode::invalid_argument or a related code for wrong arguments, before anything is sent; timeout, aborted
/// or mpi for a call that fails.
/// Counterpart: MPI_Allreduce, ncclAllReduce.
TUTTI_EXPORT void allreduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                            const Options& options = {});

/// Nonblocking form: returns at once; the buffers must stay valid and untouched until the request is done. Calls on one
/// communicator match in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iallreduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                              const Options& options = {});

/// Persistent form: binds the buffers; each start() runs the operation again. Collective: all ranks create the
/// persistent operations of a communicator in the same order, but may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request allreduce_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                                  const Options& options = {});

/// In-place forms: `inout` holds the contribution before the call and the result after it.
inline void allreduce(const Communicator& comm, Buffer inout, ReduceOp op, const Options& options = {}) {
  allreduce(comm, in_place, inout, op, options);
}
[[nodiscard]] inline Request iallreduce(const Communicator& comm, Buffer inout, ReduceOp op,
                                        const Options& options = {}) {
  return iallreduce(comm, in_place, inout, op, options);
}
[[nodiscard]] inline Request allreduce_init(const Communicator& comm, Buffer inout, ReduceOp op,
                                            const Options& options = {}) {
  return allreduce_init(comm, in_place, inout, op, options);
}

/// In-place forms on `count` elements at an address.
template <typename T, std::integral N>
void allreduce(const Communicator& comm, T* inout, N count, ReduceOp op, const Options& options = {}) {
  allreduce(comm, in_place, Buffer(inout, count), op, options);
}
template <typename T, std::integral N>
[[nodiscard]] Request iallreduce(const Communicator& comm, T* inout, N count, ReduceOp op,
                                 const Options& options = {}) {
  return iallreduce(comm, in_place, Buffer(inout, count), op, options);
}

/// Combines one value of each rank and returns the result: `const double norm2 = allreduce(comm, own, sum)`. For every
/// type of one element: numbers, bool and enums too.
template <Element T>
requires(!std::ranges::range<T>) [[nodiscard]] T
    allreduce(const Communicator& comm, const T& value, ReduceOp op, const Options& options = {}) {
  T result = value;
  allreduce(comm, in_place, Buffer(&result, 1), op, options);
  return result;
}

/// Refuse temporary buffers, whose memory would be gone before the operation is done, when they are compiled.
TUTTI_REFUSE_TEMPORARIES(iallreduce)
TUTTI_REFUSE_TEMPORARIES(allreduce_init)

}  // namespace tutti
