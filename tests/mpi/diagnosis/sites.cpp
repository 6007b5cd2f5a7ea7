// SPDX-License-Identifier: BSD-3-Clause
// The twin of sites.c in C++: one rank gives its place, the others leave it to the stack.
#include <mpi.h>

#include <cstdio>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

namespace heat {
namespace {

int line_of_step = 0;
int line_of_init = 0;

[[gnu::noinline]] void step(const tutti::Communicator& comm, std::vector<float>& x) {
  line_of_step = __LINE__ + 1;
  tutti::allreduce(comm, x, tutti::sum);
}

[[gnu::noinline]] void init(const tutti::Communicator& comm, std::vector<float>& x) {
  line_of_init = __LINE__ + 1;
  TUTTI_HERE, tutti::bcast(comm, x, 0);
}

}  // namespace
}  // namespace heat

int main(int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  tutti::CommunicatorOptions options;
  options.check = tutti::CheckMode::calls;
  options.timeout = std::chrono::seconds(20);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD, options);
  std::vector<float> x(4);
  const bool is_last = comm.rank() + 1 == comm.size();
  std::string text;
  try {
    is_last ? heat::init(comm, x) : heat::step(comm, x);
  } catch (const tutti::Error& error) {
    text = error.what();
  }
  const std::string wanted = is_last ? " at sites.cpp:" + std::to_string(heat::line_of_init) + " in init()"
                                     : " at sites.cpp:" + std::to_string(heat::line_of_step) + " in heat::step()";
  int bad = text.find(wanted) == std::string::npos || text.find("init()") == std::string::npos ||
                    text.find("heat::step()") == std::string::npos
                ? 1
                : 0;
  if (bad != 0) std::fprintf(stderr, "rank %d: %s\nwanted: %s\n", comm.rank(), text.c_str(), wanted.c_str());
  MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  return bad;
}
