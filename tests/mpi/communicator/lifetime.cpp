// SPDX-License-Identifier: BSD-3-Clause
// Who initialises and finalizes MPI, communicators that outlive it, and exceptions that end them. Run as: lifetime
// environment|caller|static|late|caught|everywhere|throws
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
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

/// Rank 0 leaves a scope by an exception, which ends its communicator there and not elsewhere.
int caught(int argc, char** argv) {
  tutti::Environment env(argc, argv);
  const auto world = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  std::weak_ptr<tutti::detail::Context> left;
  std::weak_ptr<tutti::detail::Context> moved;
  std::weak_ptr<tutti::detail::Context> normal;
  try {
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    auto other = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    if (!works(comm) || !works(other)) return fail("wrong sum");
    left = comm.state();
    const auto taken = std::move(other);
    moved = taken.state();
    if (world.rank() == 0) throw std::runtime_error("rank 0 alone");
  } catch (const std::runtime_error&) {
    const auto comm = tutti::Communicator::borrow(MPI_COMM_SELF);
    normal = comm.state();
  }
  if (left.expired() != (world.rank() != 0) || moved.expired() != (world.rank() != 0))
    return fail("a communicator was freed while an exception was under way");
  if (!normal.expired()) return fail("a communicator was kept although its life ended as it should");
  for (int i = 0; i < 3; ++i)
    if (!works(world) || !works(tutti::Communicator::duplicate(MPI_COMM_WORLD))) return fail("wrong sum afterwards");
  return 0;
}

/// Made and destroyed while another exception is under way, which it does not belong to.
struct Cleanup {
  std::weak_ptr<tutti::detail::Context>* seen;
  ~Cleanup() {
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    *seen = comm.state();
  }
};

/// All ranks throw: communicators of a cleanup are freed, and an environment that is told so finalizes MPI.
int everywhere(int argc, char** argv) {
  try {
    tutti::EnvironmentOptions options;
    options.abort_on_exception = false;
    tutti::Environment env(argc, argv, options);
    std::weak_ptr<tutti::detail::Context> seen;
    try {
      const Cleanup cleanup{&seen};
      throw std::runtime_error("all ranks");
    } catch (const std::runtime_error&) {
      if (!seen.expired()) return fail("a communicator of a cleanup was kept");
    }
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
    throw std::runtime_error("all ranks again");
  } catch (const std::runtime_error&) {
    return is_finalized() ? 0 : fail("the environment did not finalize MPI");
  }
}

/// Rank 0 leaves the environment's scope by an exception while the others wait for it. Never ends well.
int throws(int argc, char** argv) {
  try {
    tutti::Environment env(argc, argv);
    const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
#if TUTTI_HAS_TRAINING
    const tutti::ParameterServer server(comm, 8, 1, {.direct = false});
#endif
    if (comm.rank() == 0) throw std::runtime_error("the beam went out");
    for (;;) tutti::barrier(comm);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "lifetime: %s\n", e.what());
    return 0;  // the program forgets to say that it failed
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return fail("which case?");
  const char* which = argv[1];
  if (std::strcmp(which, "environment") == 0) return environment(argc, argv);
  if (std::strcmp(which, "caller") == 0) return caller(argc, argv);
  if (std::strcmp(which, "static") == 0) return statics(argc, argv);
  if (std::strcmp(which, "late") == 0) return late(argc, argv);
  if (std::strcmp(which, "caught") == 0) return caught(argc, argv);
  if (std::strcmp(which, "everywhere") == 0) return everywhere(argc, argv);
  if (std::strcmp(which, "throws") == 0) return throws(argc, argv);
  return fail("unknown case");
}
