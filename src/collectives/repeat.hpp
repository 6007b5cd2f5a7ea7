// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>
#include <tutti/request.hpp>

#include "call/context.hpp"
#include "call/repeats.hpp"
#include "collectives/call.hpp"

namespace tutti::detail {

/// A blocking or nonblocking call as its caller makes it, before any check. Refers to the caller's objects.
class Repeatable {
 public:
  Repeatable(Operation operation, CallKind kind, const ConstBuffer& send, const Buffer& recv, const Options& options,
             const ReduceOp& op = sum, int root = 0, const BlockLists* lists = nullptr)
      : arguments_(operation, kind, send, recv, options.memory, op.kind(), root),
        send_in_place_(send.is_in_place),
        recv_in_place_(recv.is_in_place),
        has_layout_(send.layout || recv.layout),
        send_(send.data),
        recv_(recv.data),
        lists_(lists),
        op_(op),
        options_(options) {}

  /// The call that this one repeats, or null.
  [[nodiscard]] const Repeats::Entry* found_in(const Context& comm) const;
  /// Make the call by the one that it repeats.
  void run_again(const Communicator& comm, const Repeats::Entry& entry) const;
  [[nodiscard]] Request start_again(const Communicator& comm, const Repeats::Entry& entry) const;
  /// Keeps the call, which has passed its checks and found its plan, if calls like it can be made by these alone.
  void keep(Context& comm, const CheckedCall& call, const PlanPtr& plan, const flight::Note& note) const noexcept;

 private:
  [[nodiscard]] bool is_plain() const noexcept;
  [[nodiscard]] bool may_be_repeated(const Context& comm, const CheckedCall& call, const Plan& plan) const noexcept;
  [[nodiscard]] Repeats::Entry entry_of(const CheckedCall& call, const PlanPtr& plan, const flight::Note& note) const;
  /// Returns true if the addresses, too, are such that the arguments are right.
  [[nodiscard]] bool fits(const Repeats::Entry& entry) const;
  [[nodiscard]] bool is_on_host(const Repeats::Entry& entry) const;
  [[nodiscard]] Binding bind(const Repeats::Entry& entry) const;

  CallArguments arguments_;
  bool send_in_place_;
  bool recv_in_place_;
  bool has_layout_;
  const void* send_;
  void* recv_;
  const BlockLists* lists_;  ///< of a call with counts, as they are significant on this rank; else null
  const ReduceOp& op_;
  const Options& options_;
};

/// Run or start a call, which `make` checks and writes down if it does not repeat another.
template <typename Make>
void run(const Communicator& comm, const Repeatable& call, const Options& options, const Make& make) {
  if (const Repeats::Entry* entry = call.found_in(*comm.state())) return call.run_again(comm, *entry);
  run(comm, make(), options, &call);
}
template <typename Make>
[[nodiscard]] Request start(const Communicator& comm, const Repeatable& call, const Options& options,
                            const Make& make) {
  if (const Repeats::Entry* entry = call.found_in(*comm.state())) return call.start_again(comm, *entry);
  return start(comm, make(), options, &call);
}

}  // namespace tutti::detail
