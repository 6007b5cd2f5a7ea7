// SPDX-License-Identifier: BSD-3-Clause
// Calls that repeat one before are made by its plan, without its checks: their addresses and options still count. Runs
// without trials, because calls on trial are not repeated so.
#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>

#include "call/context.hpp"
#include "call/known_calls.hpp"
#include "call/plan.hpp"
#include "support/exercise.hpp"

namespace tutti::test {
namespace {

using detail::CallArguments;

constexpr int repetitions = 40;

/// Blocks, with a gap of an element behind each.
struct Lists {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displs;

  void place(bool is_upward) {
    displs.resize(counts.size());
    std::size_t next = 0;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const std::size_t i = is_upward ? k : counts.size() - 1 - k;
      displs[i] = next;
      next += counts[i] + 1;
    }
  }
  [[nodiscard]] std::size_t end() const {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0}) + counts.size();
  }
  /// Makes them those of no call.
  void scribble() {
    std::fill(counts.begin(), counts.end(), 0);
    std::fill(displs.begin(), displs.end(), 0);
  }
};

class Repeats : public ::testing::Test {
 protected:
  [[nodiscard]] int size() const { return comm_.size(); }
  [[nodiscard]] std::size_t ranks() const { return static_cast<std::size_t>(comm_.size()); }
  [[nodiscard]] bool is_root(int root) const { return comm_.rank() == root; }
  /// What rank r contributes to the i-th call.
  [[nodiscard]] static int value(int r, int i) { return 1000 * r + i; }
  [[nodiscard]] int mine(int i) const { return value(comm_.rank(), i); }
  [[nodiscard]] int sum_of_all(int i) const {
    int all = 0;
    for (int r = 0; r < size(); ++r) all += value(r, i);
    return all;
  }
  [[nodiscard]] bool knows(Operation operation, const ConstBuffer& send, const Buffer& recv,
                           detail::CallKind kind = detail::CallKind::blocking,
                           const detail::BlockLists& lists = {}) const {
    return comm_.state()->repeats.find({operation, kind, send, recv, MemoryKind::detect, ReduceKind::sum, 0}, lists) !=
           nullptr;
  }
  /// The elements that two ranks give each other in the i-th call. Each rank's sum is the same in all calls.
  [[nodiscard]] std::size_t between(int a, int b, int i) const {
    return 1 + static_cast<std::size_t>((a + b + i) % size());
  }
  [[nodiscard]] Lists lists_of(int rank, int i) const {
    Lists lists;
    for (int r = 0; r < size(); ++r) lists.counts.push_back(between(rank, r, i));
    lists.place(i % 2 == 0);
    return lists;
  }
  /// Blocks in which rank `rank` has the same number in all elements for each other rank.
  [[nodiscard]] std::vector<int> blocks_of(const Lists& lists, const std::function<int(int)>& number) const {
    std::vector<int> blocks(lists.end(), -1);
    for (std::size_t r = 0; r < ranks(); ++r)
      std::fill_n(blocks.begin() + static_cast<std::ptrdiff_t>(lists.displs[r]), lists.counts[r],
                  number(static_cast<int>(r)));
    return blocks;
  }
  static void expect_error(std::string_view part, const std::function<void()>& call) {
    std::string said = "no error";
    try {
      call();
    } catch (const Error& e) {
      said = e.what();
    }
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }

  Communicator comm_ = Communicator::duplicate(MPI_COMM_WORLD);
};

TEST_F(Repeats, TakeTheAddressesOfEachCall) {
  std::vector<int> in(2);
  std::vector<int> out(2);
  for (int i = 0; i < repetitions; ++i) {
    const auto at = static_cast<std::size_t>(i % 2);
    in = {-1, -1};
    out = {-1, -1};
    in[at] = mine(i);
    allreduce(comm_, std::span(in).subspan(at, 1), std::span(out).subspan(1 - at, 1), sum);
    ASSERT_EQ(out[1 - at], sum_of_all(i)) << i;
    ASSERT_EQ(out[at], -1) << i;
  }
  EXPECT_TRUE(knows(Operation::allreduce, std::span(in).first(1), std::span(out).first(1)));
}

