// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize while calls are outstanding that go on inside the MPI: it neither hangs nor calls them any more.
#include <mpi.h>

#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<float> x(200'000, 1.0F);
  std::vector<float> y(200'000, 1.0F);
  tutti::Request left;
  {
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    if (!comm.state()->progress_hook || comm.size() < 2) {
      if (comm.rank() == 0) std::printf("skipped: no hook: %s\n", comm.state()->progress_report.c_str());
      MPI_Finalize();
      return 77;
    }
    tutti::Options options;
    options.algorithm = "mpi";
    left = tutti::iallreduce(comm, x, tutti::sum, options);
    (void)tutti::iallreduce(comm, y, tutti::sum, options);
  }
  MPI_Finalize();
  try {
    left.wait();
  } catch (const tutti::Error& e) {
    if (e.code() != tutti::ErrorCode::finalized) return 1;
  }
  std::printf("ended\n");
  return 0;
}
