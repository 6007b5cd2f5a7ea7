// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allgather.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall allgather_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, const Options& options) {
  return detail::checked_call(comm,
                              {.operation = Operation::allgather, .send = send, .recv = recv, .options = options});
}

}  // namespace

void allgather(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::allgather, detail::CallKind::blocking, send, recv, options);
  detail::run(comm, call, options, [&] { return allgather_call(comm, send, recv, options); });
}

Request iallgather(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  const detail::Repeatable call(Operation::allgather, detail::CallKind::nonblocking, send, recv, options);
  return detail::start(comm, call, options, [&] { return allgather_call(comm, send, recv, options); });
}

Request allgather_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Options& options) {
  return detail::prepare(comm, allgather_call(comm, send, recv, options), options);
}

}  // namespace tutti
