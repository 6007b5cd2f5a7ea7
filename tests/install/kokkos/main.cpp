// SPDX-License-Identifier: BSD-3-Clause
// A client with Kokkos views: sums the ranks over a view, and sends columns to rows.
#include <cstdio>
#include <tutti/kokkos.hpp>
#include <tutti/tutti.hpp>

namespace {

bool sums(const tutti::Communicator& comm) {
  const Kokkos::View<double**, Kokkos::HostSpace> x("x", 10, 100);
  Kokkos::deep_copy(x, comm.rank());
  tutti::Options options;
  options.stream = tutti::stream_of(Kokkos::DefaultHostExecutionSpace{});
  tutti::allreduce(comm, tutti::as_buffer(x), tutti::sum, options);

  const double expected = comm.size() * (comm.size() - 1) / 2.0;
  bool good = true;
  for (std::size_t i = 0; i < x.extent(0); ++i)
    for (std::size_t j = 0; j < x.extent(1); ++j) good = good && x(i, j) == expected;
  if (good && comm.rank() == 0) std::printf("sum of ranks %g\n", x(9, 99));
  return good;
}

/// A column, which is not contiguous, arrives in a row; a sum of it leaves the other columns alone.
bool moves_columns(const tutti::Communicator& comm) {
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> matrix("matrix", 4, 5);
  const Kokkos::View<double*, Kokkos::HostSpace> row("row", 4);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 5; ++j) matrix(i, j) = static_cast<double>(10 * i + j);
  const auto column = Kokkos::subview(matrix, Kokkos::ALL, 2);
  tutti::sendrecv(comm, tutti::as_buffer(column), comm.rank(), 0, tutti::as_buffer(row), comm.rank(), 0);
  bool good = true;
  for (std::size_t i = 0; i < 4; ++i) good = good && row(i) == static_cast<double>(10 * i + 2);
  tutti::allreduce(comm, tutti::as_buffer(column), tutti::sum);
  for (std::size_t i = 0; i < 4; ++i) good = good && column(i) == comm.size() * static_cast<double>(10 * i + 2);
  return good && matrix(3, 3) == 33;
}

}  // namespace

int main(int argc, char** argv) {
  const tutti::Environment env(argc, argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  return sums(comm) && moves_columns(comm) ? 0 : 1;
}
