// SPDX-License-Identifier: BSD-3-Clause
// Every collective as a twin: this rank's part of a call, with uneven and empty blocks where counts vary.
#pragma once

#include <memory>
#include <tutti/tutti.hpp>

#include "mpi/nccl/twin.hpp"
#include "schedules/layout.hpp"
#include "schedules/registry.hpp"

namespace tutti::test {

/// What is asked of a twin.
struct Question {
  const Communicator& comm;
  Datatype type{DatatypeKind::float32};
  ReduceOp op{ReduceKind::sum};
  std::size_t count = 0;
  int root = 0;
  bool in_place = false;
};

/// Counts and displacements that live as long as a persistent call.
struct Layout {
  std::vector<std::size_t> counts, displs;
  std::size_t extent = 0;
};

/// Some blocks are empty, and there are gaps.
inline Layout layout(std::size_t count, int size, int salt) {
  Layout l;
  for (int r = 0; r < size; ++r) {
    const auto place = static_cast<std::size_t>(r + salt);
    l.counts.push_back(place % 3 == 1 ? 0 : count / (1 + place % 4));
    l.displs.push_back(l.extent + 1);
    l.extent += l.counts.back() + 2;
  }
  return l;
}

#define TUTTI_FORMS(function, ...)                  \
  switch (form) {                                   \
    case Form::blocking:                            \
      function(__VA_ARGS__, options);               \
      return Request();                             \
    case Form::nonblocking:                         \
      return i##function(__VA_ARGS__, options);     \
    case Form::persistent:                          \
      return function##_init(__VA_ARGS__, options); \
  }                                                 \
  return Request();
#define TUTTI_CALL(...) \
  [=](Form form, [[maybe_unused]] ConstBuffer send, Buffer recv, const Options& options) -> Request { __VA_ARGS__ }

/// A communicator for the duration of the tests: Question's is in a static list.
inline Twin reduction_twin(Operation operation, const Question& q) {
  const Communicator* comm = &q.comm;
  const ReduceOp op = q.op;
  const int root = q.root;
  const auto size = static_cast<std::size_t>(comm->size());
  const auto rank = static_cast<std::size_t>(comm->rank());
  const bool is_root = comm->rank() == root;
  Twin t;
  t.send = t.recv = t.compared = q.count;
  t.in_place = q.in_place;
  switch (operation) {
    case Operation::allreduce:
      t.call = TUTTI_CALL(TUTTI_FORMS(allreduce, *comm, send, recv, op));
      break;
    case Operation::scan:
      t.call = TUTTI_CALL(TUTTI_FORMS(scan, *comm, send, recv, op));
      break;
    case Operation::exscan:
      t.call = TUTTI_CALL(TUTTI_FORMS(exscan, *comm, send, recv, op));
      break;
    case Operation::reduce:
      t.in_place = q.in_place && is_root;
      if (!is_root) t.recv = t.compared = 0;
      t.call = TUTTI_CALL(TUTTI_FORMS(reduce, *comm, send, recv, op, root));
      break;
    case Operation::reduce_scatter_block:
      t.send = q.count * size;
      if (q.in_place) t.recv = t.send;
      t.call = TUTTI_CALL(TUTTI_FORMS(reduce_scatter_block, *comm, send, recv, op));
      break;
    case Operation::reduce_scatter: {
      const auto l = std::make_shared<Layout>(layout(q.count, comm->size(), 0));
      t.send = 0;
      for (const std::size_t n : l->counts) t.send += n;
      t.recv = q.in_place ? t.send : l->counts[rank];
      t.compared = l->counts[rank];
      t.call = TUTTI_CALL(TUTTI_FORMS(reduce_scatter, *comm, send, recv, l->counts, op));
      break;
    }
    default:
      break;
  }
  return t;
}

inline Twin varying_twin(Operation operation, const Question& q) {
  const Communicator* comm = &q.comm;
  const int root = q.root;
  const bool is_root = comm->rank() == root;
  const auto rank = static_cast<std::size_t>(comm->rank());
  const auto l = std::make_shared<Layout>(layout(q.count, comm->size(), 0));
  const std::size_t mine = l->counts[rank];
  Twin t;
  t.in_place = q.in_place;
  switch (operation) {
    case Operation::gatherv:
      t.in_place = q.in_place && is_root;
      t.send = mine;
      t.recv = is_root ? l->extent : 0;
      t.call = TUTTI_CALL(TUTTI_FORMS(gatherv, *comm, send, recv, l->counts, l->displs, root));
      break;
    case Operation::scatterv:
      t.in_place = false;
      t.send = is_root ? l->extent : 0;
      t.recv = mine;
      t.call = TUTTI_CALL(TUTTI_FORMS(scatterv, *comm, send, l->counts, l->displs, recv, root));
      break;
    case Operation::allgatherv:
      t.send = mine;
      t.recv = l->extent;
      t.call = TUTTI_CALL(TUTTI_FORMS(allgatherv, *comm, send, recv, l->counts, l->displs));
      break;
    case Operation::alltoallv: {
      // Rank r sends q.count / (1 + (r + p) % 4) elements to rank p, or none: symmetric, so that in place works too.
      t.send = t.recv = l->extent;
      const auto own = std::make_shared<Layout>(layout(q.count, comm->size(), comm->rank()));
      t.send = t.recv = own->extent;
      t.call =
          TUTTI_CALL(TUTTI_FORMS(alltoallv, *comm, send, own->counts, own->displs, recv, own->counts, own->displs));
      break;
    }
    default:
      break;
  }
  t.compared = t.recv;
  return t;
}

inline Twin uniform_twin(Operation operation, const Question& q) {
  const Communicator* comm = &q.comm;
  const int root = q.root;
  const bool is_root = comm->rank() == root;
  const std::size_t all = q.count * static_cast<std::size_t>(comm->size());
  Twin t;
  t.in_place = q.in_place;
  switch (operation) {
    case Operation::bcast:
      t.in_place = false;
      t.recv = q.count;
      t.call = TUTTI_CALL(TUTTI_FORMS(bcast, *comm, recv, root));
      break;
    case Operation::gather:
      t.in_place = q.in_place && is_root;
      t.send = q.count;
      t.recv = is_root ? all : 0;
      t.call = TUTTI_CALL(TUTTI_FORMS(gather, *comm, send, recv, root));
      break;
    case Operation::scatter:
      t.in_place = false;
      t.send = is_root ? all : 0;
      t.recv = q.count;
      t.call = TUTTI_CALL(TUTTI_FORMS(scatter, *comm, send, recv, root));
      break;
    case Operation::allgather:
      t.send = q.count;
      t.recv = all;
      t.call = TUTTI_CALL(TUTTI_FORMS(allgather, *comm, send, recv));
      break;
    case Operation::alltoall:
      t.send = t.recv = all;
      t.call = TUTTI_CALL(TUTTI_FORMS(alltoall, *comm, send, recv));
      break;
    default:
      break;
  }
  t.compared = t.recv;
  return t;
}
#undef TUTTI_CALL
#undef TUTTI_FORMS

inline Twin twin(Operation operation, const Question& q) {
  Twin t = tutti::combines(operation) ? reduction_twin(operation, q) : uniform_twin(operation, q);
  if (!t.call) t = varying_twin(operation, q);
  t.type = q.type;
  t.is_inexact = q.op.kind() == ReduceKind::avg;
  t.name = std::string(operation_name(operation)) + " of " + std::to_string(q.count) + " " +
           datatype_name(q.type.kind()) + " " + (tutti::combines(operation) ? reduce_op_name(q.op.kind()) : "") +
           ", root " + std::to_string(q.root) + (q.in_place ? ", in place" : "") + ", " +
           std::to_string(q.comm.size()) + " ranks";
  return t;
}

/// The hierarchical schedules that the ranks' places on several nodes allow.
inline std::vector<const schedules::Algorithm*> hierarchical_ways(Operation operation, const Communicator& comm) {
  std::vector<const schedules::Algorithm*> found;
  if (comm.topology().nodes == 1) return found;
  const schedules::Spread spread = schedules::spread_of(comm.state()->node_of, comm.size());
  for (const auto& algorithm : schedules::hierarchical_algorithms_of(operation))
    if (schedules::meets(spread, algorithm.need)) found.push_back(&algorithm);
  return found;
}

/// The planner's choice; on the communicator of all ranks also NCCL's own collective and the groups of every schedule.
inline std::vector<std::string> nccl_ways(Operation operation, const Communicator& comm) {
  std::vector<std::string> names{""};
  if (&comm != &device_communicators().front()) return names;
  names.emplace_back("nccl:direct");
  for (const auto& algorithm : schedules::algorithms_of(operation))
    names.push_back("nccl:" + std::string(algorithm.name));
  for (const auto* algorithm : hierarchical_ways(operation, comm))
    names.push_back("nccl:" + std::string(algorithm->name));
  return names;
}

/// False where a way cannot make the call: then it says so alike on all ranks.
inline bool run_twin(const Twin& t, const Communicator& comm, const Options& options, Way way) {
  try {
    TwinRun(t, comm, options).run(way);
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << t.name << " by '" << options.algorithm << "': " << e.what();
    EXPECT_FALSE(options.algorithm.empty()) << e.what();
    return false;
  }
}

}  // namespace tutti::test
