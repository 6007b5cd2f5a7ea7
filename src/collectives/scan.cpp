// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scan.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call scan_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op,
                       const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::scan, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  args.set_type(recv.type);
  args.set_op(op, false);
  args.set_count(recv.count);
  args.set_output(recv, "recv");
  if (send.is_in_place) {
    args.set_in_place_input(recv.data);
  } else {
    args.require_same_type(send.type, recv.type);
    args.require_count(send.count, recv.count, "send", "the same as recv");
    args.set_input(send, "send");
    args.require_apart({send.data, send.count}, {recv.data, recv.count});
  }
  return call;
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
