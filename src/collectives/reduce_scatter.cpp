// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall reduce_scatter_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                        const detail::BlockLists& lists, const ReduceOp& op, const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::reduce_scatter,
                                     .send = send,
                                     .recv = recv,
                                     .options = options,
                                     .op = &op,
                                     .lists = lists});
}

}  // namespace

void reduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op,
                    const Options& options) {
  const detail::BlockLists lists{.recv_counts = recv_counts};
  const detail::Repeatable call(Operation::reduce_scatter, detail::CallKind::blocking, send, recv, options, op, 0,
                                &lists);
  detail::run(comm, call, options, [&] { return reduce_scatter_call(comm, send, recv, lists, op, options); });
}

Request ireduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op,
                        const Options& options) {
  const detail::BlockLists lists{.recv_counts = recv_counts};
  const detail::Repeatable call(Operation::reduce_scatter, detail::CallKind::nonblocking, send, recv, options, op, 0,
                                &lists);
  return detail::start(comm, call, options, [&] { return reduce_scatter_call(comm, send, recv, lists, op, options); });
}

Request reduce_scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                            ReduceOp op, const Options& options) {
  const detail::BlockLists lists{.recv_counts = recv_counts};
  return detail::prepare(comm, reduce_scatter_call(comm, send, recv, lists, op, options), options);
}

}  // namespace tutti
