// SPDX-License-Identifier: BSD-3-Clause
// A client that knows Tutti only as installed: sums the ranks, gathers them, and checks both.
#include <cstdio>
#include <span>
#include <tutti/tutti.hpp>
#include <vector>

int main(int argc, char** argv) {
  tutti::Environment env(argc, argv);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  const auto size = static_cast<std::size_t>(comm.size());

  std::vector<float> x(1000, static_cast<float>(comm.rank()));
  tutti::allreduce(comm, std::span(x), tutti::sum);
  const float expected = static_cast<float>(size * (size - 1)) / 2;

  const int mine = comm.rank();
  std::vector<int> all(size, -1);
  tutti::iallgather(comm, std::span(&mine, 1), std::span(all)).wait();

  bool good = true;
  for (const float value : x) good = good && value == expected;
  for (std::size_t rank = 0; rank < size; ++rank) good = good && all[rank] == static_cast<int>(rank);
  if (comm.rank() == 0 && good) std::printf("tutti %s: sum of ranks %g\n", tutti::version(), static_cast<double>(x[0]));
  return good ? 0 : 1;
}
