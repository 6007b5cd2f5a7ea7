// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/gather.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall gather_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, int root,
                                const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::gather, .send = send, .recv = recv, .options = options, .root = root});
}

}  // namespace

void gather(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::gather, detail::CallKind::blocking, send, recv, options, sum, root);
  detail::run(comm, call, options, [&] { return gather_call(comm, send, recv, root, options); });
}

Request igather(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::gather, detail::CallKind::nonblocking, send, recv, options, sum, root);
  return detail::start(comm, call, options, [&] { return gather_call(comm, send, recv, root, options); });
}

Request gather_init(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  return detail::prepare(comm, gather_call(comm, send, recv, root, options), options);
}

}  // namespace tutti
