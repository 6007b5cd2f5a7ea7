// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scan.hpp>

#include "mpi/collectives/vector_reductions.hpp"

namespace tutti::test {
namespace {

struct Call {
  static constexpr auto operation = Operation::scan;
  static constexpr bool is_rooted = false;
  static constexpr bool has_avg = false;
  static bool has_result(const Case& /*c*/, int /*root*/) { return true; }
  static int last(const Case& c) { return c.rank; }
  static void run(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    scan(c.comm, send, recv, op, c.options);
  }
  static Request start(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    return iscan(c.comm, send, recv, op, c.options);
  }
  static Request prepare(const Case& c, ConstBuffer send, Buffer recv, const ReduceOp& op, int /*root*/) {
    return scan_init(c.comm, send, recv, op, c.options);
  }
};

template <typename T>
class Scan : public ::testing::Test {};
TYPED_TEST_SUITE(Scan, ReductionTypes);

TYPED_TEST(Scan, GivesTheExactResultInAllForms) { exercise_reduction<Call, TypeParam>(); }

TEST(ScanOrder, UserOperationKeepsRankOrder) { exercise_order<Call>(); }

}  // namespace
}  // namespace tutti::test
