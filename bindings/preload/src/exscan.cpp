// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/exscan.hpp>

#include "arguments.hpp"
#include "forms.hpp"

namespace {

using namespace tutti::preload;

struct Exscan : EvenReduction {
  TUTTI_MPI_WAYS(exscan)
};

}  // namespace

#define PARAMETERS(N, D) const void *send, void *recv, N count, MPI_Datatype type, MPI_Op op
#define ARGUMENTS() send, recv, count, type, op
TUTTI_MPI_COLLECTIVE(Exscan, Exscan, exscan, PARAMETERS, ARGUMENTS)
