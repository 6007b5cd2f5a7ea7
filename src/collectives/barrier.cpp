// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/barrier.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall barrier_call(const Communicator& comm, const Options& options) {
  detail::CheckedCall call;
  detail::Arguments args(call, comm, Operation::barrier, options);
  args.set_declared_memory();
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

}  // namespace tutti
