// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatter.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::Call scatter_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, int root, const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::scatter, options);
  detail::take_mpi_in_place(send, recv);
  args.set_root(root);
  if (args.is_root()) args.pack(send, "send");
  args.pack(recv, "recv", false);
  if (recv.is_in_place) {
    args.require(args.is_root(), "recv", "is in_place on a rank that is not the root; pass a buffer there");
    args.require(send.count % args.size() == 0, "send",
                 "has elements at the root that do not divide by the number of ranks; pass one block per rank");
    args.set_type(send.type);
    args.set_count(send.count / args.size());
    args.set_input(send, "send");
    // The block stays in place, so nothing is written to the caller's constant buffer.
    args.set_in_place_output(const_cast<void*>(  // NOLINT(cppcoreguidelines-pro-type-const-cast)
        detail::element(send, static_cast<std::size_t>(args.rank()) * (send.count / args.size()))));
  } else {
    args.set_type(recv.type);
    args.set_count(recv.count);
    args.set_output(recv, "recv");
    if (args.is_root()) {
      args.require_same_type(send.type, recv.type);
      args.require_count(send.count, recv.count * args.size(), "send", "recv's elements times the number of ranks");
      args.set_input(send, "send");
      if (recv.data == detail::element(send, static_cast<std::size_t>(args.rank()) * recv.count))
        args.set_in_place_output(recv.data);
      else
        args.require_apart({send.data, send.count}, {recv.data, recv.count});
    }
  }
  return call;
}

}  // namespace

void scatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::scatter, detail::CallKind::blocking, send, recv, options, sum, root);
  detail::run(comm, call, options, [&] { return scatter_call(comm, send, recv, root, options); });
}

Request iscatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::scatter, detail::CallKind::nonblocking, send, recv, options, sum, root);
  return detail::start(comm, call, options, [&] { return scatter_call(comm, send, recv, root, options); });
}

Request scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  return detail::prepare(comm, scatter_call(comm, send, recv, root, options), options);
}

}  // namespace tutti
