// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoall.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall alltoall_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::alltoall, .send = send, .recv = recv, .options = options});
}

}  // namespace

void alltoall(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::alltoall, detail::CallKind::blocking, send, recv, options);
  detail::run(comm, call, options, [&] { return alltoall_call(comm, send, recv, options); });
}

Request ialltoall(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::alltoall, detail::CallKind::nonblocking, send, recv, options);
  return detail::start(comm, call, options, [&] { return alltoall_call(comm, send, recv, options); });
}

Request alltoall_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  return detail::prepare(comm, alltoall_call(comm, send, recv, options), options);
}

}  // namespace tutti
