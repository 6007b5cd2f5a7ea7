// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gatherv.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::BlockLists lists_of(const Communicator& comm, int root, const Counts& recv_counts, const Counts& recv_displs) {
  if (comm.rank() != root) return {};
  return {.recv_counts = recv_counts, .recv_displs = recv_displs};
}

detail::CheckedCall gatherv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                 const detail::BlockLists& lists, int root, const Options& options) {
  return detail::checked_call(
      comm,
      {.operation = Operation::gatherv, .send = send, .recv = recv, .options = options, .root = root, .lists = lists});
}

}  // namespace

void gatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
             const Counts& recv_displs, int root, const Options& options) {
  const detail::BlockLists lists = lists_of(comm, root, recv_counts, recv_displs);
  const detail::Repeatable call(Operation::gatherv, detail::CallKind::blocking, send, recv, options, sum, root, &lists);
  detail::run(comm, call, options, [&] { return gatherv_call(comm, send, recv, lists, root, options); });
}

Request igatherv(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                 const Counts& recv_displs, int root, const Options& options) {
  const detail::BlockLists lists = lists_of(comm, root, recv_counts, recv_displs);
  const detail::Repeatable call(Operation::gatherv, detail::CallKind::nonblocking, send, recv, options, sum, root,
                                &lists);
  return detail::start(comm, call, options, [&] { return gatherv_call(comm, send, recv, lists, root, options); });
}

Request gatherv_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                     const Counts& recv_displs, int root, const Options& options) {
  const detail::BlockLists lists = lists_of(comm, root, recv_counts, recv_displs);
  return detail::prepare(comm, gatherv_call(comm, send, recv, lists, root, options), options);
}

}  // namespace tutti
