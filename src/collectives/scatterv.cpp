// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatterv.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::BlockLists lists_of(const Communicator& comm, const Counts& send_counts, const Counts& send_displs, int root) {
  if (comm.rank() != root) return {};
  return {.send_counts = send_counts, .send_displs = send_displs};
}

detail::CheckedCall scatterv_call(const Communicator& comm, ConstBuffer& send, const detail::BlockLists& lists,
                                  Buffer& recv, int root, const Options& options) {
  return detail::checked_call(
      comm,
      {.operation = Operation::scatterv, .send = send, .recv = recv, .options = options, .root = root, .lists = lists});
}

}  // namespace

void scatterv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
              Buffer recv, int root, const Options& options) {
  const detail::BlockLists lists = lists_of(comm, send_counts, send_displs, root);
  const detail::Repeatable call(Operation::scatterv, detail::CallKind::blocking, send, recv, options, sum, root,
                                &lists);
  detail::run(comm, call, options, [&] { return scatterv_call(comm, send, lists, recv, root, options); });
}

Request iscatterv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                  Buffer recv, int root, const Options& options) {
  const detail::BlockLists lists = lists_of(comm, send_counts, send_displs, root);
  const detail::Repeatable call(Operation::scatterv, detail::CallKind::nonblocking, send, recv, options, sum, root,
                                &lists);
  return detail::start(comm, call, options, [&] { return scatterv_call(comm, send, lists, recv, root, options); });
}

Request scatterv_init(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                      Buffer recv, int root, const Options& options) {
  const detail::BlockLists lists = lists_of(comm, send_counts, send_displs, root);
  return detail::prepare(comm, scatterv_call(comm, send, lists, recv, root, options), options);
}

}  // namespace tutti
