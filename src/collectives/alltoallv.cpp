// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "collectives/passed.hpp"

namespace tutti {
namespace {

detail::CheckedCall alltoallv_call(const Communicator& comm, ConstBuffer& send,
                                   std::span<const std::size_t> send_counts, std::span<const std::size_t> send_displs,
                                   Buffer& recv, std::span<const std::size_t> recv_counts,
                                   std::span<const std::size_t> recv_displs, const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::alltoallv,
                                     .send = send,
                                     .recv = recv,
                                     .options = options,
                                     .send_counts = send_counts,
                                     .send_displs = send_displs,
                                     .recv_counts = recv_counts,
                                     .recv_displs = recv_displs});
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
