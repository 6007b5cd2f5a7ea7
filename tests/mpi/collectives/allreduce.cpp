// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cmath>
#include <memory>
#include <tutti/collectives/allreduce.hpp>

#include "mpi/collectives/vector_reductions.hpp"

namespace tutti::test {
namespace {

struct Call {
  static constexpr auto operation = Operation::allreduce;
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
  for_each_blocking_case(Operation::allreduce, [](const Case& c) {
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

enum class Stage : std::int16_t { none = 0, begun = 1, done = 2 };

TEST(AllreduceScalar, ReturnsTheResult) {
  const Communicator& comm = communicators().front();
  const int rank = comm.rank();
  const int size = comm.size();
  const int triangle = size * (size - 1) / 2;
  EXPECT_EQ(allreduce(comm, rank, sum), triangle);
  EXPECT_EQ(allreduce(comm, 0.5 * rank, sum), 0.5 * triangle);
  EXPECT_EQ(allreduce(comm, std::complex<double>(rank, 1), sum), std::complex<double>(triangle, size));
  EXPECT_EQ(allreduce(comm, rank == size - 1, lor), true);
  EXPECT_EQ(allreduce(comm, rank == size, lor), false);
  EXPECT_EQ(allreduce(comm, true, land), true);
  EXPECT_EQ(allreduce(comm, rank != 0, land), false);
  EXPECT_EQ(allreduce(comm, true, lxor), size % 2 == 1);
  EXPECT_EQ(allreduce(comm, rank == 0 ? Stage::done : Stage::begun, max), Stage::done);
  EXPECT_EQ(allreduce(comm, Int32Int32{5, rank}, minloc), (Int32Int32{5, 0}));
  EXPECT_THROW((void)allreduce(comm, true, sum), Error);
}

/// Logical results are 0 or 1 whatever the inputs were, so that a bool stays one.
TEST(AllreduceScalar, BooleansOfBuffers) {
  for_each_blocking_case(Operation::allreduce, [](const Case& c) {
    if (c.count > 100) return;
    for (const ReduceOp& op : {land, lor, lxor}) {
      const auto flags = std::make_unique<bool[]>(c.count + 1);
      for (std::size_t i = 0; i < c.count; ++i) flags[i] = (static_cast<std::size_t>(c.rank) + i) % 2 == 0;
      allreduce(c.comm, flags.get(), c.count, op, c.options);
      for (std::size_t i = 0; i < c.count; ++i) {
        int true_ones = 0;
        for (int r = 0; r < c.size; ++r) true_ones += (static_cast<std::size_t>(r) + i) % 2 == 0 ? 1 : 0;
        const int expected = op.kind() == ReduceKind::land  ? true_ones == c.size
                             : op.kind() == ReduceKind::lor ? true_ones > 0
                                                            : true_ones % 2;
        unsigned char byte = 0xFF;
        std::memcpy(&byte, &flags[i], 1);
        EXPECT_EQ(static_cast<int>(byte), expected) << c.describe() << ": element " << i;
      }
    }
  });
}

TEST(AllreduceInPlace, TakesTheHostsConstant) {
  const Communicator& comm = communicators().front();
  const std::vector<int> expected(3, comm.size());
  std::vector<int> x(3, 1);
  allreduce(comm, MPI_IN_PLACE, x, sum);
  EXPECT_EQ(x, expected);
  x.assign(3, 1);
  allreduce(comm, ConstBuffer(MPI_IN_PLACE, 3, DatatypeKind::int32), x, sum);
  EXPECT_EQ(x, expected);
  EXPECT_THROW(allreduce(comm, static_cast<void*>(x.data()), x, sum), Error);
  EXPECT_THROW(allreduce(comm, x, MPI_IN_PLACE, sum), Error);
}

/// Arrays as elements are combined scalar by scalar.
TEST(AllreduceElements, ArraysAreTheirScalars) {
  const Communicator& comm = communicators().front();
  std::vector<std::array<double, 3>> x(4, {1.0, 2.0, static_cast<double>(comm.rank())});
  allreduce(comm, x, sum);
  const double size = comm.size();
  for (const auto& row : x) EXPECT_EQ(row, (std::array<double, 3>{size, 2 * size, size * (size - 1) / 2}));
}

TEST(AllreducePremultiplied, EachRankHasItsOwnScalar) {
  for_each_case(Operation::allreduce, [](const Case& c) {
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
  for_each_blocking_case(Operation::allreduce, [](const Case& c) {
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
  for (const std::string& algorithm : algorithm_names(Operation::allreduce)) {
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
