// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter.hpp>

#include "collectives/passed.hpp"

namespace tutti {
namespace {

detail::CheckedCall reduce_scatter_call(const Communicator& comm, ConstBuffer& send, Buffer& recv,
                                        std::span<const std::size_t> recv_counts, const ReduceOp& op,
                                        const Options& options) {
  return detail::checked_call(comm, {.operation = Operation::reduce_scatter,
                                     .send = send,
                                     .recv = recv,
                                     .options = options,
                                     .op = &op,
                                     .recv_counts = recv_counts});
}

}  // namespace

void reduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op,
                    const Options& options) {
  detail::run(comm, reduce_scatter_call(comm, send, recv, recv_counts, op, options), options);
}

Request ireduce_scatter(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts, ReduceOp op,
                        const Options& options) {
  return detail::start(comm, reduce_scatter_call(comm, send, recv, recv_counts, op, options), options);
}

Request reduce_scatter_init(const Communicator& comm, ConstBuffer send, Buffer recv, const Counts& recv_counts,
                            ReduceOp op, const Options& options) {
  return detail::prepare(comm, reduce_scatter_call(comm, send, recv, recv_counts, op, options), options);
}

}  // namespace tutti
