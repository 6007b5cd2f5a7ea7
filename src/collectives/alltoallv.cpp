// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "collectives/arguments.hpp"

namespace tutti {
namespace {

detail::Call alltoallv_call(const Communicator& comm, ConstBuffer& send, std::span<const std::size_t> send_counts,
                            std::span<const std::size_t> send_displs, Buffer& recv,
                            std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs,
                            const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::alltoallv, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  args.set_type(recv.type);
  args.require_counts(recv_counts, "recv_counts");
  args.require_counts(recv_displs, "recv_displs");
  args.require_blocks(recv_counts, recv_displs, recv.count, "recv");
  args.set_output(recv, "recv");
  auto& binding = call.binding;
  binding.recv_counts = args.copy_of(recv_counts);
  binding.recv_displs = args.copy_of(recv_displs);
  if (send.is_in_place) {
    args.set_in_place_input(recv.data);
    binding.send_counts = binding.recv_counts;
    binding.send_displs = binding.recv_displs;
  } else {
    args.require_same_type(send.type, recv.type);
    args.require_counts(send_counts, "send_counts");
    args.require_counts(send_displs, "send_displs");
    args.require_blocks(send_counts, send_displs, send.count, "send");
    args.set_input(send, "send");
    args.require_apart({send.data, send.count, send_counts, send_displs},
                       {recv.data, recv.count, recv_counts, recv_displs});
    binding.send_counts = args.copy_of(send_counts);
    binding.send_displs = args.copy_of(send_displs);
  }
  return call;
}

}  // namespace

void alltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
               Buffer recv, const Counts& recv_counts, const Counts& recv_displs, const Options& options) {
  detail::run(comm, alltoallv_call(comm, send, send_counts, send_displs, recv, recv_counts, recv_displs, options),
              options);
}

Request ialltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                   Buffer recv, const Counts& recv_counts, const Counts& recv_displs, const Options& options) {
  return detail::start(
      comm, alltoallv_call(comm, send, send_counts, send_displs, recv, recv_counts, recv_displs, options), options);
}

Request alltoallv_init(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                       Buffer recv, const Counts& recv_counts, const Counts& recv_displs, const Options& options) {
  return detail::prepare(
      comm, alltoallv_call(comm, send, send_counts, send_displs, recv, recv_counts, recv_displs, options), options);
}

}  // namespace tutti
