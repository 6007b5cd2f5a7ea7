// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgather.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call allgather_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::allgather, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  args.pack(recv, "recv", send.is_in_place);
  args.pack(send, "send");
  args.set_type(recv.type);
  args.set_output(recv, "recv");
  if (send.is_in_place) {
    args.require(recv.count % args.size() == 0, "recv",
                 "has elements that do not divide by the number of ranks; pass one block per rank");
    args.set_count(recv.count / args.size());
    args.set_in_place_input(detail::element(recv, static_cast<std::size_t>(args.rank()) * (recv.count / args.size())));
  } else {
    args.require_same_type(send.type, recv.type);
    args.require_count(recv.count, send.count * args.size(), "recv", "send's elements times the number of ranks");
    args.set_count(send.count);
    args.set_input(send, "send");
    const void* own = detail::element(recv, static_cast<std::size_t>(args.rank()) * send.count);
    if (send.data == own)
      args.set_in_place_input(own);
    else
      args.require_apart({send.data, send.count}, {recv.data, recv.count});
  }
  return call;
}

}  // namespace

void allgather(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::allgather, detail::CallKind::blocking, send, recv, options);
  detail::run(comm, call, options, [&] { return allgather_call(comm, send, recv, options); });
}

Request iallgather(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::allgather, detail::CallKind::nonblocking, send, recv, options);
  return detail::start(comm, call, options, [&] { return allgather_call(comm, send, recv, options); });
}

Request allgather_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  return detail::prepare(comm, allgather_call(comm, send, recv, options), options);
}

}  // namespace tutti
