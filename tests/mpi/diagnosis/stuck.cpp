// SPDX-License-Identifier: BSD-3-Clause
// Programs that hang, in the way that the argument names. They end by their timeout, each rank for itself.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tutti::Communicator;

void hang(const Communicator& comm, const std::string& how) {
  std::vector<float> x(100, 1.0F);
  std::vector<float> large(std::size_t{1} << 20U);
  const int next = (comm.rank() + 1) % comm.size();
  if (how == "recv") tutti::recv(comm, x, next, 3);
  if (how == "send") tutti::send(comm, large, next, 3);
  if (how == "missing" && comm.rank() != 1) tutti::allreduce(comm, x, tutti::sum);
  if (how == "request" && comm.rank() != 1) tutti::iallreduce(comm, x, tutti::sum).wait();
  if (how == "order") {
    tutti::CommunicatorOptions options;
    options.name = "second";
    const Communicator second = Communicator::duplicate(MPI_COMM_WORLD, options);
    tutti::barrier(comm.rank() == 0 ? comm : second);
    tutti::barrier(comm.rank() == 0 ? second : comm);
  }
  if (how == "killed" && comm.rank() == 1) (void)std::raise(SIGKILL);
  if (how == "killed") tutti::allreduce(comm, x, tutti::sum);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  tutti::CommunicatorOptions options;
  options.name = "first";
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  std::vector<float> x(10, 1.0F);
  for (int i = 0; i < 5; ++i) tutti::allreduce(comm, x, tutti::sum);
  try {
    hang(comm, argv[1]);
    std::this_thread::sleep_for(30s);
  } catch (const tutti::Error& error) {
    std::printf("rank %d: %s\n", comm.rank(), error.what());
    if (argv[1] == std::string("killed")) std::this_thread::sleep_for(30s);
  }
  std::printf("rank %d ends\n", comm.rank());
  std::fflush(stdout);
  std::_Exit(0);
}
