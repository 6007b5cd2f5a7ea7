// SPDX-License-Identifier: BSD-3-Clause
// A program to trace: its last rank comes late, in the way that the argument names.
#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tutti::Communicator;

constexpr auto delay = 500ms;

void come_late(const Communicator& comm) {
  if (comm.rank() == comm.size() - 1) std::this_thread::sleep_for(delay);
}

void run(const Communicator& comm, const std::string& how) {
  std::vector<float> x(100, 1.0F);
  const int last = comm.size() - 1;
  if (how == "collective" || how == "request" || how == "message") come_late(comm);
  if (how == "collective") {
    const tutti::Range range("exchange \"late\"");
    tutti::allreduce(comm, x, tutti::sum);
  }
  if (how == "request") tutti::iallreduce(comm, x, tutti::sum).wait();
  if (how == "message" && comm.rank() == last) tutti::send(comm, x, 0, 7);
  if (how == "message" && comm.rank() == 0) tutti::recv(comm, x, tutti::any_source, tutti::any_tag);
  if (how == "killed" && comm.rank() == last) (void)std::raise(SIGKILL);
  if (how == "killed") tutti::allreduce(comm, x, tutti::sum);
}

/// More calls than a flight recorder holds.
void call_often(const Communicator& comm, int times) {
  const tutti::Range range("often");
  float x = 1;
  for (int i = 0; i < times; ++i) tutti::bcast(comm, std::span(&x, 1), 0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    tutti::CommunicatorOptions options;
    options.name = "first";
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
    call_often(comm, std::atoi(argv[2]));
    tutti::barrier(comm);
    run(comm, argv[1]);
  } catch (const tutti::Error& error) {
    std::printf("%s\n", error.what());
    std::fflush(stdout);
    std::_Exit(0);
  }
  MPI_Finalize();
}
