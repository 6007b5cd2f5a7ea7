// SPDX-License-Identifier: BSD-3-Clause
// The public collectives, each in its three forms. Those with two buffers are one row each.
#include <tutti/collectives/allgather.hpp>
#include <tutti/collectives/allgatherv.hpp>
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/alltoall.hpp>
#include <tutti/collectives/alltoallv.hpp>
#include <tutti/collectives/barrier.hpp>
#include <tutti/collectives/bcast.hpp>
#include <tutti/collectives/exscan.hpp>
#include <tutti/collectives/gather.hpp>
#include <tutti/collectives/gatherv.hpp>
#include <tutti/collectives/reduce.hpp>
#include <tutti/collectives/reduce_scatter.hpp>
#include <tutti/collectives/reduce_scatter_block.hpp>
#include <tutti/collectives/scan.hpp>
#include <tutti/collectives/scatter.hpp>
#include <tutti/collectives/scatterv.hpp>

#include "collectives/arguments.hpp"
#include "collectives/passed.hpp"

namespace tutti {
namespace {

using detail::BlockLists;

BlockLists recv_lists(const Counts& counts, const Counts& displs) {
  return {.recv_counts = counts, .recv_displs = displs};
}

BlockLists recv_lists_at(const Communicator& comm, int root, const Counts& counts, const Counts& displs) {
  if (comm.rank() != root) return {};
  return {.recv_counts = counts, .recv_displs = displs};
}

BlockLists send_lists_at(const Communicator& comm, int root, const Counts& counts, const Counts& displs) {
  if (comm.rank() != root) return {};
  return {.send_counts = counts, .send_displs = displs};
}

/// In place, what a rank gives lies where it takes as much.
BlockLists both_lists(ConstBuffer& send, const Counts& send_counts, const Counts& send_displs, Buffer& recv,
                      const Counts& recv_counts, const Counts& recv_displs) {
  detail::take_mpi_in_place(send, recv);
  if (send.is_in_place) return {recv_counts, recv_displs, recv_counts, recv_displs};
  return {send_counts, send_displs, recv_counts, recv_displs};
}

detail::CheckedCall barrier_call(const Communicator& comm, const Options& options) {
  detail::CheckedCall call;
  detail::Arguments args(call, comm, Operation::barrier, options);
  args.set_declared_memory();
  return call;
}

detail::CheckedCall bcast_call(const Communicator& comm, Buffer& buffer, int root, const Options& options) {
  detail::CheckedCall call;
  detail::Arguments args(call, comm, Operation::bcast, options);
  detail::take_mpi_in_place(buffer);
  args.forbid_in_place(buffer.is_in_place, "buffer", "pass the buffer itself");
  args.set_root(root);
  args.pack(buffer, "buffer", args.is_root(), !args.is_root());
  args.set_type(buffer.type);
  args.set_count(buffer.count);
  args.set_output(buffer, "buffer");
  return call;
}

}  // namespace

void barrier(const Communicator& comm, const Options& options) {
  const detail::Repeatable call(Operation::barrier, detail::CallKind::blocking, {}, {}, options);
  detail::run(comm, call, options, [&] { return barrier_call(comm, options); });
}
Request ibarrier(const Communicator& comm, const Options& options) {
  const detail::Repeatable call(Operation::barrier, detail::CallKind::nonblocking, {}, {}, options);
  return detail::start(comm, call, options, [&] { return barrier_call(comm, options); });
}
Request barrier_init(const Communicator& comm, const Options& options) {
  return detail::prepare(comm, barrier_call(comm, options), options);
}

void bcast(const Communicator& comm, Buffer buffer, int root, const Options& options) {
  const detail::Repeatable call(Operation::bcast, detail::CallKind::blocking, {}, buffer, options, sum, root);
  detail::run(comm, call, options, [&] { return bcast_call(comm, buffer, root, options); });
}
Request ibcast(const Communicator& comm, Buffer buffer, int root, const Options& options) {
  const detail::Repeatable call(Operation::bcast, detail::CallKind::nonblocking, {}, buffer, options, sum, root);
  return detail::start(comm, call, options, [&] { return bcast_call(comm, buffer, root, options); });
}
Request bcast_init(const Communicator& comm, Buffer buffer, int root, const Options& options) {
  return detail::prepare(comm, bcast_call(comm, buffer, root, options), options);
}

#define TUTTI_WITHOUT_PARENTHESES(...) __VA_ARGS__
#define TUTTI_FORM(Result, form, function, name, given, make_lists, lists, ...)                                    \
  Result function(const Communicator& comm, TUTTI_WITHOUT_PARENTHESES given, const Options& options) {             \
    make_lists;                                                                                                    \
    return detail::form(                                                                                           \
        comm, {.operation = Operation::name, .send = send, .recv = recv, .options = options, __VA_ARGS__}, lists); \
  }
#define TUTTI_FORMS(name, given, make_lists, lists, ...)                           \
  TUTTI_FORM(void, run, name, name, given, make_lists, lists, __VA_ARGS__)         \
  TUTTI_FORM(Request, start, i##name, name, given, make_lists, lists, __VA_ARGS__) \
  TUTTI_FORM(Request, prepare, name##_init, name, given, make_lists, lists, __VA_ARGS__)

/// Defines the forms of a collective. given: its arguments between the communicator and the options, in parentheses.
/// Behind them: the further members of Passed.
#define TUTTI_COLLECTIVE(name, given, ...) TUTTI_FORMS(name, given, , nullptr, __VA_ARGS__)
/// The same with counts. significant: the lists that count on this rank.
#define TUTTI_COUNTED_COLLECTIVE(name, given, significant, ...) \
  TUTTI_FORMS(name, given, const BlockLists lists = significant, &lists, __VA_ARGS__)

TUTTI_COLLECTIVE(gather, (ConstBuffer send, Buffer recv, int root), .root = root)
TUTTI_COLLECTIVE(scatter, (ConstBuffer send, Buffer recv, int root), .root = root)
TUTTI_COLLECTIVE(allgather, (ConstBuffer send, Buffer recv))
TUTTI_COLLECTIVE(alltoall, (ConstBuffer send, Buffer recv))

TUTTI_COLLECTIVE(reduce, (ConstBuffer send, Buffer recv, ReduceOp op, int root), .root = root, .op = &op)
TUTTI_COLLECTIVE(allreduce, (ConstBuffer send, Buffer recv, ReduceOp op), .op = &op)
TUTTI_COLLECTIVE(reduce_scatter_block, (ConstBuffer send, Buffer recv, ReduceOp op), .op = &op)
TUTTI_COLLECTIVE(scan, (ConstBuffer send, Buffer recv, ReduceOp op), .op = &op)
TUTTI_COLLECTIVE(exscan, (ConstBuffer send, Buffer recv, ReduceOp op), .op = &op)

TUTTI_COUNTED_COLLECTIVE(gatherv,
                         (ConstBuffer send, Buffer recv, const Counts& recv_counts, const Counts& recv_displs,
                          int root),
                         recv_lists_at(comm, root, recv_counts, recv_displs), .root = root)
TUTTI_COUNTED_COLLECTIVE(scatterv,
                         (ConstBuffer send, const Counts& send_counts, const Counts& send_displs, Buffer recv,
                          int root),
                         send_lists_at(comm, root, send_counts, send_displs), .root = root)
TUTTI_COUNTED_COLLECTIVE(allgatherv,
                         (ConstBuffer send, Buffer recv, const Counts& recv_counts, const Counts& recv_displs),
                         recv_lists(recv_counts, recv_displs))
TUTTI_COUNTED_COLLECTIVE(alltoallv,
                         (ConstBuffer send, const Counts& send_counts, const Counts& send_displs, Buffer recv,
                          const Counts& recv_counts, const Counts& recv_displs),
                         both_lists(send, send_counts, send_displs, recv, recv_counts, recv_displs))
TUTTI_COUNTED_COLLECTIVE(reduce_scatter, (ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op),
                         recv_lists(recv_counts, {}), .op = &op)

#undef TUTTI_COUNTED_COLLECTIVE
#undef TUTTI_COLLECTIVE
#undef TUTTI_FORMS
#undef TUTTI_FORM
#undef TUTTI_WITHOUT_PARENTHESES

}  // namespace tutti
