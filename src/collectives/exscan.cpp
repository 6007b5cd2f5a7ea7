// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/exscan.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall exscan_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op,
                                const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::exscan, .send = send, .recv = recv, .options = options, .op = &op});
}

}  // namespace

void exscan(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  const detail::Repeatable call(Operation::exscan, detail::CallKind::blocking, send, recv, options, op);
  detail::run(comm, call, options, [&] { return exscan_call(comm, send, recv, op, options); });
}

Request iexscan(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  const detail::Repeatable call(Operation::exscan, detail::CallKind::nonblocking, send, recv, options, op);
  return detail::start(comm, call, options, [&] { return exscan_call(comm, send, recv, op, options); });
}

Request exscan_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  return detail::prepare(comm, exscan_call(comm, send, recv, op, options), options);
}

}  // namespace tutti
