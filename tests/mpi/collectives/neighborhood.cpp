// SPDX-License-Identifier: BSD-3-Clause
// Neighborhood collectives on grids, graphs and distributed graphs.
#include <tutti/collectives/neighborhood.hpp>

#include <algorithm>
#include <array>
#include <functional>

#include "mpi/collectives/movement.hpp"
#include "mpi/collectives/neighborhoods.hpp"

namespace tutti::test {
namespace {

const std::vector<std::size_t> lengths = {0, 1, 7, 1023, 20'011};

/// Calls body(place, count, mode) for all of them, or, with many ranks, for one mode of each place and count by turns.
template <typename Body>
void for_each_neighborhood(const Body& body) {
  std::size_t turn = 0;
  for (const Place& place : places())
    for (const std::size_t count : lengths) {
      ++turn;
      for (const Mode mode : modes) {
        if (!takes_all() && mode != modes[turn % 3]) continue;
        SCOPED_TRACE(place.name + ", count " + std::to_string(count) + ", mode " +
                     std::to_string(static_cast<int>(mode)));
        body(place, count, mode);
      }
    }
}

template <typename T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same<T>);
}

template <typename T>
class NeighborhoodOf : public ::testing::Test {};
TYPED_TEST_SUITE(NeighborhoodOf, MovementTypes);

TYPED_TEST(NeighborhoodOf, Alltoall) {
  using T = TypeParam;
  for_each_neighborhood([](const Place& p, std::size_t count, Mode mode) {
    const int me = p.comm.rank();
    std::vector<T> send(p.destinations * count);
    std::vector<T> recv(p.origins.size() * count);
    exercise(
        mode, [&] { neighbor_alltoall(p.comm, send, recv); }, [&] { return ineighbor_alltoall(p.comm, send, recv); },
        [&] { return neighbor_alltoall_init(p.comm, send, recv); },
        [&](int i) {
          for (std::size_t b = 0; b < p.destinations; ++b) place(send, b * count, block_of<T>(me, b, count, i));
          place(recv, 0, zeros<T>(recv.size()));
        },
        [&](int i) {
          auto expected = zeros<T>(recv.size());
          for (std::size_t b = 0; b < p.origins.size(); ++b)
            if (p.origins[b].rank != proc_null)
              place(expected, b * count, block_of<T>(p.origins[b].rank, p.origins[b].block, count, i));
          EXPECT_TRUE(are_same(recv, expected));
        });
  });
}

TYPED_TEST(NeighborhoodOf, Allgather) {
  using T = TypeParam;
  for_each_neighborhood([](const Place& p, std::size_t count, Mode mode) {
    std::vector<T> send(count);
    std::vector<T> recv(p.origins.size() * count);
    exercise(
        mode, [&] { neighbor_allgather(p.comm, send, recv); }, [&] { return ineighbor_allgather(p.comm, send, recv); },
        [&] { return neighbor_allgather_init(p.comm, send, recv); },
        [&](int i) {
          place(send, 0, block_of<T>(p.comm.rank(), 0, count, i));
          place(recv, 0, zeros<T>(recv.size()));
        },
        [&](int i) {
          auto expected = zeros<T>(recv.size());
          for (std::size_t b = 0; b < p.origins.size(); ++b)
            if (p.origins[b].rank != proc_null) place(expected, b * count, block_of<T>(p.origins[b].rank, 0, count, i));
          EXPECT_TRUE(are_same(recv, expected));
        });
  });
}

/// The elements of a block of a call with counts: some are empty.
std::size_t length_of(std::size_t count, int from, std::size_t block) {
  const std::size_t mixed = static_cast<std::size_t>(from) + 2 * block;
  return mixed % 4 == 1 ? 0 : count / (1 + mixed % 3);
}

Uneven received_blocks(const Place& p, std::size_t count, bool is_gathered) {
  std::vector<std::size_t> counts;
  for (const Origin& o : p.origins)
    counts.push_back(o.rank == proc_null ? 3 : length_of(count, o.rank, is_gathered ? 0 : o.block));
  return uneven(counts);
}

template <typename T>
std::vector<T> expected_blocks(const Place& p, const Uneven& in, bool is_gathered, int i) {
  auto expected = zeros<T>(in.extent);
  for (std::size_t b = 0; b < p.origins.size(); ++b)
    if (p.origins[b].rank != proc_null)
      place(expected, in.displs[b],
            block_of<T>(p.origins[b].rank, is_gathered ? 0 : p.origins[b].block, in.counts[b], i));
  return expected;
}

TEST(Neighborhood, Allgatherv) {
  for_each_neighborhood([](const Place& p, std::size_t count, Mode mode) {
    std::vector<double> send(length_of(count, p.comm.rank(), 0));
    const Uneven in = received_blocks(p, count, true);
    std::vector<double> recv(in.extent);
    exercise(
        mode, [&] { neighbor_allgatherv(p.comm, send, recv, in.counts, in.displs); },
        [&] { return ineighbor_allgatherv(p.comm, send, recv, in.counts, in.displs); },
        [&] { return neighbor_allgatherv_init(p.comm, send, recv, in.counts, in.displs); },
        [&](int i) {
          place(send, 0, block_of<double>(p.comm.rank(), 0, send.size(), i));
          place(recv, 0, zeros<double>(recv.size()));
        },
        [&](int i) { EXPECT_EQ(recv, expected_blocks<double>(p, in, true, i)); });
  });
}

TEST(Neighborhood, Alltoallv) {
  for_each_neighborhood([](const Place& p, std::size_t count, Mode mode) {
    const int me = p.comm.rank();
    std::vector<std::size_t> counts;
    for (std::size_t b = 0; b < p.destinations; ++b) counts.push_back(p.is_sent(b) ? length_of(count, me, b) : 2);
    const Uneven out = uneven(counts);
    const Uneven in = received_blocks(p, count, false);
    std::vector<float> send(out.extent);
    std::vector<float> recv(in.extent);
    exercise(
        mode, [&] { neighbor_alltoallv(p.comm, send, out.counts, out.displs, recv, in.counts, in.displs); },
        [&] { return ineighbor_alltoallv(p.comm, send, out.counts, out.displs, recv, in.counts, in.displs); },
        [&] { return neighbor_alltoallv_init(p.comm, send, out.counts, out.displs, recv, in.counts, in.displs); },
        [&](int i) {
          for (std::size_t b = 0; b < p.destinations; ++b)
            place(send, out.displs[b], block_of<float>(me, b, out.counts[b], i));
          place(recv, 0, zeros<float>(recv.size()));
        },
        [&](int i) { EXPECT_EQ(recv, expected_blocks<float>(p, in, false, i)); });
  });
}

/// The blocks of a call in which ranks describe the same elements in different ways: contiguous, or every third one.
TEST(Neighborhood, AlltoallwWithLayoutsOnEitherSide) {
  constexpr std::ptrdiff_t gap = 3;
  for_each_neighborhood([&](const Place& p, std::size_t count, Mode mode) {
    const int me = p.comm.rank();
    const auto is_laid = [](std::size_t b, int salt) { return (b + static_cast<std::size_t>(salt)) % 2 == 1; };
    const Layout spread = Layout::vector(count, 1, gap);
    const std::size_t room = count * gap;
    std::vector<double> send(p.destinations * room);
    std::vector<double> recv(p.origins.size() * room);
    std::vector<ConstBuffer> out;
    std::vector<Buffer> in;
    for (std::size_t b = 0; b < p.destinations; ++b)
      out.push_back(is_laid(b, me) ? ConstBuffer(send.data() + b * room, spread)
                                   : ConstBuffer(send.data() + b * room, count));
    for (std::size_t b = 0; b < p.origins.size(); ++b)
      in.push_back(is_laid(b / 2, me) ? Buffer(recv.data() + b * room, spread) : Buffer(recv.data() + b * room, count));
    const auto spread_out = [&](std::vector<double>& whole, std::size_t b, bool laid, const std::vector<double>& part) {
      for (std::size_t k = 0; k < part.size(); ++k) whole[b * room + k * (laid ? gap : 1)] = part[k];
    };
    exercise(
        mode, [&] { neighbor_alltoallw(p.comm, out, in); }, [&] { return ineighbor_alltoallw(p.comm, out, in); },
        [&] { return neighbor_alltoallw_init(p.comm, out, in); },
        [&](int i) {
          for (std::size_t b = 0; b < p.destinations; ++b)
            spread_out(send, b, is_laid(b, me), block_of<double>(me, b, count, i));
          std::fill(recv.begin(), recv.end(), 0.0);
        },
        [&](int i) {
          std::vector<double> expected(recv.size());
          for (std::size_t b = 0; b < p.origins.size(); ++b)
            if (p.origins[b].rank != proc_null)
              spread_out(expected, b, is_laid(b / 2, me),
                         block_of<double>(p.origins[b].rank, p.origins[b].block, count, i));
          EXPECT_EQ(recv, expected);
        });
  });
}

/// The cells of a box with a rim, which is a part of a box of all ranks; a cell's value is its number in the whole one.
class Box {
 public:
  static constexpr std::array<std::size_t, 3> own = {4, 3, 5};
  static constexpr std::array<std::size_t, 3> sizes = {own[0] + 2, own[1] + 2, own[2] + 2};

