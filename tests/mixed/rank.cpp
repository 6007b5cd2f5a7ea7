// SPDX-License-Identifier: BSD-3-Clause
// The C++ rank of a run that C, Fortran and C++ ranks share.
#include <array>
#include <cstdio>
#include <tutti/tutti.hpp>
#include <vector>

int main(int argc, char** argv) {
  const tutti::Environment environment(argc, argv);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  const int rank = comm.rank();
  const int size = comm.size();

  std::array<float, 6> x{};
  for (int i = 0; i < 6; ++i) x[static_cast<std::size_t>(i)] = static_cast<float>((rank + 1) * (i + 1));
  tutti::allreduce(comm, x, tutti::sum);
  bool good = true;
  for (int i = 0; i < 6; ++i)
    good = good && x[static_cast<std::size_t>(i)] == static_cast<float>(size * (size + 1) / 2 * (i + 1));

  std::int32_t truth = rank == 0 ? 1 : 0;
  tutti::allreduce(comm, tutti::Buffer(&truth, 1, tutti::DatatypeKind::logical32), tutti::lor);
  good = good && truth != 0;

  const std::array<std::int64_t, 1> mine{10 * rank};
  std::vector<std::int64_t> all(static_cast<std::size_t>(size));
  tutti::iallgather(comm, mine, all).wait();
  for (int r = 0; r < size; ++r) good = good && all[static_cast<std::size_t>(r)] == 10 * r;

  const std::array<double, 1> ball{rank + 0.5};
  std::array<double, 1> caught{-1};
  tutti::sendrecv(comm, ball, (rank + 1) % size, 7, caught, (rank + size - 1) % size, 7);
  good = good && caught[0] == (rank + size - 1) % size + 0.5;

  std::printf("c++ rank %d of %d: %s\n", rank, size, good ? "good" : "bad");
  return good ? 0 : 1;
}
