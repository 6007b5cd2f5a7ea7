// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgatherv.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall allgatherv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                    const detail::BlockLists& lists, const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::allgatherv, .send = send, .recv = recv, .options = options, .lists = lists});
}

}  // namespace

void allgatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                const Counts& recv_displs, const Options& options) {
  const detail::BlockLists lists{.recv_counts = recv_counts, .recv_displs = recv_displs};
  const detail::Repeatable call(Operation::allgatherv, detail::CallKind::blocking, send, recv, options, sum, 0, &lists);
  detail::run(comm, call, options, [&] { return allgatherv_call(comm, send, recv, lists, options); });
}

Request iallgatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                    const Counts& recv_displs, const Options& options) {
  const detail::BlockLists lists{.recv_counts = recv_counts, .recv_displs = recv_displs};
  const detail::Repeatable call(Operation::allgatherv, detail::CallKind::nonblocking, send, recv, options, sum, 0,
                                &lists);
  return detail::start(comm, call, options, [&] { return allgatherv_call(comm, send, recv, lists, options); });
}

Request allgatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                        const Counts& recv_displs, const Options& options) {
  const detail::BlockLists lists{.recv_counts = recv_counts, .recv_displs = recv_displs};
  return detail::prepare(comm, allgatherv_call(comm, send, recv, lists, options), options);
}

}  // namespace tutti
