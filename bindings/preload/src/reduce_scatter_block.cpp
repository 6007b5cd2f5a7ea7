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
    const MPI_Count all = MPI_Count{count} * member.size();
    return operands.take(from, to, all, from == MPI_IN_PLACE ? all : MPI_Count{count}, type, op);
  }
  void hold() { operands.hold(); }
  void read() {}
  void write() {}
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, operands.input(), operands.output(), operands.op());
  }
  TUTTI_MPI_WAYS(reduce_scatter_block)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(ReduceScatterBlock, Reduce_scatter_block, reduce_scatter_block, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
