// SPDX-License-Identifier: BSD-3-Clause
#include "private_self.hpp"

namespace tutti::preload {

MPI_Comm private_self() {
  static const MPI_Comm self = [] {
    MPI_Comm made = MPI_COMM_NULL;
    PMPI_Comm_dup(MPI_COMM_SELF, &made);
    return made;
  }();
  return self;
}

}  // namespace tutti::preload
