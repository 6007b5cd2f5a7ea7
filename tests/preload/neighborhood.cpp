// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives, for programs that call MPI only. Ranks describe the same data by different datatypes.
#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "preload/arrays.hpp"
#include "preload/forms.hpp"
#include "preload/world.hpp"

namespace tutti::test {
namespace {

using Case = std::tuple<Form, int>;  // the form and the number of elements of a block, an even one

/// A grid of all ranks in a periodic dimension and of one in a dimension that ends: two of four neighbours exist.
class Neighborhoods : public testing::TestWithParam<Case> {
 protected:
  static constexpr int blocks = 4;

  Neighborhoods() {
    const int sizes[] = {world.size(), 1};
    const int periodic[] = {1, 0};
    MPI_Cart_create(world.get(), 2, sizes, periodic, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &from[0], &from[1]);
  }
  ~Neighborhoods() override { MPI_Comm_free(&grid); }
  void SetUp() override {
    if (form == Form::persistent && !TUTTI_TEST_HAS_PERSISTENT)
      GTEST_SKIP() << "this MPI has no persistent collectives";
    make_side(grid);
    before = calls_through_library();
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_GT(calls_through_library(), before);
  }

  [[nodiscard]] Shape shape(int shift) const { return static_cast<Shape>((rank + shift) % 3); }
  void fill(Array& array, int round) const {
    for (int b = 0; b < blocks; ++b)
      for (std::size_t i = 0; i < elements; ++i)
        array[static_cast<std::size_t>(b) * elements + i] = value(rank, b, i, round);
  }
  /// Expects in a block what a neighbour sent in one of its own, or, where there is no neighbour, what was there.
  void expect(Array& array, int block, int neighbor, int sent, int round) const {
    for (std::size_t i = 0; i < elements; ++i)
      ASSERT_EQ(array[static_cast<std::size_t>(block) * elements + i],
                from[neighbor] == MPI_PROC_NULL ? Array::untouched : value(from[neighbor], sent, i, round))
          << "block " << block << ", element " << i;
  }
  /// What goes down comes from above (MPI 4.1, section 8.6), also where both are one rank.
  void expect_exchanged(Array& array, int round) const {
    for (int b = 0; b < blocks; ++b) expect(array, b, b, b ^ 1, round);
    EXPECT_TRUE(array.has_clean_gaps(blocks * elements));
  }
  /// The same of blocks in reverse order on both sides.
  void expect_exchanged_backwards(Array& array, int round) const {
    for (int b = 0; b < blocks; ++b)
      expect(array, Backwards::block(b, blocks), b, Backwards::block(b ^ 1, blocks), round);
  }

  Form form = std::get<0>(GetParam());
  int n = std::get<1>(GetParam());
  std::size_t elements = static_cast<std::size_t>(n);
  ReversedWorld world{};
  int rank = world.rank();
  MPI_Comm grid = MPI_COMM_NULL;
  int from[blocks] = {MPI_PROC_NULL, MPI_PROC_NULL, MPI_PROC_NULL, MPI_PROC_NULL};
  std::uint64_t before = 0;
};

TEST_P(Neighborhoods, Allgather) {
  Array send(shape(0), elements * blocks);
  Array recv(shape(1), elements * blocks);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); },
      [&](int round) {
        for (int b = 0; b < blocks; ++b) expect(recv, b, b, 0, round);
      },
      Neighbor_allgather, neighbor_allgather, send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(),
      recv.type(), grid);
}

TEST_P(Neighborhoods, Allgatherv) {
  Array send(shape(0), elements * blocks);
  Array recv(shape(1), elements * blocks);
  const Backwards to(blocks, n, recv);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); },
      [&](int round) {
        for (int b = 0; b < blocks; ++b) expect(recv, Backwards::block(b, blocks), b, 0, round);
      },
      Neighbor_allgatherv, neighbor_allgatherv, send.data(), n / send.step(), send.type(), to.address, to.counts.data(),
      to.displs.data(), recv.type(), grid);
}

TEST_P(Neighborhoods, Alltoall) {
  Array send(shape(2), elements * blocks);
  Array recv(shape(1), elements * blocks);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_exchanged(recv, round); }, Neighbor_alltoall,
      neighbor_alltoall, send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(), recv.type(), grid);
}