TEST_F(Repeats, InPlaceWorkOnTheirOwnBlock) {
  std::vector<int> a(ranks());
  std::vector<int> b(ranks());
  const auto me = static_cast<std::size_t>(comm_.rank());
  for (int i = 0; i < repetitions; ++i) {
    std::vector<int>& blocks = i % 2 == 0 ? a : b;
    blocks[me] = mine(i);
    allgather(comm_, in_place, blocks);
    for (int r = 0; r < size(); ++r) ASSERT_EQ(blocks[static_cast<std::size_t>(r)], value(r, i)) << i;
    int total = mine(i);
    allreduce(comm_, in_place, Buffer(&total, 1), sum);
    ASSERT_EQ(total, sum_of_all(i)) << i;
    // The root's block stays where it is.
    for (int r = 0; r < size(); ++r) blocks[static_cast<std::size_t>(r)] = value(r, i) + 1;
    int block = -1;
    if (is_root(0))
      scatter(comm_, blocks, in_place, 0);
    else
      scatter(comm_, ConstBuffer{}, Buffer(&block, 1), 0);
    ASSERT_EQ(is_root(0) ? blocks[0] : block, mine(i) + 1) << i;
  }
}

TEST_F(Repeats, OfEachOperationMoveTheirOwnData) {
  for (int i = 0; i < repetitions; ++i) {
    const int root = i / 4 % size();
    int x = is_root(root) ? mine(i) : -1;
    bcast(comm_, Buffer(&x, 1), root);
    ASSERT_EQ(x, value(root, i)) << i;
    int total = -1;
    const int given = mine(i);
    reduce(comm_, ConstBuffer(&given, 1), is_root(root) ? Buffer(&total, 1) : Buffer{}, sum, root);
    ASSERT_EQ(total, is_root(root) ? sum_of_all(i) : -1) << i;
    std::vector<int> all(ranks(), -1);
    gather(comm_, ConstBuffer(&given, 1), is_root(root) ? Buffer(all) : Buffer{}, root);
    for (int r = 0; r < size(); ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], is_root(root) ? value(r, i) : -1);
    std::vector<int> out(ranks());
    for (int r = 0; r < size(); ++r) out[static_cast<std::size_t>(r)] = mine(i) + 7 * r;
    alltoall(comm_, out, all);
    for (int r = 0; r < size(); ++r) ASSERT_EQ(all[static_cast<std::size_t>(r)], value(r, i) + 7 * comm_.rank()) << i;
    int part = -1;
    reduce_scatter_block(comm_, out, Buffer(&part, 1), sum);
    ASSERT_EQ(part, sum_of_all(i) + 7 * comm_.rank() * size()) << i;
    int before = 0;
    for (int r = 0; r < comm_.rank(); ++r) before += value(r, i);
    scan(comm_, ConstBuffer(&given, 1), Buffer(&part, 1), sum);
    ASSERT_EQ(part, before + given) << i;
    exscan(comm_, ConstBuffer(&given, 1), Buffer(&part, 1), sum);
    ASSERT_EQ(part, comm_.rank() == 0 ? value(0, i) : before) << "rank 0 has no result: " << i;
    barrier(comm_);
  }
}

TEST_F(Repeats, MayBeNonblocking) {
  std::vector<int> given(2);
  std::vector<int> got(2, -1);
  for (int i = 0; i < repetitions; ++i) {
    // Two calls under way, and a blocking one of the same arguments between them.
    given = {mine(i), mine(i) + 1};
    int total = -1;
    Request first = iallreduce(comm_, std::span(given).first(1), std::span(got).first(1), sum);
    allreduce(comm_, std::span(given).first(1), Buffer(&total, 1), sum);
    Request second = iallreduce(comm_, std::span(given).last(1), std::span(got).last(1), sum);
    second.wait();
    first.wait();
    ASSERT_EQ(got, (std::vector<int>{sum_of_all(i), sum_of_all(i) + size()})) << i;
    ASSERT_EQ(total, sum_of_all(i)) << i;
  }
  const auto one = std::span(given).first(1);
  EXPECT_TRUE(knows(Operation::allreduce, one, std::span(got).first(1), detail::CallKind::nonblocking));
}

