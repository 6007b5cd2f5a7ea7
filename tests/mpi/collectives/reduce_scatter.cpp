// SPDX-License-Identifier: BSD-3-Clause
#include <tutti/collectives/reduce_scatter.hpp>

#include "mpi/collectives/reductions.hpp"

namespace tutti::test {
namespace {

/// Uneven blocks, some of them empty.
std::vector<std::size_t> uneven(std::size_t count, int size) {
  std::vector<std::size_t> counts(static_cast<std::size_t>(size));
  for (std::size_t r = 0; r < counts.size(); ++r) counts[r] = r % 3 == 1 ? 0 : count / (r + 1);
  return counts;
}

std::size_t offset_of(const std::vector<std::size_t>& counts, int rank) {
  std::size_t offset = 0;
  for (int r = 0; r < rank; ++r) offset += counts[static_cast<std::size_t>(r)];
  return offset;
}

template <typename T>
class ReduceScatter : public ::testing::Test {};
TYPED_TEST_SUITE(ReduceScatter, ReductionTypes);

template <typename T>
void check(const Case& c, const ReduceOp& op, bool in_place_call) {
  const std::vector<std::size_t> counts = uneven(c.count, c.size);
  const std::size_t mine = counts[static_cast<std::size_t>(c.rank)];
  const std::size_t whole_count = offset_of(counts, c.size);
  std::vector<T> send(whole_count);
  std::vector<T> recv(in_place_call ? whole_count : mine);
  const auto source = [&]() -> ConstBuffer { return in_place_call ? ConstBuffer(in_place) : ConstBuffer(send); };
  exercise(
      c.mode, [&] { reduce_scatter(c.comm, source(), recv, counts, op, c.options); },
      [&] { return ireduce_scatter(c.comm, source(), recv, counts, op, c.options); },
      [&] { return reduce_scatter_init(c.comm, source(), recv, counts, op, c.options); },
      [&](int i) {
        const auto data = contribution<T>(c.rank, whole_count, i);
        std::copy(data.begin(), data.end(), in_place_call ? recv.begin() : send.begin());
      },
      [&](int i) {
        const std::vector<T> got(recv.begin(), recv.begin() + static_cast<std::ptrdiff_t>(mine));
        expect_equal(got, expected<T>(op.kind(), 0, c.size - 1, offset_of(counts, c.rank), mine, i, c.size), c, i);
      });
}

TYPED_TEST(ReduceScatter, GivesTheExactResultInAllForms) {
  using T = TypeParam;
  for_each_reduction<T>(Operation::reduce_scatter, [](const Case& c, const ReduceOp& op) {
    for (const bool in_place_call : c.forms) check<T>(c, op, in_place_call);
  });
}

TEST(ReduceScatterOrder, UserOperationKeepsRankOrder) {
  for_each_blocking_case(Operation::reduce_scatter, [](const Case& c) {
    if (c.count > 2000) return;
    const std::vector<std::size_t> counts = uneven(c.count, c.size);
    const std::size_t mine = counts[static_cast<std::size_t>(c.rank)];
    std::vector<Interval> send = own_interval(c.rank, offset_of(counts, c.size));
    std::vector<Interval> recv(mine);
    reduce_scatter(c.comm, interval_buffer(send), interval_buffer(recv), counts, interval_op(), c.options);
    expect_equal(recv, std::vector<Interval>(mine, Interval{0, c.size - 1, 0}), c, 0);
  });
}

}  // namespace
}  // namespace tutti::test
