// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "cases.hpp"
#include "support/proof/checker.hpp"

namespace tutti::schedules {
namespace {

/// Plants one kind of fault at every place of every rank's schedule, one at a time: none may pass.
class Mutations : public testing::TestWithParam<Algorithm> {
 protected:
  template <typename Mutate>
  void expect_all_found(Mutate&& mutate) {
    const Algorithm& algorithm = GetParam();
    const World world(algorithm.operation, 6, 0, 7);
    const std::vector<Schedule> right = world.schedules(algorithm);
    for (std::size_t rank = 0; rank < right.size(); ++rank)
      for (std::size_t k = 0; k < right[rank].rounds.size(); ++k)
        for (std::size_t i = 0;; ++i) {
          std::vector<Schedule> mutant = right;
          if (!mutate(mutant[rank].rounds[k], i)) break;
          EXPECT_FALSE(check(algorithm, world, mutant, Memory::separate).ok)
              << "rank " << rank << ", round " << k << ", place " << i;
        }
  }
};

TEST_P(Mutations, DroppedTransfer) {
  expect_all_found([](Round& round, std::size_t i) {
    if (i >= round.transfers.size()) return false;
    round.transfers.erase(round.transfers.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST_P(Mutations, OtherPeer) {
  expect_all_found([](Round& round, std::size_t i) {
    if (i >= round.transfers.size()) return false;
    round.transfers[i].peer = (round.transfers[i].peer + 1) % 6;
    return true;
  });
}

TEST_P(Mutations, ShiftedTransfer) {
  if (GetParam().operation == Operation::barrier) return;
  expect_all_found([](Round& round, std::size_t i) {
    if (i >= round.transfers.size()) return false;
    round.transfers[i].slice.offset += 1;
    return true;
  });
}

TEST_P(Mutations, DroppedLocal) {
  expect_all_found([](Round& round, std::size_t i) {
    if (i >= round.locals.size()) return false;
    round.locals.erase(round.locals.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  });
}

TEST_P(Mutations, ReversedOperands) {
  if (!GetParam().ordered) return;
  expect_all_found([](Round& round, std::size_t i) {
    // Copies have one operand: the fault is planted in the i-th reduce.
    for (Local& local : round.locals)
      if (local.kind == Local::Kind::reduce && i-- == 0) {
        std::reverse(local.inputs.begin(), local.inputs.end());
        return true;
      }
    return false;
  });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Mutations, testing::ValuesIn(algorithms_where([](const Algorithm& algorithm) {
                           return fits(algorithm, 6);
                         })),
                         name_of);

}  // namespace
}  // namespace tutti::schedules