  Box(const std::array<int, 3>& ranks, const std::array<int, 3>& periodic) : ranks_(ranks), periodic_(periodic) {
    MPI_Comm cart = MPI_COMM_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 3, ranks.data(), periodic.data(), 0, &cart);
    MPI_Cart_coords(cart, world_rank(), 3, place_.data());
    comm = Communicator::adopt(cart);
    for (std::size_t d = 0; d < 3; ++d)
      for (const bool up : {false, true}) {
        send.emplace_back(cells.data(), face(d, up ? own[d] : 1));
        recv.emplace_back(cells.data(), face(d, up ? own[d] + 1 : 0));
      }
  }
  void fill(int iteration) {
    for_each_cell([&](const auto& at, std::size_t i) { cells[i] = outside(at) == 0 ? number(at, iteration) : -1; });
  }
  /// Cells beyond a face are the neighbour's; those beyond an edge of the box, and beyond a border, are untouched.
  void check(int iteration) const {
    for_each_cell([&](const auto& at, std::size_t i) {
      const bool is_known = outside(at) == 0 || (outside(at) == 1 && exists(at));
      ASSERT_EQ(cells[i], is_known ? number(at, iteration) : -1) << at[0] << " " << at[1] << " " << at[2];
    });
  }
  std::vector<double> cells = std::vector<double>(sizes[0] * sizes[1] * sizes[2]);
  Communicator comm;
  std::vector<ConstBuffer> send;
  std::vector<Buffer> recv;

