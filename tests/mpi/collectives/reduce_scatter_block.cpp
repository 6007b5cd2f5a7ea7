// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter_block.hpp>

#include "mpi/collectives/reductions.hpp"

namespace tutti::test {
namespace {

template <typename T>
class ReduceScatterBlock : public ::testing::Test {};
TYPED_TEST_SUITE(ReduceScatterBlock, ReductionTypes);

template <typename T>
void check(const Case& c, const ReduceOp& op, bool in_place_call) {
  const std::size_t mine = c.count;
  const std::size_t whole_count = c.count * static_cast<std::size_t>(c.size);
  std::vector<T> send(whole_count);
  std::vector<T> recv(in_place_call ? whole_count : mine);
  const auto source = [&]() -> ConstBuffer { return in_place_call ? ConstBuffer(in_place) : ConstBuffer(send); };
  exercise(
      c.mode, [&] { reduce_scatter_block(c.comm, source(), recv, op, c.options); },
      [&] { return ireduce_scatter_block(c.comm, source(), recv, op, c.options); },
      [&] { return reduce_scatter_block_init(c.comm, source(), recv, op, c.options); },
      [&](int i) {
        const auto data = contribution<T>(c.rank, whole_count, i);
        std::copy(data.begin(), data.end(), in_place_call ? recv.begin() : send.begin());
      },
      [&](int i) {
        const std::vector<T> got(recv.begin(), recv.begin() + static_cast<std::ptrdiff_t>(mine));
        expect_equal(got,
                     expected<T>(op.kind(), 0, c.size - 1, static_cast<std::size_t>(c.rank) * c.count, mine, i, c.size),
                     c, i);
      });
}

TYPED_TEST(ReduceScatterBlock, GivesTheExactResultInAllForms) {
  using T = TypeParam;
  for_each_reduction<T>(Operation::reduce_scatter_block, [](const Case& c, const ReduceOp& op) {
    for (const bool in_place_call : c.forms) check<T>(c, op, in_place_call);
  });
}

TEST(ReduceScatterBlockOrder, UserOperationKeepsRankOrder) {
  for_each_blocking_case(Operation::reduce_scatter_block, [](const Case& c) {
    if (c.count > 2000) return;
    const std::size_t mine = c.count;
    std::vector<Interval> send = own_interval(c.rank, c.count * static_cast<std::size_t>(c.size));
    std::vector<Interval> recv(mine);
    reduce_scatter_block(c.comm, interval_buffer(send), interval_buffer(recv), interval_op(), c.options);
    expect_equal(recv, std::vector<Interval>(mine, Interval{0, c.size - 1, 0}), c, 0);
  });
}

}  // namespace
}  // namespace tutti::test
