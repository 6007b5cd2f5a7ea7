// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter_block.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall reduce_scatter_block_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                              const ReduceOp& op, const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::reduce_scatter_block, .send = send, .recv = recv, .options = options, .op = &op});
}

}  // namespace

void reduce_scatter_block(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                          const Options& options) {
  const detail::Repeatable call(Operation::reduce_scatter_block, detail::CallKind::blocking, send, recv, options, op);
  detail::run(comm, call, options, [&] { return reduce_scatter_block_call(comm, send, recv, op, options); });
}

Request ireduce_scatter_block(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                              const Options& options) {
  const detail::Repeatable call(Operation::reduce_scatter_block, detail::CallKind::nonblocking, send, recv, options,
                                op);
  return detail::start(comm, call, options, [&] { return reduce_scatter_block_call(comm, send, recv, op, options); });
}

Request reduce_scatter_block_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op,
                                  const Options& options) {
  return detail::prepare(comm, reduce_scatter_block_call(comm, send, recv, op, options), options);
}

}  // namespace tutti
