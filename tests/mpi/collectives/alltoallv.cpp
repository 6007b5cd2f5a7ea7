// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/alltoallv.hpp>

#include "mpi/collectives/movement.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Alltoallv : public ::testing::Test {};
TYPED_TEST_SUITE(Alltoallv, MovementTypes);

/// What rank `from` sends to rank `to`; symmetric where the call is in place, as MPI asks.
std::size_t sent(std::size_t count, int from, int to, bool symmetric) {
  const auto mixed = static_cast<std::size_t>(symmetric ? from + to + from * to : 2 * from + to);
  return mixed % 3 == 1 ? 0 : count / (1 + mixed % 4);
}

Uneven blocks(const Case& c, bool sending, bool symmetric) {
  std::vector<std::size_t> counts;
  for (int r = 0; r < c.size; ++r)
    counts.push_back(sending ? sent(c.count, c.rank, r, symmetric) : sent(c.count, r, c.rank, symmetric));
  return uneven(counts);
}

TYPED_TEST(Alltoallv, MovesEveryElementInAllForms) {
  using T = TypeParam;
  for_each_case<T>(Operation::alltoallv, [](const Case& c) {
    if (!std::is_same_v<T, float> && c.count > 100) return;
    for (const bool in_place_call : c.forms) {
      const Uneven out = blocks(c, true, in_place_call);
      const Uneven in = blocks(c, false, in_place_call);
      std::vector<T> send(out.extent);
      std::vector<T> recv(in.extent);
      const auto source = [&]() -> ConstBuffer { return in_place_call ? ConstBuffer(in_place) : ConstBuffer(send); };
      exercise(
          c.mode, [&] { alltoallv(c.comm, source(), out.counts, out.displs, recv, in.counts, in.displs, c.options); },
          [&] { return ialltoallv(c.comm, source(), out.counts, out.displs, recv, in.counts, in.displs, c.options); },
          [&] {
            return alltoallv_init(c.comm, source(), out.counts, out.displs, recv, in.counts, in.displs, c.options);
          },
          [&](int i) {
            place(recv, 0, zeros<T>(recv.size()));
            for (std::size_t r = 0; r < out.counts.size(); ++r)
              place(in_place_call ? recv : send, out.displs[r], block_of<T>(c.rank, r, out.counts[r], i));
          },
          [&](int i) {
            auto expected = zeros<T>(recv.size());
            for (std::size_t r = 0; r < in.counts.size(); ++r)
              place(expected, in.displs[r],
                    block_of<T>(static_cast<int>(r), static_cast<std::size_t>(c.rank), in.counts[r], i));
            expect_equal(recv, expected, c, i);
          });
    }
  });
}

/// Counts and displacements are integers of any type; a negative one is refused.
TEST(AlltoallvCounts, AreIntegersOfAnyType) {
  const Communicator& comm = communicators().front();
  const auto ranks = static_cast<std::size_t>(comm.size());
  const std::vector<int> counts(ranks, 1);
  std::vector<long> displs(ranks);
  for (std::size_t r = 0; r < ranks; ++r) displs[r] = static_cast<long>(r);
  const std::vector<int> send(ranks, comm.rank());
  std::vector<int> recv(ranks, -1);
  alltoallv(comm, send, counts, displs, recv, std::vector<std::int64_t>(ranks, 1), displs);
  for (std::size_t r = 0; r < ranks; ++r) EXPECT_EQ(recv[r], static_cast<int>(r));
  std::vector<int> wrong = counts;
  wrong[0] = -1;
  EXPECT_THROW(alltoallv(comm, send, wrong, displs, recv, counts, displs), Error);
}

/// A buffer that is longer than needed is taken with an explicit count.
TEST(AlltoallvCounts, LongBuffers) {
  const Communicator& comm = communicators().front();
  const int ranks = comm.size();
  std::vector<int> recv(100, -1);
  const std::vector<int> send(50, comm.rank());
  allgather(comm, ConstBuffer(send, 1), Buffer(recv, ranks));
  for (int r = 0; r < ranks; ++r) EXPECT_EQ(recv[static_cast<std::size_t>(r)], r);
  EXPECT_EQ(recv[static_cast<std::size_t>(ranks)], -1);
  EXPECT_THROW((void)Buffer(recv, 101), Error);
  EXPECT_THROW((void)Buffer(recv, -1), Error);
}

/// Each rank decides for itself whether it exchanges in place, also where a pair has nothing to exchange.
TEST(AlltoallvInPlace, MayDifferBetweenRanks) {
  for_each_case(Operation::alltoallv, [](const Case& c) {
    if (c.count > 100) return;
    const bool in_place_here = c.rank % 2 == 0;
    const Uneven even = blocks(c, true, true);
    std::vector<float> send(even.extent);
    std::vector<float> recv(even.extent);
    const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
    exercise(
        c.mode,
        [&] { alltoallv(c.comm, source(), even.counts, even.displs, recv, even.counts, even.displs, c.options); },
        [&] {
          return ialltoallv(c.comm, source(), even.counts, even.displs, recv, even.counts, even.displs, c.options);
        },
        [&] {
          return alltoallv_init(c.comm, source(), even.counts, even.displs, recv, even.counts, even.displs, c.options);
        },
        [&](int i) {
          place(recv, 0, zeros<float>(recv.size()));
          for (std::size_t r = 0; r < even.counts.size(); ++r)
            place(in_place_here ? recv : send, even.displs[r], block_of<float>(c.rank, r, even.counts[r], i));
        },
        [&](int i) {
          auto expected = zeros<float>(recv.size());
          for (std::size_t r = 0; r < even.counts.size(); ++r)
            place(expected, even.displs[r],
                  block_of<float>(static_cast<int>(r), static_cast<std::size_t>(c.rank), even.counts[r], i));
          expect_equal(recv, expected, c, i);
        });
  });
}

}  // namespace
}  // namespace tutti::test
