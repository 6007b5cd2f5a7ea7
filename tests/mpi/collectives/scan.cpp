// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/scan.hpp>

#include "mpi/collectives/reductions.hpp"

namespace tutti::test {
namespace {

template <typename T>
class Scan : public ::testing::Test {};
TYPED_TEST_SUITE(Scan, ReductionTypes);

template <typename T>
void check(const Case& c, const ReduceOp& op, bool in_place_call) {
  std::vector<T> send;
  std::vector<T> recv(c.count);
  const bool is_result = true;
  const bool in_place_here = in_place_call;
  const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
  exercise(
      c.mode, [&] { scan(c.comm, source(), recv, op, c.options); },
      [&] { return iscan(c.comm, source(), recv, op, c.options); },
      [&] {
        send.resize(c.count);
        return scan_init(c.comm, source(), recv, op, c.options);
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
        if (is_result) expect_equal(recv, expected<T>(op.kind(), 0, c.rank, 0, c.count, i, c.size), c, i);
        if (!in_place_here) expect_equal(send, contribution<T>(c.rank, c.count, i), c, i);
      });
}

TYPED_TEST(Scan, GivesTheExactResultInAllForms) {
  using T = TypeParam;
  for_each_case(algorithms::Operation::scan, [](const Case& c) {
    // The long vectors are for the common types: the combination is the same code for all.
    const bool is_common = std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, bfloat16_t>;
    if (!is_common && c.count > 100) return;
    for (const ReduceOp& op : operations<T>()) {
      if (op.kind() == ReduceKind::avg) continue;
      if (c.count != 7 && op.kind() != ReduceKind::sum && op.kind() != ReduceKind::minloc) continue;
      for (const bool in_place_call : {false, true}) check<T>(c, op, in_place_call);
    }
  });
}

TEST(ScanOrder, UserOperationKeepsRankOrder) {
  for_each_case(algorithms::Operation::scan, [](const Case& c) {
    if (c.count > 2000) return;
    {
      std::vector<Interval> send = own_interval(c.rank, c.count);
      std::vector<Interval> recv(c.count);
      const auto from = [&] { return interval_buffer(send); };
      const auto to = [&] { return interval_buffer(recv); };
      exercise(
          c.mode, [&] { scan(c.comm, from(), to(), interval_op(), c.options); },
          [&] { return iscan(c.comm, from(), to(), interval_op(), c.options); },
          [&] { return scan_init(c.comm, from(), to(), interval_op(), c.options); },
          [&](int) { std::fill(recv.begin(), recv.end(), Interval{}); },
          [&](int i) {
            const bool is_result = true;
            if (is_result) expect_equal(recv, std::vector<Interval>(c.count, Interval{0, c.rank, 0}), c, i);
          });
    }
  });
}

}  // namespace
}  // namespace tutti::test
