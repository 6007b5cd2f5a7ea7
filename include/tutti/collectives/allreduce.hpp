// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/detail/export.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

namespace tutti {

/// Combines the ranks' vectors element by element; all ranks get the result, with the same bits for min and max.
/// Collective over `comm`; blocking (on device memory with a stream: ordered on it).
/// Shape: `send` and `recv` have n elements. in_place as `send` takes the contribution from `recv`.
/// The caller owns the buffers; host, pinned, managed or device memory, of one class on all ranks.
/// Every rank passes the same datatype, count, operation and options. Errors: ErrorCode::invalid_argument and relatives
/// for wrong arguments (found before anything is sent); timeout, aborted and mpi for failed calls. Counterpart:
/// MPI_Allreduce, ncclAllReduce.
TUTTI_EXPORT void allreduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                            const Options& options = {});

/// The same, nonblocking: returns at once; the buffers must stay valid and untouched until the request is done.
/// Calls on one communicator are matched in the order in which they are started.
[[nodiscard]] TUTTI_EXPORT Request iallreduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                              const Options& options = {});

/// The same, persistent: binds the buffers; start() runs it, as often as wanted. Collective; the ranks create the
/// persistent operations of a communicator in the same order and may start different ones in any order.
[[nodiscard]] TUTTI_EXPORT Request allreduce_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                                  const Options& options = {});

/// In place: `inout` is read and then holds the result.
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

/// In place on `count` elements from an address.
template <typename T>
void allreduce(const Communicator& comm, T* inout, std::size_t count, ReduceOp op, const Options& options = {}) {
  allreduce(comm, in_place, Buffer(inout, count), op, options);
}
template <typename T>
[[nodiscard]] Request iallreduce(const Communicator& comm, T* inout, std::size_t count, ReduceOp op,
                                 const Options& options = {}) {
  return iallreduce(comm, in_place, Buffer(inout, count), op, options);
}

}  // namespace tutti
