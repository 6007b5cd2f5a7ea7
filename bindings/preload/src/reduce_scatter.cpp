// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct ReduceScatter {
  Operands operands{};
  std::vector<std::size_t> counts{};

  template <typename N>
  Reason take(const Member& member, const void* from, void* to, const N* received, MPI_Datatype type, MPI_Op op) {
    if (received == nullptr) return Reason::arguments;
    MPI_Count all = 0;
    for (int r = 0; r < member.size(); ++r) {
      if (received[r] < 0) return Reason::arguments;
      counts.push_back(static_cast<std::size_t>(received[r]));
      all += received[r];
    }
    const MPI_Count own = received[member.rank()];
    return operands.take(from, to, all, from == MPI_IN_PLACE ? all : own, type, op);
  }
  void hold() { operands.hold(); }
  void read() {}
  void write() {}
  template <typename Make>
  auto with(const tutti::Communicator& ours, const Make& make) const {
    return make(ours, operands.input(), operands.output(), counts, operands.op());
  }
  TUTTI_MPI_WAYS(reduce_scatter)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, const N received[], MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, received, type, op
TUTTI_MPI_COLLECTIVE(ReduceScatter, Reduce_scatter, reduce_scatter, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
