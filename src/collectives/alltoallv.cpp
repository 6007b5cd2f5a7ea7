// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "collectives/arguments.hpp"
#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

/// In place, what a rank gives lies where it takes as much.
detail::BlockLists lists_of(ConstBuffer& send, const Counts& send_counts, const Counts& send_displs, Buffer& recv,
                            const Counts& recv_counts, const Counts& recv_displs) {
  detail::take_mpi_in_place(send, recv);
  if (send.is_in_place) return {recv_counts, recv_displs, recv_counts, recv_displs};
  return {send_counts, send_displs, recv_counts, recv_displs};
}

detail::CheckedCall alltoallv_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                   const detail::BlockLists& lists, const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::alltoallv, .send = send, .recv = recv, .options = options, .lists = lists});
}

}  // namespace

void alltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
               Buffer recv, const Counts& recv_counts, const Counts& recv_displs, const Options& options) {
  const detail::BlockLists lists = lists_of(send, send_counts, send_displs, recv, recv_counts, recv_displs);
  const detail::Repeatable call(Operation::alltoallv, detail::CallKind::blocking, send, recv, options, sum, 0, &lists);
  detail::run(comm, call, options, [&] { return alltoallv_call(comm, send, recv, lists, options); });
}

Request ialltoallv(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                   Buffer recv, const Counts& recv_counts, const Counts& recv_displs, const Options& options) {
  const detail::BlockLists lists = lists_of(send, send_counts, send_displs, recv, recv_counts, recv_displs);
  const detail::Repeatable call(Operation::alltoallv, detail::CallKind::nonblocking, send, recv, options, sum, 0,
                                &lists);
  return detail::start(comm, call, options, [&] { return alltoallv_call(comm, send, recv, lists, options); });
}

Request alltoallv_init(const Communicator& comm, ConstBuffer send, const Counts& send_counts, const Counts& send_displs,
                       Buffer recv, const Counts& recv_counts, const Counts& recv_displs, const Options& options) {
  const detail::BlockLists lists = lists_of(send, send_counts, send_displs, recv, recv_counts, recv_displs);
  return detail::prepare(comm, alltoallv_call(comm, send, recv, lists, options), options);
}

}  // namespace tutti
