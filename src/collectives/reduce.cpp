// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall reduce_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op, int root,
                                const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::reduce, .send = send, .recv = recv, .options = options, .root = root, .op = &op});
}

}  // namespace

void reduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, int root, const Options& options) {
  const detail::Repeatable call(Operation::reduce, detail::CallKind::blocking, send, recv, options, op, root);
  detail::run(comm, call, options, [&] { return reduce_call(comm, send, recv, op, root, options); });
}

Request ireduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, int root,
                const Options& options) {
  const detail::Repeatable call(Operation::reduce, detail::CallKind::nonblocking, send, recv, options, op, root);
  return detail::start(comm, call, options, [&] { return reduce_call(comm, send, recv, op, root, options); });
}

Request reduce_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, int root,
                    const Options& options) {
  return detail::prepare(comm, reduce_call(comm, send, recv, op, root, options), options);
}

}  // namespace tutti
