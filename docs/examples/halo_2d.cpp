// SPDX-License-Identifier: BSD-3-Clause
// Heat on a square whose opposite edges are joined, divided among the ranks in two dimensions: a group of messages,
// bound once, exchanges the edges of the blocks, allreduce finds the largest error. A wave is a solution that is known
// exactly.
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <numbers>
#include <span>
#include <tutti/tutti.hpp>
#include <vector>

namespace {

constexpr int cells = 120;
constexpr int steps = 200;
constexpr double rate = 0.2;
constexpr double pi = std::numbers::pi;

double wave(int i, int j) { return std::sin(2 * pi * i / cells) * std::cos(2 * pi * j / cells); }

/// A block of the square, with one layer of neighbours' cells around it. A row is contiguous, a column has
/// a layout.
class Block {
 public:
  Block(int rows, int columns)
      : rows_(static_cast<std::size_t>(rows)),
        width_(static_cast<std::size_t>(columns) + 2),
        values_((rows_ + 2) * width_) {}
  double& at(int i, int j) { return values_[static_cast<std::size_t>(i) * width_ + static_cast<std::size_t>(j)]; }
  tutti::Buffer row(int i) { return {&at(i, 1), width_ - 2}; }
  tutti::Buffer column(int j) {
    return {&at(1, j), tutti::Layout::vector(rows_, 1, static_cast<std::ptrdiff_t>(width_))};
  }

 private:
  std::size_t rows_;
  std::size_t width_;
  std::vector<double> values_;
};

/// The ranks as a grid that is closed in both dimensions: this rank's block and its neighbours.
struct Place {
  int rows, columns, first_row, first_column;
  int north, south, west, east;
};

Place find_place(MPI_Comm grid, const int* parts) {
  Place place{};
  int rank = 0;
  int at[2];
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, at);
  MPI_Cart_shift(grid, 0, 1, &place.north, &place.south);
  MPI_Cart_shift(grid, 1, 1, &place.west, &place.east);
  place.first_row = at[0] * cells / parts[0];
  place.first_column = at[1] * cells / parts[1];
  place.rows = (at[0] + 1) * cells / parts[0] - place.first_row;
  place.columns = (at[1] + 1) * cells / parts[1] - place.first_column;
  return place;
}

/// Binds the exchange of a block's edges to a request, which every step starts again.
tutti::Request bind_halo(const tutti::Communicator& comm, Block& u, const Place& p) {
  tutti::Group halo(comm);
  halo.recv(u.row(0), p.north, 1).recv(u.row(p.rows + 1), p.south, 2);
  halo.recv(u.column(0), p.west, 3).recv(u.column(p.columns + 1), p.east, 4);
  halo.send(u.row(p.rows), p.south, 1).send(u.row(1), p.north, 2);
  halo.send(u.column(p.columns), p.east, 3).send(u.column(1), p.west, 4);
  return halo.init();
}

void update(Block& u, Block& next, const Place& p) {
  for (int i = 1; i <= p.rows; ++i)
    for (int j = 1; j <= p.columns; ++j)
      next.at(i, j) =
          u.at(i, j) + rate * (u.at(i - 1, j) + u.at(i + 1, j) + u.at(i, j - 1) + u.at(i, j + 1) - 4 * u.at(i, j));
}

}  // namespace

int main(int argc, char** argv) {
  tutti::Environment env(argc, argv);
  int ranks = 0;
  int parts[2] = {0, 0};
  const int closed[2] = {1, 1};
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, parts);
  MPI_Cart_create(MPI_COMM_WORLD, 2, parts, closed, 0, &grid);
  const Place p = find_place(grid, parts);
  const auto comm = tutti::Communicator::adopt(grid);  // frees grid with comm

  Block blocks[] = {Block(p.rows, p.columns), Block(p.rows, p.columns)};  // by turns the old and the new values
  for (int i = 1; i <= p.rows; ++i)
    for (int j = 1; j <= p.columns; ++j) blocks[0].at(i, j) = wave(p.first_row + i, p.first_column + j);

  tutti::Request halos[] = {bind_halo(comm, blocks[0], p), bind_halo(comm, blocks[1], p)};
  for (int step = 0; step < steps; ++step) {
    halos[step % 2].start();
    halos[step % 2].wait();
    update(blocks[step % 2], blocks[1 - step % 2], p);
  }
  Block& u = blocks[steps % 2];

  const double decay = std::pow(1 - 8 * rate * std::pow(std::sin(pi / cells), 2), steps);
  double error = 0;
  for (int i = 1; i <= p.rows; ++i)
    for (int j = 1; j <= p.columns; ++j)
      error = std::max(error, std::abs(u.at(i, j) - decay * wave(p.first_row + i, p.first_column + j)));
  tutti::allreduce(comm, std::span(&error, 1), tutti::max);
  if (comm.rank() == 0) std::printf("largest error %.2e\n", error);
  return error < 1e-12 ? 0 : 1;
}