// The operation, the type and the root decide, too, not only the counts.
TEST_F(Repeats, AreOfTheSameArguments) {
  for (int i = 0; i < repetitions; ++i) {
    const int given = mine(i);
    int got = -1;
    allreduce(comm_, ConstBuffer(&given, 1), Buffer(&got, 1), i % 2 == 0 ? sum : max);
    ASSERT_EQ(got, i % 2 == 0 ? sum_of_all(i) : value(size() - 1, i)) << i;
    const float as_float = static_cast<float>(given);
    float float_got = 0;
    allreduce(comm_, ConstBuffer(&as_float, 1), Buffer(&float_got, 1), sum);
    ASSERT_EQ(float_got, static_cast<float>(sum_of_all(i))) << i;
    const auto twice = ReduceOp::premul_sum(i % 2 == 0 ? 2.0 : 3.0);
    allreduce(comm_, ConstBuffer(&as_float, 1), Buffer(&float_got, 1), twice);
    ASSERT_EQ(float_got, static_cast<float>(sum_of_all(i)) * (i % 2 == 0 ? 2.0F : 3.0F)) << i;
  }
}

TEST_F(Repeats, AreKept) {
  int given = 1;
  int got = 0;
  const ConstBuffer send(&given, 1);
  const Buffer recv(&got, 1);
  EXPECT_FALSE(knows(Operation::exscan, send, recv));
  exscan(comm_, send, recv, sum);
  EXPECT_TRUE(knows(Operation::exscan, send, recv));
  EXPECT_FALSE(knows(Operation::scan, send, recv));
  comm_.state()->forget_plans();
  EXPECT_FALSE(knows(Operation::exscan, send, recv));
}

// The lists of two calls differ where all other arguments are equal; a program may change its lists after a call.
TEST_F(Repeats, OfCountsAreOfTheSameLists) {
  const int me = comm_.rank();
  for (int i = 0; i < repetitions; ++i) {
    Lists lists = lists_of(me, i);
    const std::vector<int> given = blocks_of(lists, [&](int to) { return mine(i) + 7 * to; });
    const std::vector<int> expected = blocks_of(lists, [&](int from) { return value(from, i) + 7 * me; });
    std::vector<int> got(lists.end(), -1);
    alltoallv(comm_, given, lists.counts, lists.displs, got, lists.counts, lists.displs);
    ASSERT_EQ(got, expected) << i;
    got = given;
    alltoallv(comm_, in_place, {}, {}, got, lists.counts, lists.displs);
    ASSERT_EQ(got, expected) << i;
    got.assign(lists.end(), -1);
    scatterv(comm_, given, lists.counts, lists.displs, std::span(got).first(between(0, me, i)), 0);
    ASSERT_EQ(got[0], value(0, i) + 7 * me) << i;
    got.assign(lists.end(), -1);
    gatherv(comm_, std::span(given).subspan(lists.displs[0], lists.counts[0]), got, lists.counts, lists.displs, 0);
    if (is_root(0)) {
      ASSERT_EQ(got, expected) << i;
    }
    lists.scribble();
  }
}

TEST_F(Repeats, OfCountsThatAllRanksKnowAreOfTheSameLists) {
  for (int i = 0; i < repetitions; ++i) {
    Lists lists = lists_of(0, i);
    const std::size_t own = lists.counts[static_cast<std::size_t>(comm_.rank())];
    const std::vector<int> given(own, mine(i));
    std::vector<int> got(lists.end(), -1);
    allgatherv(comm_, given, got, lists.counts, lists.displs);
    ASSERT_EQ(got, blocks_of(lists, [&](int from) { return value(from, i); })) << i;
    const std::vector<int> all(lists.end() - ranks(), mine(i));
    std::vector<int> part(own, -1);
    reduce_scatter(comm_, all, part, lists.counts, sum);
    ASSERT_EQ(part, std::vector<int>(own, sum_of_all(i))) << i;
    lists.scribble();
  }
}

