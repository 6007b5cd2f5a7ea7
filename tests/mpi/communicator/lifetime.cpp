// SPDX-License-Identifier: BSD-3-Clause
// Who initialises and finalizes MPI, and communicators that outlive it. Run as: lifetime environment|caller|static|late
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

int fail(const char* what) {
  std::fprintf(stderr, "lifetime: %s\n", what);
  return 1;
}

bool works(const tutti::Communicator& comm) {
  std::vector<int> x(2, 1);
  tutti::allreduce(comm, x, tutti::sum);
  return x[1] == comm.size();
}

bool is_finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

/// The environment initialises MPI and finalizes it.
int environment(int argc, char** argv) {
  {
    tutti::Environment env(argc, argv);
    if (!env.owns_mpi()) return fail("the environment did not initialise MPI");
    tutti::Environment inner(argc, argv);
    if (inner.owns_mpi()) return fail("a second environment initialised MPI again");
    if (!works(tutti::Communicator::duplicate(MPI_COMM_WORLD))) return fail("wrong sum");
  }
  return is_finalized() ? 0 : fail("the environment did not finalize MPI");
}

/// The caller's MPI stays the caller's.
int caller(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    tutti::Environment env(argc, argv);
    if (env.owns_mpi()) return fail("the environment took over the caller's MPI");
    if (!works(tutti::Communicator::duplicate(MPI_COMM_WORLD))) return fail("wrong sum");
  }
  if (is_finalized()) return fail("the environment finalized the caller's MPI");
  MPI_Finalize();
  return 0;
}

std::unique_ptr<tutti::Communicator> left_over;
std::unique_ptr<tutti::Communicator> left_over_part;
tutti::Request left_request;

/// Communicators and a request of static objects, without any call of the library before MPI_Finalize.
int statics(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  left_over = std::make_unique<tutti::Communicator>(tutti::Communicator::duplicate(MPI_COMM_WORLD));
  left_over_part = std::make_unique<tutti::Communicator>(left_over->split(0, 0));
  if (!works(*left_over) || !works(*left_over_part)) return fail("wrong sum");
  static int x = 1;
  left_request = tutti::irecv(*left_over, tutti::Buffer(&x, 1), left_over->rank(), 77);
  MPI_Finalize();
  if (left_request.error() != tutti::ErrorCode::finalized) return fail("a request under way survived MPI_Finalize");
  return 0;
}

/// Calls after MPI_Finalize and before MPI_Init are errors with a text, never crashes.
int late(int argc, char** argv) {
  try {
    (void)tutti::Communicator::duplicate(MPI_COMM_WORLD);
    return fail("a communicator was made before MPI_Init");
  } catch (const tutti::Error& e) {
    if (e.code() != tutti::ErrorCode::finalized) return fail(e.what());
  }
  MPI_Init(&argc, &argv);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  MPI_Finalize();
  try {
    works(comm);
    return fail("a collective ran after MPI_Finalize");
  } catch (const tutti::Error& e) {
    if (e.code() != tutti::ErrorCode::finalized) return fail(e.what());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("which case?");
  const char* which = argv[1];
  if (std::strcmp(which, "environment") == 0) return environment(argc, argv);
  if (std::strcmp(which, "caller") == 0) return caller(argc, argv);
  if (std::strcmp(which, "static") == 0) return statics(argc, argv);
  if (std::strcmp(which, "late") == 0) return late(argc, argv);
  return fail("unknown case");
}
