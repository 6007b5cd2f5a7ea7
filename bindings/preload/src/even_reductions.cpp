// SPDX-License-Identifier: BSD-3-Clause
// The reductions in which each rank gives and takes the same number of elements.
#include <tutti/collectives/allreduce.hpp>
#include <tutti/collectives/exscan.hpp>
#include <tutti/collectives/scan.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Allreduce : EvenReduction {
  TUTTI_MPI_WAYS(allreduce)
};

struct Scan : EvenReduction {
  TUTTI_MPI_WAYS(scan)
};

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
TUTTI_MPI_COLLECTIVE(Allreduce, Allreduce, allreduce, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(Scan, Scan, scan, PARAMETERS, ARGUMENTS)
TUTTI_MPI_COLLECTIVE(Exscan, Exscan, exscan, PARAMETERS, ARGUMENTS)
#undef PARAMETERS
#undef ARGUMENTS
