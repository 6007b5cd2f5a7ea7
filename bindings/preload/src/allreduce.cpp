// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allreduce.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Allreduce {
  Operands operands{};

  template <typename N>
  Reason take(const Member& /*member*/, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op) {
    return operands.take(from, to, count, count, type, op);
  }
  void hold() { operands.hold(); }
  void read() {}
  void write() {}
  void run(const tutti::Communicator& comm) const {
    tutti::allreduce(comm, operands.input(), operands.output(), operands.op());
  }
  [[nodiscard]] tutti::Request start(const tutti::Communicator& comm) const {
    return tutti::iallreduce(comm, operands.input(), operands.output(), operands.op());
  }
  [[nodiscard]] tutti::Request prepare(const tutti::Communicator& comm) const {
    return tutti::allreduce_init(comm, operands.input(), operands.output(), operands.op());
  }
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(Allreduce, Allreduce, allreduce, PARAMETERS, ARGUMENTS)
