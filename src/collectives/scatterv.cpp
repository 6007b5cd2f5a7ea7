// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatterv.hpp>

#include "collectives/arguments.hpp"

namespace tutti {
namespace {

detail::Call scatterv_call(const Communicator& comm, ConstBuffer& send, std::span<const std::size_t> send_counts,
                           std::span<const std::size_t> send_displs, Buffer& recv, int root, const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::scatterv, options);
  detail::take_mpi_in_place(send, recv);
  args.set_root(root);
  const auto rank = static_cast<std::size_t>(args.rank());
  auto& binding = call.binding;
  if (args.is_root()) {
    args.require_counts(send_counts, "send_counts");
    args.require_counts(send_displs, "send_displs");
    args.set_type(send.type);
    args.require_blocks(send_counts, send_displs, send.count, "send");
    args.set_input(send, "send");
    binding.send_counts = args.copy_of(send_counts);
    binding.send_displs = args.copy_of(send_displs);
    binding.recv_count = send_counts[rank];
  }
  if (recv.is_in_place) {
    args.require(args.is_root(), "recv", "is in_place on a rank that is not the root; pass a buffer there");
    // The block stays in place, so nothing is written to the caller's constant buffer.
    args.set_in_place_output(
        const_cast<void*>(detail::element(send, send_displs[rank])));  // NOLINT(cppcoreguidelines-pro-type-const-cast)
  } else {
    if (args.is_root()) {
      args.require_same_type(send.type, recv.type);
      args.require_count(recv.count, send_counts[rank], "recv", "send_counts[rank]");
    }
    args.set_type(recv.type);
    args.set_output(recv, "recv");
    binding.recv_count = recv.count;
    if (args.is_root()) {
      if (recv.data == detail::element(send, send_displs[rank]))
        args.set_in_place_output(recv.data);
      else
        args.require_apart({send.data, send.count, send_counts, send_displs}, {recv.data, recv.count});
    }
  }
  return call;
}

}  // namespace

void scatterv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
              Buffer recv, int root, const Options& options) {
  detail::run(comm, scatterv_call(comm, send, send_counts, send_displs, recv, root, options), options);
}

Request iscatterv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                  Buffer recv, int root, const Options& options) {
  return detail::start(comm, scatterv_call(comm, send, send_counts, send_displs, recv, root, options), options);
}

Request scatterv_init(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                      Buffer recv, int root, const Options& options) {
  return detail::prepare(comm, scatterv_call(comm, send, send_counts, send_displs, recv, root, options), options);
}

}  // namespace tutti
