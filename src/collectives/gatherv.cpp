// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gatherv.hpp>

#include "collectives/arguments.hpp"

namespace tutti {
namespace {

detail::Call gatherv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                          std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs, int root,
                          const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::gatherv, options);
  detail::take_mpi_in_place(send, recv);
  args.set_root(root);
  const auto rank = static_cast<std::size_t>(args.rank());
  auto& binding = call.binding;
  if (args.is_root()) {
    args.require_counts(recv_counts, "recv_counts");
    args.require_counts(recv_displs, "recv_displs");
    args.set_type(recv.type);
    args.require_blocks(recv_counts, recv_displs, recv.count, "recv");
    args.set_output(recv, "recv");
    binding.recv_counts = args.copy_of(recv_counts);
    binding.recv_displs = args.copy_of(recv_displs);
    binding.send_count = recv_counts[rank];
  }
  if (send.is_in_place) {
    args.require(args.is_root(), "send", "is in_place on a rank that is not the root; pass the block there");
    args.set_in_place_input(detail::element(recv, recv_displs[rank]));
  } else {
    if (args.is_root()) {
      args.require_same_type(send.type, recv.type);
      args.require_count(send.count, recv_counts[rank], "send", "recv_counts[rank]");
    }
    args.set_type(send.type);
    args.set_input(send, "send");
    binding.send_count = send.count;
    if (args.is_root()) {
      const void* own = detail::element(recv, recv_displs[rank]);
      if (send.data == own)
        args.set_in_place_input(own);
      else
        args.require_apart({send.data, send.count}, {recv.data, recv.count, recv_counts, recv_displs});
    }
  }
  return call;
}

}  // namespace

void gatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
             const Counts& recv_displs, int root, const Options& options) {
  detail::run(comm, gatherv_call(comm, send, recv, recv_counts, recv_displs, root, options), options);
}

Request igatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                 const Counts& recv_displs, int root, const Options& options) {
  return detail::start(comm, gatherv_call(comm, send, recv, recv_counts, recv_displs, root, options), options);
}

Request gatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                     const Counts& recv_displs, int root, const Options& options) {
  return detail::prepare(comm, gatherv_call(comm, send, recv, recv_counts, recv_displs, root, options), options);
}

}  // namespace tutti
