// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scatter.hpp>

#include "collectives/passed.hpp"
#include "collectives/repeat.hpp"

namespace tutti {
namespace {

detail::CheckedCall scatter_call(const Communicator& comm, ConstBuffer& send, Buffer& recv, int root,
                                 const Options& options) {
  return detail::checked_call(
      comm, {.operation = Operation::scatter, .send = send, .recv = recv, .options = options, .root = root});
}

}  // namespace

void scatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::scatter, detail::CallKind::blocking, send, recv, options, sum, root);
  detail::run(comm, call, options, [&] { return scatter_call(comm, send, recv, root, options); });
}

Request iscatter(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  const detail::Repeatable call(Operation::scatter, detail::CallKind::nonblocking, send, recv, options, sum, root);
  return detail::start(comm, call, options, [&] { return scatter_call(comm, send, recv, root, options); });
}

Request scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, int root, const Options& options) {
  return detail::prepare(comm, scatter_call(comm, send, recv, root, options), options);
}

}  // namespace tutti