TEST_P(Neighborhoods, Alltoallv) {
  Array send(shape(2), elements * blocks);
  Array recv(shape(1), elements * blocks);
  const Backwards out(blocks, n, send);
  const Backwards in(blocks, n, recv);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_exchanged_backwards(recv, round); },
      Neighbor_alltoallv, neighbor_alltoallv, out.address, out.counts.data(), out.displs.data(), send.type(),
      in.address, in.counts.data(), in.displs.data(), recv.type(), grid);
}

TEST_P(Neighborhoods, Alltoallw) {
  Array send(shape(2), elements * blocks);
  Array recv(shape(1), elements * blocks);
  const Backwards out(blocks, n, send);
  const Backwards in(blocks, n, recv);
  const std::vector<MPI_Aint> out_places(out.bytes.begin(), out.bytes.end());
  const std::vector<MPI_Aint> in_places(in.bytes.begin(), in.bytes.end());
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_exchanged_backwards(recv, round); },
      Neighbor_alltoallw, neighbor_alltoallw, out.address, out.counts.data(), out_places.data(), out.types.data(),
      in.address, in.counts.data(), in_places.data(), in.types.data(), grid);
}

/// One rank gives addresses in the place of displacements.
TEST_P(Neighborhoods, AlltoallwByAddressesOnOneRank) {
  Array send(Shape::plain, elements * blocks);
  Array recv(Shape::plain, elements * blocks);
  const Backwards out(blocks, n, send);
  const Backwards in(blocks, n, recv);
  const auto places_of = [&](const Backwards& side) {
    MPI_Aint begin = 0;
    if (rank == 0) MPI_Get_address(side.address, &begin);
    std::vector<MPI_Aint> places;
    for (const int bytes : side.bytes) places.push_back(begin + bytes);
    return places;
  };
  const std::vector<MPI_Aint> out_places = places_of(out);
  const std::vector<MPI_Aint> in_places = places_of(in);
  const void* from_address = rank == 0 ? MPI_BOTTOM : out.address;
  void* to_address = rank == 0 ? MPI_BOTTOM : in.address;
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, [&](int round) { expect_exchanged_backwards(recv, round); },
      Neighbor_alltoallw, neighbor_alltoallw, from_address, out.counts.data(), out_places.data(), out.types.data(),
      to_address, in.counts.data(), in_places.data(), in.types.data(), grid);
}

/// A line of ranks, whose ends have no type for the neighbour that they lack.
TEST_P(Neighborhoods, LineWithoutTypesOfAbsentNeighbors) {
  const int sizes[] = {world.size()};
  const int periodic[] = {0};
  MPI_Comm line = MPI_COMM_NULL;
  MPI_Cart_create(world.get(), 1, sizes, periodic, 0, &line);
  make_side(line);
  int sides[2] = {};
  MPI_Cart_shift(line, 0, 1, &sides[0], &sides[1]);
  Array send(Shape::plain, elements * 2);
  Array recv(Shape::plain, elements * 2);
  int counts[2] = {};
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  for (int b = 0; b < 2; ++b) {
    if (sides[b] == MPI_PROC_NULL || n == 0) continue;
    counts[b] = n;
    types[b] = MPI_INT;
  }
  const MPI_Aint places[] = {0, static_cast<MPI_Aint>(elements * sizeof(int))};
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); },
      [&](int round) {
        for (int b = 0; b < 2; ++b)
          for (std::size_t i = 0; i < elements; ++i)
            ASSERT_EQ(recv[static_cast<std::size_t>(b) * elements + i],
                      sides[b] == MPI_PROC_NULL ? Array::untouched : value(sides[b], 1 - b, i, round));
      },
      Neighbor_alltoallw, neighbor_alltoallw, send.data(), counts, places, types, recv.data(), counts, places, types,
      line);
  MPI_Comm_free(&line);
}

/// All ranks give the last one a block, and it gives nobody any: its send buffer does not count.
TEST_P(Neighborhoods, NoBufferOfARankThatGivesNothing) {
  const int last = world.size() - 1;
  std::vector<int> others;
  for (int r = 0; r < last; ++r) others.push_back(r);
  const bool is_last = rank == last;
  const std::vector<int> weights(others.size() + 1, 1);
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(world.get(), is_last ? last : 0, others.data(), weights.data(), is_last ? 0 : 1, &last,
                                 weights.data(), MPI_INFO_NULL, 0, &graph);
  make_side(graph);
  Array send(Shape::plain, elements * blocks);
  Array recv(Shape::plain, elements * others.size());
  const void* given = is_last ? nullptr : send.data();
  const MPI_Datatype type = is_last ? MPI_DATATYPE_NULL : MPI_INT;
  const auto look = [&](int round) {
    for (const int from_rank : is_last ? others : std::vector<int>())
      for (std::size_t i = 0; i < elements; ++i)
        ASSERT_EQ(recv[static_cast<std::size_t>(from_rank) * elements + i], value(from_rank, 0, i, round));
  };
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, look, Neighbor_allgather, neighbor_allgather, given, n, type,
      recv.data(), n, MPI_INT, graph);
  const std::vector<int> counts(others.size(), n);
  std::vector<int> places;
  for (const int from_rank : others) places.push_back(from_rank * n);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); }, look, Neighbor_allgatherv, neighbor_allgatherv, given, n, type,
      recv.data(), counts.data(), places.data(), MPI_INT, graph);
  MPI_Comm_free(&graph);
}

