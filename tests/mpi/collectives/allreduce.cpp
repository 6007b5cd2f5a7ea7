// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <tutti/collectives/allreduce.hpp>

#include "mpi/collectives/reductions.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Allreduce : public ::testing::Test {};
TYPED_TEST_SUITE(Allreduce, ReductionTypes);

template <typename T>
void check(const Case& c, const ReduceOp& op, bool in_place_call) {
  std::vector<T> send;
  std::vector<T> recv(c.count);
  const bool is_result = true;
  const bool in_place_here = in_place_call;
  const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
  exercise(
      c.mode, [&] { allreduce(c.comm, source(), recv, op, c.options); },
      [&] { return iallreduce(c.comm, source(), recv, op, c.options); },
      [&] {
        send.resize(c.count);
        return allreduce_init(c.comm, source(), recv, op, c.options);
      },
      [&](int i) {
        const auto data = contribution<T>(c.rank, c.count, i);
        send.resize(c.count);
        std::copy(data.begin(), data.end(), send.begin());
        if (in_place_here)
          std::copy(data.begin(), data.end(), recv.begin());
        else
          std::fill(recv.begin(), recv.end(), T{});
      },
      [&](int i) {
        if (is_result) expect_equal(recv, expected<T>(op.kind(), 0, c.size - 1, 0, c.count, i, c.size), c, i);
        if (!in_place_here) expect_equal(send, contribution<T>(c.rank, c.count, i), c, i);
      });
}

TYPED_TEST(Allreduce, GivesTheExactResultInAllForms) {
  using T = TypeParam;
  for_each_case(algorithms::Operation::allreduce, [](const Case& c) {
    // The long vectors are for the common types: the combination is the same code for all.
    const bool is_common = std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, bfloat16_t>;
    if (!is_common && c.count > 100) return;
    for (const ReduceOp& op : operations<T>()) {
      if (c.count != 7 && op.kind() != ReduceKind::sum && op.kind() != ReduceKind::minloc) continue;
      for (const bool in_place_call : {false, true}) check<T>(c, op, in_place_call);
    }
  });
}

TEST(AllreduceOrder, UserOperationKeepsRankOrder) {
  for_each_case(algorithms::Operation::allreduce, [](const Case& c) {
    if (c.count > 2000) return;
    {
      std::vector<Interval> send = own_interval(c.rank, c.count);
      std::vector<Interval> recv(c.count);
      const auto from = [&] { return interval_buffer(send); };
      const auto to = [&] { return interval_buffer(recv); };
      exercise(
          c.mode, [&] { allreduce(c.comm, from(), to(), interval_op(), c.options); },
          [&] { return iallreduce(c.comm, from(), to(), interval_op(), c.options); },
          [&] { return allreduce_init(c.comm, from(), to(), interval_op(), c.options); },
          [&](int) { std::fill(recv.begin(), recv.end(), Interval{}); },
          [&](int i) {
            const bool is_result = true;
            if (is_result) expect_equal(recv, std::vector<Interval>(c.count, Interval{0, c.size - 1, 0}), c, i);
          });
    }
  });
}

TEST(AllreduceMinMax, NanGivesTheSameBitsOnAllRanks) {
  for_each_case(algorithms::Operation::allreduce, [](const Case& c) {
    if (c.count == 0 || c.count > 100) return;
    for (const ReduceOp& op : {min, max}) {
      for (int nan_rank = 0; nan_rank < c.size; ++nan_rank) {
        std::vector<float> data(c.count, static_cast<float>(c.rank));
        if (c.rank == nan_rank) data[0] = -std::nanf("17");
        if (c.count > 1) data[1] = c.rank % 2 == 0 ? -0.0F : 0.0F;
        allreduce(c.comm, data, op, c.options);
        std::vector<std::uint32_t> bits(c.count);
        std::memcpy(bits.data(), data.data(), c.count * sizeof(float));
        std::vector<std::uint32_t> all(c.count * static_cast<std::size_t>(c.size));
        allgather(c.comm, bits, all);
        EXPECT_TRUE(std::isnan(data[0])) << c.describe();
        for (std::size_t i = 0; i < all.size(); ++i)
          if (all[i] != bits[i % c.count]) {
            ADD_FAILURE() << c.describe() << ": ranks differ in element " << i % c.count;
            break;
          }
      }
    }
  });
}

TEST(AllreducePremultiplied, EachRankHasItsOwnScalar) {
  for_each_case(algorithms::Operation::allreduce, [](const Case& c) {
    std::vector<double> send(c.count);
    std::vector<double> recv(c.count);
    const ReduceOp op = ReduceOp::premul_sum(0.5 * (c.rank + 1));
    exercise(
        c.mode, [&] { allreduce(c.comm, send, recv, op, c.options); },
        [&] { return iallreduce(c.comm, send, recv, op, c.options); },
        [&] { return allreduce_init(c.comm, send, recv, op, c.options); },
        [&](int i) {
          for (std::size_t k = 0; k < c.count; ++k) send[k] = digit(c.rank, k, i);
        },
        [&](int i) {
          std::vector<double> expected(c.count, 0.0);
          for (std::size_t k = 0; k < c.count; ++k)
            for (int r = 0; r < c.size; ++r) expected[k] += 0.5 * (r + 1) * digit(r, k, i);
          expect_equal(recv, expected, c, i);
        });
  });
}

TEST(AllreduceNarrow, SixteenBitSumsAreRoundedOnce) {
  // 256 + 1 + 1 is 258 in bfloat16's neighbourhood only when the small terms meet before they meet 256.
  for_each_case(algorithms::Operation::allreduce, [](const Case& c) {
    if (c.count == 0) return;
    std::vector<bfloat16_t> data(c.count, bfloat16_t(c.rank == 0 ? 256.0F : 1.0F));
    allreduce(c.comm, data, sum, c.options);
    const bfloat16_t expected(256.0F + static_cast<float>(c.size - 1));
    expect_equal(data, std::vector<bfloat16_t>(c.count, expected), c, 0);
  });
}

TEST(AllreduceReproducible, AllAlgorithmsGiveTheSameBits) {
  const Communicator& comm = communicators().front();
  constexpr std::size_t count = 5'003;
  std::vector<float> reference;
  for (const std::string& algorithm : algorithm_names(algorithms::Operation::allreduce)) {
    Options options;
    options.algorithm = algorithm;
    options.reproducible = true;
    std::vector<float> data(count);
    for (std::size_t i = 0; i < count; ++i)
      data[i] = 1.0F / static_cast<float>(1 + (i * 31 + static_cast<std::size_t>(comm.rank()) * 7919) % 1013);
    try {
      allreduce(comm, data, sum, options);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << e.what();
      continue;
    }
    if (reference.empty()) {
      reference = data;
      // The order is that of the ranks: computed here in the same way.
      std::vector<float> all(count * static_cast<std::size_t>(comm.size()));
      for (int r = 0; r < comm.size(); ++r)
        for (std::size_t i = 0; i < count; ++i)
          all[static_cast<std::size_t>(r) * count + i] =
              1.0F / static_cast<float>(1 + (i * 31 + static_cast<std::size_t>(r) * 7919) % 1013);
      for (std::size_t i = 0; i < count; ++i) {
        float total = all[i];
        for (int r = 1; r < comm.size(); ++r) total += all[static_cast<std::size_t>(r) * count + i];
        ASSERT_EQ(total, data[i]) << i;
      }
    }
    EXPECT_EQ(std::memcmp(reference.data(), data.data(), count * sizeof(float)), 0) << algorithm;
  }
}

}  // namespace
}  // namespace tutti::test
