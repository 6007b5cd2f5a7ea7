// SPDX-License-Identifier: BSD-3-Clause
// The tests of reduce, allreduce, scan and exscan: a result as long as the contribution. A `Call` says how the
// operation is called, which ranks get a result and of which ranks it is the combination.
#pragma once

#include "mpi/collectives/reductions.hpp"

namespace tutti::test {

template <typename Call, typename T>
void check_reduction(const Case& c, const ReduceOp& op, bool in_place_call, int root) {
  const bool in_place_here = in_place_call && (!Call::is_rooted || c.rank == root);
  std::vector<T> send(c.count);
  std::vector<T> recv(c.count);
  const auto source = [&]() -> ConstBuffer { return in_place_here ? ConstBuffer(in_place) : ConstBuffer(send); };
  exercise(
      c.mode, [&] { Call::run(c, source(), recv, op, root); }, [&] { return Call::start(c, source(), recv, op, root); },
      [&] { return Call::prepare(c, source(), recv, op, root); },
      [&](int i) {
        std::ranges::copy(contribution<T>(c.rank, c.count, i), in_place_here ? recv.begin() : send.begin());
        if (!in_place_here) std::ranges::fill(recv, T{});
      },
      [&](int i) {
        if (Call::has_result(c, root))
          expect_equal(recv, expected<T>(op.kind(), 0, Call::last(c), 0, c.count, i, c.size), c, i);
        if (!in_place_here) expect_equal(send, contribution<T>(c.rank, c.count, i), c, i);
      });
}

template <typename Call>
std::vector<int> roots(const Case& c) {
  return Call::is_rooted ? std::vector<int>{0, c.size - 1} : std::vector<int>{0};
}

template <typename Call, typename T>
void exercise_reduction() {
  for_each_reduction<T>(Call::operation, [](const Case& c, const ReduceOp& op) {
    if (op.kind() == ReduceKind::avg && !Call::has_avg) return;
    for (const int root : roots<Call>(c))
      for (const bool in_place_call : c.forms) check_reduction<Call, T>(c, op, in_place_call, root);
  });
}

/// A user operation that does not commute is combined in rank order.
template <typename Call>
void exercise_order() {
  for_each_case(Call::operation, [](const Case& c) {
    if (c.count > 2000) return;
    for (const int root : roots<Call>(c)) {
      std::vector<Interval> send = own_interval(c.rank, c.count);
      std::vector<Interval> recv(c.count);
      const auto from = [&] { return interval_buffer(send); };
      const auto to = [&] { return interval_buffer(recv); };
      exercise(
          c.mode, [&] { Call::run(c, from(), to(), interval_op(), root); },
          [&] { return Call::start(c, from(), to(), interval_op(), root); },
          [&] { return Call::prepare(c, from(), to(), interval_op(), root); },
          [&](int) { std::ranges::fill(recv, Interval{}); },
          [&](int i) {
            if (Call::has_result(c, root))
              expect_equal(recv, std::vector<Interval>(c.count, Interval{0, Call::last(c), 0}), c, i);
          });
    }
  });
}

}  // namespace tutti::test
