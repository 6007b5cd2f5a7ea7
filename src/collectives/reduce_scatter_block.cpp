// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter_block.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call reduce_scatter_block_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const ReduceOp& op,
                                       const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::reduce_scatter_block, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  args.set_type(recv.type);
  args.set_op(op);
  args.set_output(recv, "recv");
  if (send.is_in_place) {
    args.require(recv.count % args.size() == 0, "recv",
                 "must hold the whole vector in place, a multiple of the number of ranks");
    args.set_count(recv.count / args.size());
    args.set_in_place_input(recv.data);
  } else {
    args.require_same_type(send.type, recv.type);
    args.require_count(send.count, recv.count * args.size(), "send", "recv's elements times the number of ranks");
    args.set_count(recv.count);
    args.set_input(send, "send");
    args.require_apart({send.data, send.count}, {recv.data, recv.count});
  }
  return call;
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
