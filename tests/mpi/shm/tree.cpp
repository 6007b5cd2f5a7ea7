// SPDX-License-Identifier: BSD-3-Clause
// The protocol `tree` on machines of several shapes: every type and operation, root, form and part of the ranks.
#include <chrono>
#include <thread>

#include "mpi/shm/forced.hpp"
#include "mpi/shm/grouped.hpp"

namespace tutti::test {
namespace {

using detail::shm::Groups;
using detail::shm::line_bytes;

Options by_tree() { return {.algorithm = "shm:tree"}; }

/// Calls body(comm) for every communicator of several ranks and every shape of machine.
template <typename Body>
void for_each_shape(const Body& body) {
  for (const Communicator& comm : communicators()) {
    if (comm.size() == 1) continue;
    for (const Groups& groups : groups_to_try(comm.size())) {
      const Grouped grouped(comm, groups);
      body(comm);
    }
  }
}

/// With more than two ranks only two calls of seven are made, because calls of more ranks than cores are slow. No
/// number of ranks, lengths or shapes is a multiple of seven, so each meets each of the others.
bool is_left_out(int turn) { return !takes_all() && turn % 7 >= 2; }

/// One element, a full line and one more, and the most that the tree combines.
template <typename T>
std::vector<std::size_t> counts() {
  return {0, 1, line_bytes / sizeof(T), line_bytes / sizeof(T) + 1, detail::shm::most_combined_block / sizeof(T)};
}

template <typename T>
bool is_rounded_once(ReduceKind op) {
  return is_narrow<T> && (op == ReduceKind::sum || op == ReduceKind::prod || op == ReduceKind::avg);
}

template <typename T>
class Tree : public ::testing::Test {};
TYPED_TEST_SUITE(Tree, ReductionTypes);

template <typename T>
bool is_skipped(ReduceKind op, int turn) {
  return is_rounded_once<T>(op) || is_left_out(turn);
}

TYPED_TEST(Tree, AllreducesInPlaceAndNot) {
  using T = TypeParam;
  for_each_shape([](const Communicator& comm) { allreduce_by<T>(by_tree(), comm, counts<T>(), is_skipped<T>); });
}

TYPED_TEST(Tree, ReducesToEveryRoot) {
  using T = TypeParam;
  for_each_shape([](const Communicator& comm) { reduce_by<T>(by_tree(), comm, counts<T>(), is_skipped<T>); });
}

TYPED_TEST(Tree, BroadcastsFromEveryRoot) {
  using T = TypeParam;
  for_each_shape([](const Communicator& comm) {
    for (const std::size_t count : counts<T>())
      for (int root = 0; root < comm.size(); ++root) {
        const Case c{comm, by_tree(), count, Mode::blocking, comm.rank(), comm.size()};
        std::vector<T> data = contribution<T>(comm.rank(), count, root);
        bcast(comm, data, root, c.options);
        expect_equal(data, contribution<T>(root, count, root), c, root);
      }
  });
}

/// Seconds of the node's clock.
double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

TEST(TreeBarrier, NobodyLeavesBeforeTheLastHasArrived) {
  for_each_shape([](const Communicator& comm) {
    const Options forced = by_tree();
    for (int late = 0; late < comm.size(); ++late) {
      double arrived = now();
      if (comm.rank() == late) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        arrived = now();
      }
      barrier(comm, forced);
      const double left = now();
      std::vector<double> last{arrived};
      allreduce(comm, last, max, {.algorithm = "shm:line"});
      EXPECT_GE(left, last[0]) << "rank " << comm.rank() << " left before rank " << late << " had come";
    }
  });
}

/// Cells are used again, by trees with other roots and by other protocols, while other calls are under way.
TEST(TreeOrder, CallsOfAllKindsFollowOneAnother) {
  for_each_shape([](const Communicator& comm) {
    const Options forced = by_tree();
    for (int i = 0; i < 50; ++i) {
      const int root = i % comm.size();
      std::vector<int> late{comm.rank() + i};
      std::vector<int> total{0};
      Request request = iallreduce(comm, late, total, sum);
      std::vector<int> data{comm.rank() == root ? i : -1};
      bcast(comm, data, root, forced);
      EXPECT_EQ(data[0], i);
      std::vector<int> ones(300, 1);
      allreduce(comm, ones, sum, i % 3 == 0 ? Options{} : forced);
      EXPECT_EQ(ones, std::vector<int>(300, comm.size()));
      request.wait();
      EXPECT_EQ(total[0], comm.size() * (comm.size() - 1) / 2 + comm.size() * i);
    }
  });
}

TEST(TreeScale, EachRankHasItsOwnFactor) {
  for_each_shape([](const Communicator& comm) {
    std::vector<double> data(9, 2.0);
    allreduce(comm, data, ReduceOp::premul_sum(comm.rank() + 1.0), by_tree());
    EXPECT_EQ(data, std::vector<double>(9, comm.size() * (comm.size() + 1.0)));
  });
}

/// Sums that depend on their order, but not on the rank that has them.
TEST(TreeSum, AllRanksHaveTheSameBits) {
  for_each_shape([](const Communicator& comm) {
    std::vector<float> data(100);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = 1.0F / static_cast<float>(3 + (i * 31 + static_cast<std::size_t>(comm.rank()) * 17) % 101);
    allreduce(comm, data, sum, by_tree());
    std::vector<float> of_first = data;
    bcast(comm, of_first, 0);
    EXPECT_EQ(std::memcmp(data.data(), of_first.data(), data.size() * sizeof(float)), 0);
  });
}

TEST(TreeRules, WhatItMustNotCombineIsRefused) {
  const Communicator& comm = communicators().front();
  if (comm.size() == 1) GTEST_SKIP() << "needs 2 ranks";
  const auto refuses = [](const auto& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.code() == ErrorCode::invalid_algorithm;
    }
    return false;
  };
  std::vector<bfloat16_t> narrow(3);
  EXPECT_TRUE(refuses([&] { allreduce(comm, narrow, sum, by_tree()); })) << "one rounding";
  std::vector<float> data(3);
  std::vector<float> result(3);
  Options exact = by_tree();
  exact.reproducible = true;
  EXPECT_TRUE(refuses([&] { allreduce(comm, data, sum, exact); })) << "one order for all shapes";
  EXPECT_EQ(refuses([&] { iallreduce(comm, data, result, sum, by_tree()).wait(); }),
            !comm.state()->machine().progress_hook)
      << "a leader may be away, but for where it goes on inside the MPI";
  std::vector<Interval> intervals = own_interval(comm.rank(), 2);
  std::vector<Interval> joined(2);
  EXPECT_TRUE(refuses([&] {
    allreduce(comm, interval_buffer(intervals), interval_buffer(joined), interval_op(), by_tree());
  })) << "rank order";
  std::vector<float> much(1000);
  EXPECT_TRUE(refuses([&] { allreduce(comm, much, sum, by_tree()); })) << "too long";
}

}  // namespace
}  // namespace tutti::test
