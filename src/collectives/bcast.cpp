// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/bcast.hpp>

#include "collectives/arguments.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

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

}  // namespace tutti
