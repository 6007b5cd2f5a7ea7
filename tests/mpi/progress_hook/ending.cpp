// SPDX-License-Identifier: BSD-3-Clause
// MPI_Finalize while calls are outstanding that go on inside the MPI: it neither hangs nor calls them any more. They
// are outstanding for certain, because the last rank makes none, and short, because MPICH 4.0 over UCX may itself wait
// for ever in MPI_Finalize for a long message that is under way.
#include <mpi.h>

#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"
#include "core/progress_hook.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::vector<float> x(16, 1.0F);
  std::vector<float> y(16, 1.0F);
  tutti::Request left;
  bool starts = false;
  {
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    if (!comm.state()->progress_hook || comm.size() < 2) {
      if (comm.rank() == 0) std::printf("skipped: no hook: %s\n", comm.state()->progress_report.c_str());
      MPI_Finalize();
      return 77;
    }
    tutti::Options options;
    options.algorithm = "recursive_doubling";
    tutti::allreduce(comm, x, tutti::sum, options);
    starts = comm.rank() + 1 < comm.size();
    if (starts) {
      left = tutti::iallreduce(comm, x, tutti::sum, options);
      (void)tutti::iallreduce(comm, y, tutti::sum, options);
      if (!tutti::detail::progress_hook::is_armed()) return 1;
    }
  }
  MPI_Finalize();
  try {
    left.wait();
    if (starts) return 1;
  } catch (const tutti::Error& e) {
    if (e.code() != tutti::ErrorCode::finalized) return 1;
  }
  std::printf("ended\n");
  return 0;
}
