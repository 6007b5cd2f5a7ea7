// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allreduce.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall allreduce_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op,
                                   const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::allreduce, .send = send, .recv = recv, .options = options, .op = &op});
}

}  // namespace

void allreduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  const detail::Repeatable call(Operation::allreduce, detail::CallKind::blocking, send, recv, options, op);
  detail::run(comm, call, options, [&] { return allreduce_call(comm, send, recv, op, options); });
}

Request iallreduce(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  const detail::Repeatable call(Operation::allreduce, detail::CallKind::nonblocking, send, recv, options, op);
  return detail::start(comm, call, options, [&] { return allreduce_call(comm, send, recv, op, options); });
}

Request allreduce_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  return detail::prepare(comm, allreduce_call(comm, send, recv, op, options), options);
}

}  // namespace tutti
