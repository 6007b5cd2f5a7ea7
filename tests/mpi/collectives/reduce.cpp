// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce.hpp>

#include "mpi/collectives/vector_reductions.hpp"

namespace tutti::test {
namespace {

struct Call {
  static constexpr auto operation = Operation::reduce;
  static constexpr bool is_rooted = true;
  static constexpr bool has_avg = true;
  static bool has_result(const Case& c, int root) { return c.rank == root; }
  static int last(const Case& c) { return c.size - 1; }
  static void run(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int root) {
    reduce(c.comm, send, recv, op, root, c.options);
  }
  static Request start(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int root) {
    return ireduce(c.comm, send, recv, op, root, c.options);
  }
  static Request prepare(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int root) {
    return reduce_init(c.comm, send, recv, op, root, c.options);
  }
};

template <typename T>
class Reduce : public ::testing::Test {};
TYPED_TEST_SUITE(Reduce, ReductionTypes);

TYPED_TEST(Reduce, GivesTheExactResultInAllForms) { exercise_reduction<Call, TypeParam>(); }

TEST(ReduceOrder, UserOperationKeepsRankOrder) { exercise_order<Call>(); }

}  // namespace
}  // namespace tutti::test