 private:
  using Cell = std::array<std::size_t, 3>;

  static Layout face(std::size_t d, std::size_t at) {
    Cell part = own;
    Cell from = {1, 1, 1};
    part[d] = 1;
    from[d] = at;
    return Layout::subarray(sizes, part, from);
  }
  template <typename Act>
  static void for_each_cell(const Act& act) {
    std::size_t i = 0;
    for (std::size_t x = 0; x < sizes[0]; ++x)
      for (std::size_t y = 0; y < sizes[1]; ++y)
        for (std::size_t z = 0; z < sizes[2]; ++z) act(Cell{x, y, z}, i++);
  }
  static bool is_out(const Cell& at, std::size_t d) { return at[d] == 0 || at[d] > own[d]; }
  static int outside(const Cell& at) { return is_out(at, 0) + is_out(at, 1) + is_out(at, 2); }
  [[nodiscard]] bool exists(const Cell& at) const {
    for (std::size_t d = 0; d < 3; ++d) {
      const int rank = place_[d] + (at[d] == 0 ? -1 : at[d] > own[d] ? 1 : 0);
      if (periodic_[d] == 0 && (rank < 0 || rank >= ranks_[d])) return false;
    }
    return true;
  }
  [[nodiscard]] double number(const Cell& at, int iteration) const {
    std::size_t found = 0;
    for (std::size_t d = 0; d < 3; ++d) {
      const std::size_t all = static_cast<std::size_t>(ranks_[d]) * own[d];
      found = found * all + (static_cast<std::size_t>(place_[d]) * own[d] + at[d] - 1 + all) % all;
    }
    return static_cast<double>(found * 4 + static_cast<std::size_t>(iteration));
  }

  std::array<int, 3> ranks_;
  std::array<int, 3> periodic_;
  std::array<int, 3> place_{};
};

TEST(Neighborhood, FacesOfABoxAreLayoutsOfOneArray) {
  const int n = world_size();
  const std::array<int, 3> lines = {n, 1, 1};
  const std::array<int, 3> squares = {2, 1, 2};
  for (const std::array<int, 3>& periodic : {std::array{1, 1, 1}, std::array{0, 1, 0}, std::array{0, 0, 0}})
    for (const Mode mode : modes) {
      Box box(n == 4 ? squares : lines, periodic);
      exercise(
          mode, [&] { neighbor_alltoallw(box.comm, box.send, box.recv); },
          [&] { return ineighbor_alltoallw(box.comm, box.send, box.recv); },
          [&] { return neighbor_alltoallw_init(box.comm, box.send, box.recv); }, [&](int i) { box.fill(i); },
          [&](int i) { box.check(i); });
    }
}

TEST(Neighborhood, IsThatOfMpi) {
  for (const Place& p : places()) {
    const Neighborhood n = neighborhood(p.comm);
    EXPECT_EQ(n.destinations.size(), p.destinations) << p.name;
    ASSERT_EQ(n.sources.size(), p.origins.size()) << p.name;
    for (std::size_t i = 0; i < p.origins.size(); ++i) EXPECT_EQ(n.sources[i], p.origins[i].rank) << p.name;
  }
}

