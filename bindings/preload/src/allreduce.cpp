// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/allreduce.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Allreduce : EvenReduction {
  TUTTI_MPI_WAYS(allreduce)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(Allreduce, Allreduce, allreduce, PARAMETERS, ARGUMENTS)
