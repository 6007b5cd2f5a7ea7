// SPDX-License-Identifier: BSD-3-Clause
#include <numeric>
#include <tutti/collectives/allgatherv.hpp>

#include "collectives/arguments.hpp"

namespace tutti {
namespace {

detail::Call allgatherv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                             std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs,
                             const Options& options) {
  detail::Call call;
  detail::Arguments args(call, comm, Operation::allgatherv, options);
  detail::take_mpi_in_place(send, recv);
  args.forbid_in_place(recv.is_in_place, "recv", "pass in_place as send");
  const auto rank = static_cast<std::size_t>(args.rank());
  args.set_type(recv.type);
  args.require_counts(recv_counts, "recv_counts");
  args.require_counts(recv_displs, "recv_displs");
  args.require_blocks(recv_counts, recv_displs, recv.count, "recv");
  args.set_count(std::accumulate(recv_counts.begin(), recv_counts.end(), std::size_t{0}));
  args.set_output(recv, "recv");
  if (send.is_in_place) {
    args.set_in_place_input(detail::element(recv, recv_displs[rank]));
  } else {
    args.require_same_type(send.type, recv.type);
    args.require_count(send.count, recv_counts[rank], "send", "recv_counts[rank]");
    args.set_input(send, "send");
    const void* own = detail::element(recv, recv_displs[rank]);
    if (send.data == own)
      args.set_in_place_input(own);
    else
      args.require_apart({send.data, send.count}, {recv.data, recv.count, recv_counts, recv_displs});
  }
  auto& binding = call.binding;
  binding.send_count = recv_counts[rank];
  binding.recv_counts = args.copy_of(recv_counts);
  binding.recv_displs = args.copy_of(recv_displs);
  return call;
}

}  // namespace

void allgatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                const Counts& recv_displs, const Options& options) {
  detail::run(comm, allgatherv_call(comm, send, recv, recv_counts, recv_displs, options), options);
}

Request iallgatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                    const Counts& recv_displs, const Options& options) {
  return detail::start(comm, allgatherv_call(comm, send, recv, recv_counts, recv_displs, options), options);
}

Request allgatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                        const Counts& recv_displs, const Options& options) {
  return detail::prepare(comm, allgatherv_call(comm, send, recv, recv_counts, recv_displs, options), options);
}

}  // namespace tutti
