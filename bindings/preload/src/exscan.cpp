// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/exscan.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Exscan : EvenReduction {
  template <typename N>
  Reason take(const Member& member, const void* from, void* to, N count, MPI_Datatype type, MPI_Op op) {
    if (member.rank() == 0 && from != MPI_IN_PLACE) return operands.take_given(from, count, type, op);
    return EvenReduction::take(member, from, to, count, type, op);
  }
  TUTTI_MPI_WAYS(exscan)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(Exscan, Exscan, exscan, PARAMETERS, ARGUMENTS)