/// Two edges to the next rank: the first block that is sent is the first that is received.
TEST_P(Neighborhoods, RepeatedEdgesOfAGraph) {
  const int next[] = {(rank + 1) % world.size(), (rank + 1) % world.size()};
  const int last[] = {(rank + world.size() - 1) % world.size(), (rank + world.size() - 1) % world.size()};
  const int weights[] = {1, 2};
  MPI_Comm graph = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(world.get(), 2, last, weights, 2, next, weights, MPI_INFO_NULL, 0, &graph);
  make_side(graph);
  Array send(shape(2), elements * blocks);
  Array recv(shape(1), elements * 2);
  TUTTI_TEST_CALL(
      form, [&](int round) { fill(send, round); },
      [&](int round) {
        for (int b = 0; b < 2; ++b) {
          for (std::size_t i = 0; i < elements; ++i)
            ASSERT_EQ(recv[static_cast<std::size_t>(b) * elements + i], value(last[0], b, i, round));
        }
      },
      Neighbor_alltoall, neighbor_alltoall, send.data(), n / send.step(), send.type(), recv.data(), n / recv.step(),
      recv.type(), graph);
  MPI_Comm_free(&graph);
}

#if MPI_VERSION >= 4
TEST_P(Neighborhoods, LargeCounts) {
  if (form != Form::blocking) GTEST_SKIP() << "of one form";
  Array send(shape(2), elements * blocks);
  Array recv(shape(1), elements * blocks);
  const Backwards out(blocks, n, send);
  const Backwards in(blocks, n, recv);
  const std::vector<MPI_Count> sent(out.counts.begin(), out.counts.end());
  const std::vector<MPI_Count> received(in.counts.begin(), in.counts.end());
  const std::vector<MPI_Aint> from_places(out.bytes.begin(), out.bytes.end());
  const std::vector<MPI_Aint> to_places(in.bytes.begin(), in.bytes.end());
  fill(send, 0);
  MPI_Neighbor_alltoallw_c(out.address, sent.data(), from_places.data(), out.types.data(), in.address, received.data(),
                           to_places.data(), in.types.data(), grid);
  expect_exchanged_backwards(recv, 0);
  fill(send, 1);
  MPI_Request request = MPI_REQUEST_NULL;
  Array again(shape(1), elements * blocks);
  MPI_Ineighbor_alltoall_c(send.data(), n / send.step(), send.type(), again.data(), n / again.step(), again.type(),
                           grid, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_exchanged(again, 1);
}
#endif

/// The MPI has the error of a communicator without a topology.
TEST_P(Neighborhoods, NoTopology) {
  if (form != Form::blocking) GTEST_SKIP() << "of one form";
  if (returns_no_error()) GTEST_SKIP() << "the MPI ends the program in spite of MPI_ERRORS_RETURN";
  MPI_Comm_set_errhandler(world.get(), MPI_ERRORS_RETURN);
  // Open MPI 4.1 calls this one's handler.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int one = rank;
  int other = -1;
  int error_class = MPI_SUCCESS;
  const int code = MPI_Neighbor_alltoall(&one, 1, MPI_INT, &other, 1, MPI_INT, world.get());
  ASSERT_NE(code, MPI_SUCCESS);
  MPI_Error_class(code, &error_class);
  EXPECT_EQ(error_class, MPI_ERR_TOPOLOGY);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Barrier(world.get());
}

INSTANTIATE_TEST_SUITE_P(Forms, Neighborhoods,
                         testing::Combine(testing::Values(Form::blocking, Form::nonblocking, Form::persistent),
                                          testing::Values(0, 2, 30, 5000)));

}  // namespace
}  // namespace tutti::test
