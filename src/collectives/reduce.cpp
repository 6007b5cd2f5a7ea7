// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call reduce_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op, int root,
                         const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::reduce, options);
  detail::take_mpi_in_place(send, recv);
  args.set_root(root);
  if (send.is_in_place) {
    args.require(args.is_root(), "send", "is in_place on a rank that is not the root; pass the contribution there");
    args.set_type(recv.type);
    args.set_count(recv.count);
    args.set_output(recv, "recv");
    args.set_in_place_input(recv.data);
  } else {
    args.set_type(send.type);
    args.set_count(send.count);
    args.set_input(send, "send");
    if (args.is_root()) {
      args.require_same_type(send.type, recv.type);
      args.require_count(recv.count, send.count, "recv", "the same as send");
      args.set_output(recv, "recv");
      args.require_apart({send.data, send.count}, {recv.data, recv.count});
    }
  }
  args.set_op(op);
  return call;
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
