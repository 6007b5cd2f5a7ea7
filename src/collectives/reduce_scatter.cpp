// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <tutti/collectives/reduce_scatter.hpp>

#include "collectives/arguments.hpp"

namespace tutti {
namespace {

detail::Call reduce_scatter_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                 std::span<const std::size_t> recv_counts, const ReduceOp& op, const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::reduce_scatter, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  args.set_type(recv.type);
  args.set_op(op);
  args.require_counts(recv_counts, "recv_counts");
  const std::size_t total = std::accumulate(recv_counts.begin(), recv_counts.end(), std::size_t{0});
  args.set_count(total);
  args.set_output(recv, "recv");
  if (send.is_in_place) {
    args.require_count(recv.count, total, "recv", "in place: the whole vector, the sum of recv_counts");
    args.set_in_place_input(recv.data);
  } else {
    args.require_same_type(send.type, recv.type);
    args.require_count(send.count, total, "send", "the sum of recv_counts");
    args.require_count(recv.count, recv_counts[static_cast<std::size_t>(args.rank())], "recv", "recv_counts[rank]");
    args.set_input(send, "send");
    args.require_apart({send.data, send.count}, {recv.data, recv.count});
  }
  call.binding.recv_counts = args.copy_of(recv_counts);
  call.binding.recv_count = recv_counts[static_cast<std::size_t>(args.rank())];
  return call;
}

}  // namespace

void reduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op,
                    const Options& options) {
  detail::run(comm, reduce_scatter_call(comm, send, recv, recv_counts, op, options), options);
}

Request ireduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op,
                        const Options& options) {
  return detail::start(comm, reduce_scatter_call(comm, send, recv, recv_counts, op, options), options);
}

Request reduce_scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                            ReduceOp op, const Options& options) {
  return detail::prepare(comm, reduce_scatter_call(comm, send, recv, recv_counts, op, options), options);
}

}  // namespace tutti
