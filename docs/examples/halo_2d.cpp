// SPDX-License-Identifier: BSD-3-Clause
// Heat on a square whose opposite edges are joined, divided among the ranks in two dimensions: a group of messages
// exchanges the edges of the blocks, allreduce finds the largest error. A wave is a solution that is known exactly.
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

/// A block of the square, with one layer of neighbours' cells around it. A row is contiguous.
class Block {
 public:
  Block(int rows, int columns)
      : width_(static_cast<std::size_t>(columns) + 2), values_((static_cast<std::size_t>(rows) + 2) * width_) {}
  double& at(int i, int j) { return values_[static_cast<std::size_t>(i) * width_ + static_cast<std::size_t>(j)]; }
  std::span<double> row(int i) { return {&at(i, 1), width_ - 2}; }

 private:
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

/// The edges that are no rows are copied, for messages of a group are contiguous.
struct Edges {
  std::vector<double> west, east, from_west, from_east;
};

void exchange(tutti::Group& halo, Block& u, Edges& edges, const Place& p) {
  for (int i = 1; i <= p.rows; ++i) {
    edges.west[static_cast<std::size_t>(i - 1)] = u.at(i, 1);
    edges.east[static_cast<std::size_t>(i - 1)] = u.at(i, p.columns);
  }
  halo.recv(u.row(0), p.north, 1).recv(u.row(p.rows + 1), p.south, 2);
  halo.recv(edges.from_west, p.west, 3).recv(edges.from_east, p.east, 4);
  halo.send(u.row(p.rows), p.south, 1).send(u.row(1), p.north, 2);
  halo.send(edges.east, p.east, 3).send(edges.west, p.west, 4);
  halo.run();  // posts all, waits for all
  for (int i = 1; i <= p.rows; ++i) {
    u.at(i, 0) = edges.from_west[static_cast<std::size_t>(i - 1)];
    u.at(i, p.columns + 1) = edges.from_east[static_cast<std::size_t>(i - 1)];
  }
}

void update(Block& u, Block& next, const Place& p) {
  for (int i = 1; i <= p.rows; ++i)
    for (int j = 1; j <= p.columns; ++j)
      next.at(i, j) =
          u.at(i, j) + rate * (u.at(i - 1, j) + u.at(i + 1, j) + u.at(i, j - 1) + u.at(i, j + 1) - 4 * u.at(i, j));
  std::swap(u, next);
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

  Block u(p.rows, p.columns);
  Block next(p.rows, p.columns);
  for (int i = 1; i <= p.rows; ++i)
    for (int j = 1; j <= p.columns; ++j) u.at(i, j) = wave(p.first_row + i, p.first_column + j);

  tutti::Group halo(comm);
  const auto rows = static_cast<std::size_t>(p.rows);
  Edges edges{std::vector<double>(rows), std::vector<double>(rows), std::vector<double>(rows),
              std::vector<double>(rows)};
  for (int step = 0; step < steps; ++step) {
    exchange(halo, u, edges, p);
    update(u, next, p);
  }

  const double decay = std::pow(1 - 8 * rate * std::pow(std::sin(pi / cells), 2), steps);
  double error = 0;
  for (int i = 1; i <= p.rows; ++i)
    for (int j = 1; j <= p.columns; ++j)
      error = std::max(error, std::abs(u.at(i, j) - decay * wave(p.first_row + i, p.first_column + j)));
  tutti::allreduce(comm, std::span(&error, 1), tutti::max);
  if (comm.rank() == 0) std::printf("largest error %.2e\n", error);
  return error < 1e-12 ? 0 : 1;
}
