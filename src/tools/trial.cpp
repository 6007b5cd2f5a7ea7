// SPDX-License-Identifier: BSD-3-Clause
#include "tools/trial.hpp"

#include <tutti/tutti.hpp>
#include <utility>

namespace tutti::detail::tuning {
namespace {

// A number of moderate size in every floating-point type.
constexpr std::byte filling{0x3c};

template <typename Blocking, typename Nonblocking, typename Persistent>
Request by_kind(CallKind kind, const Blocking& blocking, const Nonblocking& nonblocking, const Persistent& persistent) {
  if (kind == CallKind::nonblocking) return nonblocking();
  if (kind == CallKind::persistent) return persistent();
  blocking();
  return {};
}

}  // namespace

TrialMemory::TrialMemory(const Target& target, int ranks)
    : input_(buffer_bytes(target, ranks), filling), output_(buffer_bytes(target, ranks), filling) {}

Trial::Trial(const Communicator& comm, const Target& target, TrialMemory& memory, Options options)
    : comm_(comm), target_(target), options_(std::move(options)) {
  options_.memory = MemoryKind::host;
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::size_t count = target.bytes / target.type.size();
  // If the size is that of the whole, a rank's part is a share of it; else it is a block.
  const bool is_shared = has_shared_counts(target.operation);
  for (std::size_t r = 0; r < ranks; ++r) {
    displs_.push_back(is_shared ? count * r / ranks : count * r);
    counts_.push_back(is_shared ? count * (r + 1) / ranks - count * r / ranks : count);
  }
  const std::size_t mine = counts_[static_cast<std::size_t>(comm.rank())];
  const std::size_t all = is_shared ? count : count * ranks;
  input_ = ConstBuffer(memory.input(), mine, target.type);
  inputs_ = ConstBuffer(memory.input(), all, target.type);
  output_ = Buffer(memory.output(), mine, target.type);
  outputs_ = Buffer(memory.output(), all, target.type);
  if (target.kind == CallKind::persistent) persistent_ = call(CallKind::persistent);
}

void Trial::run() {
  if (target_.kind == CallKind::persistent) {
    persistent_.start();
    persistent_.wait();
  } else if (Request request = call(target_.kind); request.valid()) {
    request.wait();
  }
}

Request Trial::call(CallKind kind) {
  const ReduceOp op{op_of(target_)};
  const int root = target_.root;
#define TUTTI_TRIAL(operation, ...)                                                                                   \
  case Operation::operation:                                                                                          \
    return by_kind(                                                                                                   \
        kind, [&] { tutti::operation(comm_, __VA_ARGS__); }, [&] { return tutti::i##operation(comm_, __VA_ARGS__); }, \
        [&] { return tutti::operation##_init(comm_, __VA_ARGS__); });
  switch (target_.operation) {
    TUTTI_TRIAL(barrier, options_)
    TUTTI_TRIAL(bcast, output_, root, options_)
    TUTTI_TRIAL(reduce, input_, output_, op, root, options_)
    TUTTI_TRIAL(allreduce, input_, output_, op, options_)
    TUTTI_TRIAL(reduce_scatter_block, inputs_, output_, op, options_)
    TUTTI_TRIAL(reduce_scatter, inputs_, output_, counts_, op, options_)
    TUTTI_TRIAL(scan, input_, output_, op, options_)
    TUTTI_TRIAL(exscan, input_, output_, op, options_)
    TUTTI_TRIAL(gather, input_, outputs_, root, options_)
    TUTTI_TRIAL(gatherv, input_, outputs_, counts_, displs_, root, options_)
    TUTTI_TRIAL(scatter, inputs_, output_, root, options_)
    TUTTI_TRIAL(scatterv, inputs_, counts_, displs_, output_, root, options_)
    TUTTI_TRIAL(allgather, input_, outputs_, options_)
    TUTTI_TRIAL(allgatherv, input_, outputs_, counts_, displs_, options_)
    TUTTI_TRIAL(alltoall, inputs_, outputs_, options_)
    TUTTI_TRIAL(alltoallv, inputs_, counts_, displs_, outputs_, counts_, displs_, options_)
  }
#undef TUTTI_TRIAL
  return {};
}

}  // namespace tutti::detail::tuning
