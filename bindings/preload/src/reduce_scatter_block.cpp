// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter_block.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct ReduceScatterBlock {
  Operands operands{};

  template <typename N>
  Reason take(const Member& member, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op) {
    const N all = count * static_cast<N>(member.size());
    return operands.take(from, to, all, from == MPI_IN_PLACE ? all : count, type, op);
  }
  void hold() { operands.hold(); }
  void read() {}
  void write() {}
  void run(const tutti::Communicator& comm) const {
    tutti::reduce_scatter_block(comm, operands.input(), operands.output(), operands.op());
  }
  [[nodiscard]] tutti::Request start(const tutti::Communicator& comm) const {
    return tutti::ireduce_scatter_block(comm, operands.input(), operands.output(), operands.op());
  }
  [[nodiscard]] tutti::Request prepare(const tutti::Communicator& comm) const {
    return tutti::reduce_scatter_block_init(comm, operands.input(), operands.output(), operands.op());
  }
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(ReduceScatterBlock, Reduce_scatter_block, reduce_scatter_block, PARAMETERS, ARGUMENTS)
