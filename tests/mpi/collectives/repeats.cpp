// SPDX-License-Identifier: BSD-3-Clause
// Calls that repeat one before are made by its plan, without its checks: their addresses and options still count. Runs
// without trials, because calls on trial are not repeated so.
#include <functional>
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
                           detail::CallKind kind = detail::CallKind::blocking) const {
    return comm_.state()->repeats.find({operation, kind, send, recv, MemoryKind::detect, ReduceKind::sum, 0}) !=
           nullptr;
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
