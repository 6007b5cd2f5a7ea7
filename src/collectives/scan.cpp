// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scan.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall scan_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op,
                              const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::scan, .send = send, .recv = recv, .options = options, .op = &op});
}

}  // namespace

void scan(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  const detail::Repeatable call(Operation::scan, detail::CallKind::blocking, send, recv, options, op);
  detail::run(comm, call, options, [&] { return scan_call(comm, send, recv, op, options); });
}

Request iscan(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  const detail::Repeatable call(Operation::scan, detail::CallKind::nonblocking, send, recv, options, op);
  return detail::start(comm, call, options, [&] { return scan_call(comm, send, recv, op, options); });
}

Request scan_init(const Communicator& comm, ConstBuffer send, Buffer recv, ReduceOp op, const Options& options) {
  return detail::prepare(comm, scan_call(comm, send, recv, op, options), options);
}

}  // namespace tutti
