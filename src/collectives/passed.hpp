// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tutti/buffer.hpp>
#include <tutti/communicator.hpp>
#include <tutti/options.hpp>
#include <tutti/reduce_op.hpp>

#include "collectives/call.hpp"
#include "collectives/repeat.hpp"

namespace tutti::detail {

/// The arguments of a collective as its caller passes them. Refers to the caller's objects. Buffers change where they
/// have layouts or the host MPI's MPI_IN_PLACE.
struct Passed {
  Operation operation;
  ConstBuffer& send;
  Buffer& recv;
  const Options& options;
  int root = 0;
  const ReduceOp* op = nullptr;
  BlockLists lists{};  ///< as they are significant on this rank
};

/// Checks the arguments of a collective that has two buffers, by its row, and makes the call of them. Throws an Error
/// that names the argument, the rank and the remedy, before anything is sent.
[[nodiscard]] CheckedCall checked_call(const Communicator& comm, const Passed& passed);

[[nodiscard]] inline Repeatable repeatable(CallKind kind, const Passed& passed, const BlockLists* lists) {
  return {passed.operation, kind, passed.send, passed.recv, passed.options, passed.op == nullptr ? sum : *passed.op,
          passed.root,      lists};
}
[[nodiscard]] inline Passed with_lists(Passed passed, const BlockLists* lists) {
  if (lists != nullptr) passed.lists = *lists;
  return passed;
}

/// The three forms of a collective that has two buffers, and of one with counts its lists. Inlined, with a copy for the
/// checks, because only those need the arguments in memory: a call that repeats another does not.
[[gnu::always_inline]] inline void run(const Communicator& comm, Passed passed, const BlockLists* lists) {
  const Repeatable call = repeatable(CallKind::blocking, passed, lists);
  if (const Repeats::Entry* entry = call.found_in(*comm.state())) return call.run_again(comm, *entry);
  run(comm, checked_call(comm, with_lists(passed, lists)), passed.options, &call);
}
[[nodiscard, gnu::always_inline]] inline Request start(const Communicator& comm, Passed passed,
                                                       const BlockLists* lists) {
  const Repeatable call = repeatable(CallKind::nonblocking, passed, lists);
  if (const Repeats::Entry* entry = call.found_in(*comm.state())) return call.start_again(comm, *entry);
  return start(comm, checked_call(comm, with_lists(passed, lists)), passed.options, &call);
}
[[nodiscard]] inline Request prepare(const Communicator& comm, const Passed& passed, const BlockLists* lists) {
  return prepare(comm, checked_call(comm, with_lists(passed, lists)), passed.options);
}

}  // namespace tutti::detail
