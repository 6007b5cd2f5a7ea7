// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <tutti/collectives/allreduce.hpp>

#include "mpi/collectives/vector_reductions.hpp"

namespace tutti::test {
namespace {

struct Call {
  static constexpr auto operation = schedules::Operation::allreduce;
  static constexpr bool is_rooted = false;
  static constexpr bool has_avg = true;
  static bool has_result(const Case& /*c*/, int /*root*/) { return true; }
  static int last(const Case& c) { return c.size - 1; }
  static void run(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    allreduce(c.comm, send, recv, op, c.options);
  }
  static Request start(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    return iallreduce(c.comm, send, recv, op, c.options);
  }
  static Request prepare(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    return allreduce_init(c.comm, send, recv, op, c.options);
  }
};

template <typename T>
class Allreduce : public ::testing::Test {};
TYPED_TEST_SUITE(Allreduce, ReductionTypes);

TYPED_TEST(Allreduce, GivesTheExactResultInAllForms) { exercise_reduction<Call, TypeParam>(); }

TEST(AllreduceOrder, UserOperationKeepsRankOrder) { exercise_order<Call>(); }

TEST(AllreduceMinMax, NanGivesTheSameBitsOnAllRanks) {
  for_each_blocking_case(schedules::Operation::allreduce, [](const Case& c) {
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
  for_each_case(schedules::Operation::allreduce, [](const Case& c) {
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
  for_each_blocking_case(schedules::Operation::allreduce, [](const Case& c) {
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
  for (const std::string& algorithm : algorithm_names(schedules::Operation::allreduce)) {
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
