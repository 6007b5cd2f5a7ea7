// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <tutti/communicator.hpp>

namespace tutti::test {

/// All ranks of the test.
inline const Communicator& world() {
  static const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  return comm;
}

}  // namespace tutti::test
