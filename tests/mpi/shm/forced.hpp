// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "mpi/collectives/reductions.hpp"

/// Reductions by one protocol, which the options name, at given lengths. skips(kind, turn): whether a call is left out.
namespace tutti::test {

/// By every operation, in place at every other turn.
template <typename T, typename Skips>
void allreduce_by(const Options& options, const Communicator& comm, const std::vector<std::size_t>& counts,
                  const Skips& skips) {
  static int turn = 0;
  for (const std::size_t count : counts)
    for (const ReduceOp& op : operations<T>()) {
      if (skips(op.kind(), ++turn)) continue;
      const Case c{comm, options, count, Mode::blocking, comm.rank(), comm.size()};
      std::vector<T> data = contribution<T>(comm.rank(), count, turn);
      const std::vector<T> sum_of_all = expected<T>(op.kind(), 0, c.size - 1, 0, count, turn, c.size);
      if (turn % 2 == 0) {
        allreduce(comm, data, op, c.options);
        expect_equal(data, sum_of_all, c, turn);
        continue;
      }
      std::vector<T> result(count);
      allreduce(comm, data, result, op, c.options);
      expect_equal(result, sum_of_all, c, turn);
      expect_equal(data, contribution<T>(comm.rank(), count, turn), c, turn);
    }
}

/// To every root, by the operations in turn, in place on the root at every other one.
template <typename T, typename Skips>
void reduce_by(const Options& options, const Communicator& comm, const std::vector<std::size_t>& counts,
               const Skips& skips) {
  static int turn = 0;
  for (const std::size_t count : counts)
    for (int root = 0; root < comm.size(); ++root) {
      const std::vector<ReduceOp> ops = operations<T>();
      const ReduceOp op = ops[static_cast<std::size_t>(++turn) % ops.size()];
      if (op.kind() == ReduceKind::avg || skips(op.kind(), turn)) continue;
      const Case c{comm, options, count, Mode::blocking, comm.rank(), comm.size()};
      const std::vector<T> data = contribution<T>(comm.rank(), count, turn);
      std::vector<T> result = turn % 2 == 0 ? data : std::vector<T>(count);
      if (turn % 2 == 0 && comm.rank() == root)
        reduce(comm, in_place, result, op, root, c.options);
      else
        reduce(comm, data, result, op, root, c.options);
      if (comm.rank() == root)
        expect_equal(result, expected<T>(op.kind(), 0, c.size - 1, 0, count, turn, c.size), c, turn);
    }
}

}  // namespace tutti::test