/// Calls that overlap in time meet in the order of their starts.
TEST(Neighborhood, SeveralAreUnderWayAtOnce) {
  const Place& ring = places()[1];
  const int me = ring.comm.rank();
  std::vector<std::vector<double>> send(4, std::vector<double>(2 * 500));
  auto recv = send;
  std::vector<Request> requests;
  for (std::size_t k = 0; k < send.size(); ++k) {
    for (std::size_t b : {0U, 1U}) place(send[k], b * 500, block_of<double>(me, b, 500, static_cast<int>(k)));
    requests.push_back(ineighbor_alltoall(ring.comm, send[k], recv[k]));
  }
  for (std::size_t k = send.size(); k-- > 0;) requests[k].wait();
  for (std::size_t k = 0; k < send.size(); ++k)
    for (std::size_t b : {0U, 1U}) {
      const std::vector<double> got(recv[k].begin() + static_cast<std::ptrdiff_t>(b * 500),
                                    recv[k].begin() + static_cast<std::ptrdiff_t>(b * 500 + 500));
      EXPECT_EQ(got, block_of<double>(ring.origins[b].rank, ring.origins[b].block, 500, static_cast<int>(k)));
    }
}

/// Expects a call to be refused by an error whose text holds a word.
void expect_refused(const std::function<void()>& call, const std::string& word, ErrorCode code) {
  try {
    call();
    ADD_FAILURE() << "not refused: " << word;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
  }
}

TEST(Neighborhood, WrongArgumentsAreRefused) {
  constexpr ErrorCode invalid = ErrorCode::invalid_argument;
  const Communicator& comm = places()[1].comm;
  std::vector<double> send(4);
  std::vector<double> recv(4);
  std::vector<float> narrow(4);
  const std::vector<std::size_t> two = {2, 2};
  const std::vector<std::size_t> apart = {0, 2};
  const std::vector<std::size_t> late = {0, 3};
  const std::vector<std::size_t> negative = {2, static_cast<std::size_t>(-1)};
  expect_refused([&] { neighbor_alltoall(communicators().front(), send, recv); }, "topology", invalid);
  expect_refused([&] { (void)neighborhood(communicators().front()); }, "topology", invalid);
  expect_refused([&] { neighbor_alltoall(comm, ConstBuffer(send, 3), recv); }, "send has 3 elements", invalid);
  expect_refused([&] { neighbor_alltoall(comm, send, Buffer(recv, 3)); }, "recv has 3 elements", invalid);
  expect_refused([&] { neighbor_alltoall(comm, in_place, recv); }, "in_place", invalid);
  expect_refused([&] { neighbor_alltoall(comm, send, send); }, "shares memory", invalid);
  expect_refused([&] { neighbor_alltoall(comm, narrow, recv); }, "datatypes", ErrorCode::invalid_datatype);
  expect_refused([&] { neighbor_alltoall(comm, ConstBuffer(send.data(), Layout::vector(2, 1, 2)), recv); }, "layout",
                 invalid);
  expect_refused([&] { neighbor_alltoallv(comm, send, two, late, recv, two, apart); },
                 "block of neighbour 1 ends at element", invalid);
  expect_refused([&] { neighbor_alltoallv(comm, send, negative, apart, recv, two, apart); },
                 "argument send_counts is -1 for neighbour 1", invalid);
  expect_refused([&] { neighbor_alltoallv(comm, send, two, apart, recv, two, negative); },
                 "argument recv_displs is -1 for neighbour 1", invalid);
  expect_refused([&] { neighbor_allgatherv(comm, ConstBuffer(send, 2), recv, negative, apart); },
                 "argument recv_counts is -1 for neighbour 1", invalid);
  expect_refused([&] { neighbor_alltoallv(comm, send, two, {std::vector{0}}, recv, two, apart); }, "send_displs",
                 invalid);
  expect_refused([&] { neighbor_allgatherv(comm, ConstBuffer(send, 2), recv, two, late); }, "recv has 4", invalid);
  const std::vector<ConstBuffer> one = {send};
  const std::vector<Buffer> both = {Buffer(recv.data(), 2), Buffer(recv.data() + 2, 2)};
  expect_refused([&] { neighbor_alltoallw(comm, one, both); }, "send has 1 buffers", invalid);
  Options device;
  device.memory = MemoryKind::device;
  expect_refused([&] { neighbor_alltoall(comm, send, recv, device); }, "device memory", ErrorCode::not_supported);
  neighbor_alltoall(comm, send, recv);  // all ranks have refused the same, and go on
}

TEST(Neighborhood, UnequalBlocksForOneselfAreRefused) {
  if (world_size() > 1) GTEST_SKIP() << "one rank sends to itself";
  std::vector<double> send(4);
  std::vector<double> recv(4);
  const std::vector<std::size_t> counts = {1, 2};
  const std::vector<std::size_t> displs = {0, 2};
  // The block that goes down comes from above.
  neighbor_alltoallv(places()[1].comm, send, counts, displs, recv, std::vector<std::size_t>{2, 1}, displs);
  expect_refused([&] { neighbor_alltoallv(places()[1].comm, send, counts, displs, recv, counts, displs); },
                 "pass equal blocks", ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace tutti::test
