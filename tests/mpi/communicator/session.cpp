// SPDX-License-Identifier: BSD-3-Clause
// A program that has a session (MPI 4) and never calls MPI_Init.
#include <mpi.h>

#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

[[maybe_unused]] constexpr int skipped = 77;

int fail(const char* what) {
  std::fprintf(stderr, "session: %s\n", what);
  return 1;
}

#if MPI_VERSION >= 4

bool works(const tutti::Communicator& comm) {
  const int n = comm.size();
  std::vector<int> x(1000, comm.rank());
  tutti::allreduce(comm, x, tutti::sum);
  std::vector<int> y(1000, comm.rank() + 1);
  tutti::Options ring;
  ring.algorithm = "ring";
  tutti::iallreduce(comm, y, tutti::sum, ring).wait();
  int token = -1;
  const int mine = comm.rank();
  tutti::Request arrives = tutti::irecv(comm, tutti::Buffer(&token, 1), (mine + n - 1) % n, 3);
  tutti::send(comm, tutti::ConstBuffer(&mine, 1), (mine + 1) % n, 3);
  arrives.wait();
  return x.back() == n * (n - 1) / 2 && y.back() == n * (n + 1) / 2 && token == (mine + n - 1) % n;
}

MPI_Comm world_of(MPI_Session session) {
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "session test", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
  MPI_Group_free(&group);
  return comm;
}

int run() {
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  MPI_Comm world = world_of(session);
  {
    const auto comm = tutti::Communicator::duplicate(world);
    if (!works(comm)) return fail("wrong result in a duplicate");
    if (!works(tutti::Communicator::borrow(world))) return fail("wrong result in a borrowed communicator");
    if (!works(comm.split(0, -comm.rank()))) return fail("wrong result in a part");
    int size = 0;
    MPI_Comm_size(comm.mpi_handle(), &size);
    if (size != comm.size()) return fail("wrong handle");
  }
  MPI_Comm_free(&world);
  MPI_Session_finalize(&session);
  int initialized = 0;
  MPI_Initialized(&initialized);
  if (initialized != 0) return fail("MPI was initialised");
  try {
    (void)tutti::Communicator::duplicate(MPI_COMM_WORLD);
    return fail("a communicator was made without MPI");
  } catch (const tutti::Error& e) {
    return e.code() == tutti::ErrorCode::finalized ? 0 : fail(e.what());
  }
}

#else

int run() {
  (void)fail("skipped: the host MPI has no sessions");
  return skipped;
}

#endif

}  // namespace

int main() { return run(); }
