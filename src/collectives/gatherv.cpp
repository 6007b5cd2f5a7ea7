// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gatherv.hpp>

#include "collectives/passed.hpp"

namespace tutti {
namespace {

detail::CheckedCall gatherv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                 std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs,
                                 int root, const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::gatherv,
                                     .send = send,
                                     .recv = recv,
                                     .options = options,
                                     .root = root,
                                     .recv_counts = recv_counts,
                                     .recv_displs = recv_displs});
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