// Their lists may end before they do.
TEST_F(Repeats, OfCountsMayBeNonblocking) {
  constexpr std::size_t length = 9000;  // more than a start can move alone
  for (int i = 0; i < repetitions; ++i) {
    Lists lists = lists_of(comm_.rank(), i);
    for (std::size_t& count : lists.counts) count *= length;
    lists.place(i % 2 == 0);
    const std::vector<int> given = blocks_of(lists, [&](int to) { return mine(i) + 7 * to; });
    const std::vector<int> expected = blocks_of(lists, [&](int from) { return value(from, i) + 7 * comm_.rank(); });
    std::vector<int> got(lists.end(), -1);
    Request request = ialltoallv(comm_, given, lists.counts, lists.displs, got, lists.counts, lists.displs);
    lists.scribble();
    request.wait();
    ASSERT_EQ(got, expected) << i;
  }
}

TEST_F(Repeats, OfCountsAreKept) {
  Lists lists = lists_of(comm_.rank(), 0);
  const std::vector<int> given(lists.end());
  std::vector<int> got(lists.end());
  const auto knows_lists = [&](const Lists& of) {
    const detail::BlockLists all{of.counts, of.displs, of.counts, of.displs};
    return knows(Operation::alltoallv, given, got, detail::CallKind::blocking, all);
  };
  alltoallv(comm_, given, lists.counts, lists.displs, got, lists.counts, lists.displs);
  lists.scribble();
  EXPECT_TRUE(knows_lists(lists_of(comm_.rank(), 0)));
  EXPECT_FALSE(knows_lists(lists));
}

// Local errors: no other rank makes these calls, on a communicator of its own.
TEST_F(Repeats, AreRefusedForTheirAddresses) {
  const Communicator self = Communicator::duplicate(MPI_COMM_SELF);
  std::vector<int> data(4, 3);
  std::vector<int> result(4);
  const auto sum_up = [&](const void* from, void* to) {
    allreduce(self, ConstBuffer(from, 4, DatatypeKind::int32), Buffer(to, 4, DatatypeKind::int32), sum);
  };
  for (int i = 0; i < 3; ++i) sum_up(data.data(), result.data());
  EXPECT_EQ(result, data);
  expect_error("argument send", [&] { sum_up(nullptr, result.data()); });
  expect_error("argument recv", [&] { sum_up(data.data(), nullptr); });
  expect_error("same address", [&] { sum_up(data.data(), data.data()); });
  expect_error("argument recv", [&] { sum_up(data.data(), MPI_IN_PLACE); });
  sum_up(MPI_IN_PLACE, data.data());
  EXPECT_EQ(data, std::vector<int>(4, 3));
}

TEST_F(Repeats, ListenToTheirOptions) {
  const int given = mine(0);
  int got = -1;
  const auto call = [&](const Options& options) {
    allreduce(comm_, ConstBuffer(&given, 1), Buffer(&got, 1), sum, options);
  };
  for (int i = 0; i < 3; ++i) call({});
  expect_error("nobody", [&] { call({.algorithm = "nobody"}); });
  expect_error("timeout", [&] { call({.timeout = std::chrono::seconds(-1)}); });
  call({.reproducible = true});
  EXPECT_EQ(got, sum_of_all(0));
}

TEST_F(Repeats, EndWithTheirCommunicator) {
  const int given = mine(0);
  int got = -1;
  const auto call = [&] { allreduce(comm_, ConstBuffer(&given, 1), Buffer(&got, 1), sum); };
  for (int i = 0; i < 3; ++i) call();
  MPI_Barrier(MPI_COMM_WORLD);
  comm_.abort("the test is over");
  expect_error("the test is over", call);
}

}  // namespace
}  // namespace tutti::test
