// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gather.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call gather_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, int root, const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::gather, options);
  detail::take_mpi_in_place(send, recv);
  args.set_root(root);
  if (args.is_root()) args.pack(recv, "recv", send.is_in_place);
  args.pack(send, "send");
  if (send.is_in_place) {
    args.require(args.is_root(), "send", "is in_place on a rank that is not the root; pass the block there");
    args.require(recv.count % args.size() == 0, "recv",
                 "has elements at the root that do not divide by the number of ranks; pass one block per rank");
    args.set_type(recv.type);
    args.set_count(recv.count / args.size());
    args.set_output(recv, "recv");
    args.set_in_place_input(detail::element(recv, static_cast<std::size_t>(args.rank()) * (recv.count / args.size())));
  } else {
    args.set_type(send.type);
    args.set_count(send.count);
    args.set_input(send, "send");
    if (args.is_root()) {
      args.require_same_type(send.type, recv.type);
      args.require_count(recv.count, send.count * args.size(), "recv", "send's elements times the number of ranks");
      args.set_output(recv, "recv");
      const void* own = detail::element(recv, static_cast<std::size_t>(args.rank()) * send.count);
      if (send.data == own)
        args.set_in_place_input(own);
      else
        args.require_apart({send.data, send.count}, {recv.data, recv.count});
    }
  }
  return call;
}

}  // namespace

void gather(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::gather, detail::CallKind::blocking, send, recv, options, sum, root);
  detail::run(comm, call, options, [&] { return gather_call(comm, send, recv, root, options); });
}

Request igather(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::gather, detail::CallKind::nonblocking, send, recv, options, sum, root);
  return detail::start(comm, call, options, [&] { return gather_call(comm, send, recv, root, options); });
}

Request gather_init(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  return detail::prepare(comm, gather_call(comm, send, recv, root, options), options);
}

}  // namespace tutti
