// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatterv.hpp>

#include "collectives/passed.hpp"

namespace tutti {
namespace {

detail::CheckedCall scatterv_call(const Communicator& comm, ConstBuffer& send, std::span<const std::size_t> send_counts,
                                  std::span<const std::size_t> send_displs, Buffer& recv, int root,
                                  const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::scatterv,
                                     .send = send,
                                     .recv = recv,
                                     .options = options,
                                     .root = root,
                                     .send_counts = send_counts,
                                     .send_displs = send_displs});
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
