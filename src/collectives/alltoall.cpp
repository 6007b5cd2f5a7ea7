// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoall.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call alltoall_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::alltoall, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  args.pack(recv, "recv", send.is_in_place);
  args.pack(send, "send");
  args.require(recv.count % args.size() == 0, "recv",
               "has elements that do not divide by the number of ranks; pass one block per rank");
  args.set_type(recv.type);
  args.set_count(recv.count / args.size());
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

void alltoall(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::alltoall, detail::CallKind::blocking, send, recv, options);
  detail::run(comm, call, options, [&] { return alltoall_call(comm, send, recv, options); });
}

Request ialltoall(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::alltoall, detail::CallKind::nonblocking, send, recv, options);
  return detail::start(comm, call, options, [&] { return alltoall_call(comm, send, recv, options); });
}

Request alltoall_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  return detail::prepare(comm, alltoall_call(comm, send, recv, options), options);
}

}  // namespace tutti
