// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/exscan.hpp>

#include "mpi/collectives/vector_reductions.hpp"

namespace tutti::test {
namespace {

struct Call {
  static constexpr auto operation = Operation::exscan;
  static constexpr bool is_rooted = false;
  static constexpr bool has_avg = false;
  static bool has_result(const Case& c, int /*root*/) { return c.rank > 0; }
  static int last(const Case& c) { return c.rank - 1; }
  static void run(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    exscan(c.comm, send, recv, op, c.options);
  }
  static Request start(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    return iexscan(c.comm, send, recv, op, c.options);
  }
  static Request prepare(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    return exscan_init(c.comm, send, recv, op, c.options);
  }
};

template <typename T>
class Exscan : public ::testing::Test {};
TYPED_TEST_SUITE(Exscan, ReductionTypes);

TYPED_TEST(Exscan, GivesTheExactResultInAllForms) { exercise_reduction<Call, TypeParam>(); }

TEST(ExscanOrder, UserOperationKeepsRankOrder) { exercise_order<Call>(); }

}  // namespace
}  // namespace tutti::test
