// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Reduce {
  Operands operands{};
  int root = 0;

  template <typename N>
  Reason take(const Member& member, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op, int target) {
    root = target;
    if (!has_root(member, target)) return Reason::arguments;
    if (is_root(member, target)) return operands.take(from, to, count, count, type, op);
    return from == MPI_IN_PLACE ? Reason::arguments : operands.take(from, nullptr, count, N{0}, type, op);
  }
  void hold() { operands.hold(); }
  void read() {}
  void write() {}
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, operands.input(), operands.output(), operands.op(), root);
  }
  TUTTI_MPI_WAYS(reduce)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op, int root
#define ARGUMENTS() send, recv, count, type, op, root
TUTTI_MPI_COLLECTIVE(Reduce, Reduce, reduce, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
