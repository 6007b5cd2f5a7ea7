// SPDX-License-Identifier: BSD-3-Clause
// The protocol `parts`: every type and operation, root and form, at lengths about those of a window.
#include "backends/shm/parts.hpp"

#include <unistd.h>

#include "mpi/shm/forced.hpp"

namespace tutti::test {
namespace {

Options by_parts() { return {.algorithm = "shm:parts"}; }

template <typename Body>
void for_each_group(const Body& body) {
  for (const Communicator& comm : communicators())
    if (comm.size() > 1) body(comm);
}

/// The elements of a window.
template <typename T>
std::size_t window(const Communicator& comm) {
  return detail::shm::Parts::share_of(sizeof(T), comm.size()) / sizeof(T) * static_cast<std::size_t>(comm.size());
}

/// Nothing, fewer elements than ranks, and a last window that is full, has one element, or lacks one; more windows than
/// a slot holds.
template <typename T>
std::vector<std::size_t> counts(const Communicator& comm) {
  const std::size_t whole = window<T>(comm);
  return {0, 1, static_cast<std::size_t>(comm.size()) + 1, whole - 1, whole, whole + 1, 5 * whole + 3};
}

/// Three calls of seven where there are more ranks than most machines have cores.
bool is_left_out(ReduceKind /*op*/, int turn) { return !takes_all() && turn % 7 >= 3; }

template <typename T>
class Parts : public ::testing::Test {};
TYPED_TEST_SUITE(Parts, ReductionTypes);

TYPED_TEST(Parts, AllreducesInPlaceAndNot) {
  using T = TypeParam;
  for_each_group([](const Communicator& comm) { allreduce_by<T>(by_parts(), comm, counts<T>(comm), is_left_out); });
}

TYPED_TEST(Parts, ReducesToEveryRoot) {
  using T = TypeParam;
  for_each_group([](const Communicator& comm) { reduce_by<T>(by_parts(), comm, counts<T>(comm), is_left_out); });
}

/// Longer than a core's caches: the result is copied past them, to addresses of every kind.
TEST(PartsLength, ResultsBeyondTheCachesAreWhole) {
  const long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const std::size_t count = static_cast<std::size_t>(cache > 0 ? cache : 1L << 20) / sizeof(float) + 12'345;
  for_each_group([&](const Communicator& comm) {
    for (const std::size_t shift : {0, 1, 13}) {
      std::vector<float> data(count + shift);
      std::vector<float> result(count + shift, -1.0F);
      for (std::size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<float>((i * 7 + i / 1000) % 1001) + static_cast<float>(comm.rank());
      allreduce(comm, std::span(data).subspan(shift), std::span(result).subspan(shift), sum, by_parts());
      const int ranks = comm.size();
      std::size_t wrong = 0;
      for (std::size_t i = shift; i < data.size(); ++i) {
        const float own = static_cast<float>((i * 7 + i / 1000) % 1001);
        if (result[i] != own * static_cast<float>(ranks) + static_cast<float>(ranks * (ranks - 1) / 2)) ++wrong;
      }
      EXPECT_EQ(wrong, 0U) << "shift " << shift;
      for (std::size_t i = 0; i < shift; ++i) EXPECT_EQ(result[i], -1.0F) << "before the buffer";
    }
  });
}

/// Cells are used again, by other protocols and other roots, and nobody waits for a rank that only gives.
TEST(PartsOrder, CallsOfAllKindsFollowOneAnother) {
  for_each_group([](const Communicator& comm) {
    const std::size_t count = window<int>(comm) * 3 + 5;
    for (int i = 0; i < 40; ++i) {
      std::vector<int> data(count, comm.rank() + i);
      const int total = comm.size() * (comm.size() - 1) / 2 + comm.size() * i;
      std::vector<int> result(count);
      reduce(comm, data, result, sum, i % comm.size(), i % 3 == 0 ? Options{.algorithm = "shm:slots"} : by_parts());
      if (comm.rank() == i % comm.size()) {
        EXPECT_EQ(result, std::vector<int>(count, total));
      }
      allreduce(comm, data, sum, by_parts());
      EXPECT_EQ(data, std::vector<int>(count, total));
    }
  });
}

TEST(PartsOrder, WhatDoesNotCommuteIsCombinedInRankOrder) {
  for_each_group([](const Communicator& comm) {
    const std::size_t count = window<Interval>(comm) + 7;
    std::vector<Interval> intervals = own_interval(comm.rank(), count);
    std::vector<Interval> joined(count);
    allreduce(comm, interval_buffer(intervals), interval_buffer(joined), interval_op(), by_parts());
    std::vector<Interval> reference(count);
    allreduce(comm, interval_buffer(intervals), interval_buffer(reference), interval_op(), {.algorithm = "shm:slots"});
    EXPECT_EQ(std::memcmp(joined.data(), reference.data(), count * sizeof(Interval)), 0);
  });
}

TEST(PartsScale, EachRankHasItsOwnFactor) {
  for_each_group([](const Communicator& comm) {
    std::vector<double> data(5000, 2.0);
    allreduce(comm, data, ReduceOp::premul_sum(comm.rank() + 1.0), by_parts());
    EXPECT_EQ(data, std::vector<double>(5000, comm.size() * (comm.size() + 1.0)));
  });
}

/// Sums that depend on their order: in rank order on every rank, whatever the protocol.
TEST(PartsSum, TheBitsAreThoseOfSlots) {
  for_each_group([](const Communicator& comm) {
    std::vector<float> data(20'011);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = 1.0F / static_cast<float>(3 + (i * 31 + static_cast<std::size_t>(comm.rank()) * 17) % 101);
    std::vector<float> by_slots = data;
    Options exact = by_parts();
    exact.reproducible = true;
    allreduce(comm, data, sum, exact);
    allreduce(comm, by_slots, sum, {.algorithm = "shm:slots"});
    EXPECT_EQ(std::memcmp(data.data(), by_slots.data(), data.size() * sizeof(float)), 0);
  });
}

TEST(PartsRules, WhatMustGoOnAloneIsRefused) {
  const Communicator& comm = communicators().front();
  if (comm.size() == 1) GTEST_SKIP() << "needs 2 ranks";
  std::vector<float> data(3);
  std::vector<float> result(3);
  try {
    iallreduce(comm, data, result, sum, by_parts()).wait();
    FAIL() << "a rank that combines may be away";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << e.what();
  }
}

}  // namespace
}  // namespace tutti::test
