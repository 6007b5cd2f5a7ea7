// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgatherv.hpp>

#include "collectives/passed.hpp"

namespace tutti {
namespace {

detail::CheckedCall allgatherv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                    std::span<const std::size_t> recv_counts, std::span<const std::size_t> recv_displs,
                                    const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::allgatherv,
                                     .send = send,
                                     .recv = recv,
                                     .options = options,
                                     .recv_counts = recv_counts,
                                     .recv_displs = recv_displs});
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
