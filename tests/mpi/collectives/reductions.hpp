// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the reductions share: all operations that a datatype has.
#pragma once

#include <algorithm>

#include "support/exercise.hpp"

namespace tutti::test {

template <typename T>
std::vector<ReduceOp> operations() {
  std::vector<ReduceOp> all;
  for (const ReduceOp& op : {sum, prod, min, max, avg, land, lor, lxor, band, bor, bxor, minloc, maxloc})
    if (is_defined(op.kind(), datatype_of<T>().kind())) all.push_back(op);
  return all;
}

template <typename T>
std::vector<T> contribution(int rank, std::size_t count, int iteration) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = pattern<T>(rank, i, iteration);
  return data;
}

template <typename T>
std::vector<T> expected(ReduceKind op, int first, int last, std::size_t offset, std::size_t count, int iteration,
                        int ranks) {
  std::vector<T> data(count);
  for (std::size_t i = 0; i < count; ++i) data[i] = combined<T>(op, first, last, offset + i, iteration, ranks);
  return data;
}

/// The types that every reduction is tested with; the full list is the combination's own unit test.
using ReductionTypes = ::testing::Types<std::int8_t, std::uint16_t, std::int32_t, std::int64_t, float, double,
                                        bfloat16_t, float16_t, float8_e5m2_t, std::complex<float>, std::complex<double>,
                                        Float32Int32, Int32Int32, std::uint8_t, std::uint32_t, std::uint64_t>;

/// Calls check(case, op) for all operations of a datatype on a short vector, and for the sum on every length; the long
/// ones for the common types only, since the combination is the same code for all. With more than two ranks an
/// operation has its turn on one of three communicators, and so has a length of the other types.
template <typename T, typename Check>
void for_each_reduction(Operation operation, const Check& check) {
  constexpr bool is_common =
      std::is_same_v<T, float> || std::is_same_v<T, std::int64_t> || std::is_same_v<T, bfloat16_t>;
  for_each_case<T>(operation, [&](const Case& c) {
    const bool takes_operations = c.count == 7;
    if (!is_common && (c.count > 100 || (!takes_operations && !has_turn(c, c.count)))) return;
    std::size_t number = 0;
    for (const ReduceOp& op : operations<T>()) {
      const bool is_sum = op.kind() == ReduceKind::sum || op.kind() == ReduceKind::minloc;
      if (is_sum || (takes_operations && has_turn(c, number++))) check(c, op);
    }
  });
}

/// combination[a, b] = [a.first, b.last] of intervals of ranks: associative, not commutative, and wrong order shows.
struct Interval {
  std::int32_t first = 0;
  std::int32_t last = 0;
  std::int32_t broken = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

inline void join_intervals(const void* in, void* inout, std::size_t count, Datatype /*type*/, void* /*context*/) {
  const auto* left = static_cast<const Interval*>(in);
  auto* right = static_cast<Interval*>(inout);
  for (std::size_t i = 0; i < count; ++i) {
    const bool fits = left[i].last + 1 == right[i].first;
    right[i] = {left[i].first, right[i].last, (left[i].broken != 0 || right[i].broken != 0 || !fits) ? 1 : 0};
  }
}

inline ReduceOp interval_op() { return ReduceOp::user(join_intervals, nullptr, false); }
inline std::vector<Interval> own_interval(int rank, std::size_t count) {
  return std::vector<Interval>(count, Interval{rank, rank, 0});
}
inline Buffer interval_buffer(std::vector<Interval>& data) {
  return {data.data(), data.size(), Datatype::bytes(sizeof(Interval))};
}

}  // namespace tutti::test
