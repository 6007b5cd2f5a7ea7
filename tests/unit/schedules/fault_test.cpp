// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>

#include <optional>

#include "cases.hpp"
#include "support/proof/checker.hpp"
#include "support/proof/critical_path.hpp"

namespace tutti::schedules {
namespace {

using testing::HasSubstr;

/// A right set of schedules to plant a fault in.
class Planted : public testing::Test {
 protected:
  void use(Operation operation, std::string_view name, int size, std::size_t count = 8) {
    algorithm_ = *find_algorithm(operation, name);
    world_.emplace(operation, size, 0, count);
    schedules_ = world_->schedules(algorithm_);
    ASSERT_TRUE(check(algorithm_, *world_, schedules_, Memory::separate).ok);
  }
  std::string fault(Memory memory = Memory::separate) {
    const Report report = check(algorithm_, *world_, schedules_, memory);
    EXPECT_FALSE(report.ok);
    return report.problem;
  }
  std::vector<Transfer>& transfers(int rank, std::size_t round) { return schedules_[rank].rounds[round].transfers; }
  std::vector<Local>& locals(int rank, std::size_t round) { return schedules_[rank].rounds[round].locals; }

  Algorithm algorithm_{};
  std::optional<World> world_;
  std::vector<Schedule> schedules_;
};

TEST_F(Planted, DroppedTransferIsUnmatched) {
  use(Operation::allreduce, "ring", 4);
  transfers(2, 1).pop_back();
  EXPECT_THAT(fault(), HasSubstr("unmatched"));
}

TEST_F(Planted, WrongPeerIsUnmatched) {
  use(Operation::allreduce, "recursive_doubling", 8);
  transfers(3, 1)[0].peer = 5;
  EXPECT_THAT(fault(), HasSubstr("unmatched"));
}

TEST_F(Planted, SelfMessage) {
  use(Operation::bcast, "binomial", 4);
  transfers(0, 0)[0].peer = 0;
  EXPECT_THAT(fault(), HasSubstr("no valid peer"));
}

TEST_F(Planted, DifferentSizes) {
  use(Operation::bcast, "binomial", 4);
  transfers(0, 0)[0].slice.count = 7;
  EXPECT_THAT(fault(), HasSubstr("7 elements sent and 8 expected"));
}

TEST_F(Planted, EmptyMessage) {
  use(Operation::bcast, "binomial", 2);
  transfers(0, 0)[0].slice.count = 0;
  EXPECT_THAT(fault(), HasSubstr("is empty"));
}

TEST_F(Planted, SwappedPeersBringWrongData) {
  use(Operation::alltoall, "direct", 4);
  auto& t = transfers(0, 0);
  std::swap(t[0].slice, t[2].slice);
  EXPECT_THAT(fault(), HasSubstr("is of element"));
}

TEST_F(Planted, WrongOffsetCombinesDifferentElements) {
  use(Operation::allreduce, "ring", 4, 16);
  transfers(1, 0)[0].slice.offset += 1;
  EXPECT_THAT(fault(), HasSubstr("combines different elements"));
}

TEST_F(Planted, OffsetOutsideTheBuffer) {
  use(Operation::allgather, "ring", 4);
  transfers(3, 1).back().slice.offset += 1000;
  EXPECT_THAT(fault(), HasSubstr("outside its buffer"));
}

TEST_F(Planted, DuplicateReduce) {
  use(Operation::allreduce, "recursive_doubling", 4);
  locals(1, 0).push_back(locals(1, 0)[0]);
  locals(1, 0).back().inputs = {Slice{BufferName::scratch, 0, 8}, Slice{BufferName::output, 0, 8}};
  EXPECT_THAT(fault(), HasSubstr("twice"));
}

TEST_F(Planted, MissingReduce) {
  use(Operation::scan, "linear", 3);
  locals(2, 0)[0] = {Local::Kind::copy, {locals(2, 0)[0].inputs[0]}, locals(2, 0)[0].output};
  EXPECT_THAT(fault(), HasSubstr("misses the contribution of rank 2"));
}

TEST_F(Planted, ReorderedRoundsDeadlock) {
  use(Operation::allreduce, "recursive_doubling", 4);
  // Each half keeps its own order: rank 0 waits for 2, which waits for 3, which waits for 1, which waits for 0.
  std::swap(schedules_[0].rounds[0].transfers, schedules_[0].rounds[1].transfers);
  std::swap(schedules_[3].rounds[0].transfers, schedules_[3].rounds[1].transfers);
  EXPECT_THAT(fault(), HasSubstr("deadlock"));
}

TEST_F(Planted, SendBeforeReceiveOnBothSidesDeadlocksUnderRendezvous) {
  use(Operation::alltoall, "pairwise", 2);
  for (Schedule& schedule : schedules_) {
    Round& round = schedule.rounds[0];
    Round second{{round.transfers[1]}, {}};
    round.transfers.pop_back();
    schedule.rounds.insert(schedule.rounds.begin() + 1, second);
  }
  EXPECT_THAT(fault(), HasSubstr("deadlock"));
}

TEST_F(Planted, UnwrittenRead) {
  use(Operation::allgather, "bruck", 3);
  schedules_[1].rounds[0].locals.clear();
  EXPECT_THAT(fault(), HasSubstr("never written"));
}

TEST_F(Planted, UnwrittenResult) {
  use(Operation::allgather, "direct", 3);
  schedules_[1].rounds[0].locals.clear();
  EXPECT_THAT(fault(), HasSubstr("output[8] is never written"));
}

TEST_F(Planted, WriteBesideTheResult) {
  use(Operation::exscan, "linear", 3);
  locals(0, 0).push_back({Local::Kind::copy, {{BufferName::input, 0, 1}}, {BufferName::output, 3, 1}});
  EXPECT_THAT(fault(), HasSubstr("not part of the result"));
}

TEST_F(Planted, WriteToTheInput) {
  use(Operation::scan, "linear", 3);
  transfers(1, 0)[0].slice.buffer = BufferName::input;
  EXPECT_THAT(fault(), HasSubstr("input is only read"));
}

TEST_F(Planted, ConcurrentWritesOverlap) {
  use(Operation::allgather, "direct", 3);
  transfers(0, 0)[3].slice.offset = transfers(0, 0)[1].slice.offset;
  EXPECT_THAT(fault(), HasSubstr("overlaps another transfer"));
}

TEST_F(Planted, ReceiveIntoWhatIsBeingSent) {
  use(Operation::allreduce, "ring", 4);
  transfers(0, 3)[1].slice = transfers(0, 3)[0].slice;
  EXPECT_THAT(fault(), HasSubstr("overlaps another transfer"));
}

TEST_F(Planted, LostOrder) {
  use(Operation::allreduce, "scatter_allgather", 4);
  std::swap(locals(2, 0)[0].inputs[0], locals(2, 0)[0].inputs[1]);
  EXPECT_THAT(fault(), HasSubstr("not combined in rank order"));
}

TEST_F(Planted, FalseClaimOfOrder) {
  use(Operation::allreduce, "ring", 4);
  algorithm_.ordered = true;
  EXPECT_THAT(fault(), HasSubstr("not combined in rank order"));
}

TEST_F(Planted, FalseClaimOfSingleCombine) {
  use(Operation::allreduce, "recursive_doubling", 4);
  algorithm_.single_combine = true;
  EXPECT_THAT(fault(), HasSubstr("2 combining steps"));
}

TEST_F(Planted, RanksThatAssociateDifferently) {
  use(Operation::allreduce, "direct", 3);
  Local& local = locals(1, 0)[0];
  const Slice first = local.inputs[0];
  Local pair{Local::Kind::reduce, {local.inputs[1], local.inputs[2]}, local.inputs[2]};
  Local rest{Local::Kind::reduce, {first, local.inputs[2]}, local.output};
  algorithm_.single_combine = false;
  locals(1, 0) = {pair, rest};
  EXPECT_THAT(fault(), HasSubstr("not associated as on rank 0"));
}

TEST_F(Planted, FalseClaimOfAliasSafety) {
  use(Operation::alltoall, "pairwise", 3);
  for (Schedule& schedule : schedules_) schedule.alias_safe = true;
  EXPECT_FALSE(fault(Memory::in_place).empty());
}

TEST_F(Planted, FalseClaimOfAliasSafetyAmongBothMemories) {
  use(Operation::alltoall, "pairwise", 3);
  EXPECT_TRUE(check(algorithm_, *world_).ok);
  algorithm_.generate = [](const Problem& problem) {
    Schedule schedule = find_algorithm(Operation::alltoall, "pairwise")->generate(problem);
    schedule.alias_safe = true;
    return schedule;
  };
  EXPECT_THAT(check(algorithm_, *world_).problem, HasSubstr(", in place: "));
}

TEST_F(Planted, BarrierThatForgetsARank) {
  use(Operation::barrier, "dissemination", 4);
  for (Schedule& schedule : schedules_) schedule.rounds.pop_back();
  EXPECT_THAT(fault(), HasSubstr("leaves the barrier before"));
}

TEST_F(Planted, LostContribution) {
  use(Operation::allreduce, "reduce_bcast", 4);
  Local& local = locals(0, 0)[0];
  local = {Local::Kind::copy, {local.inputs[1]}, local.output};
  EXPECT_THAT(fault(), HasSubstr("misses the contribution of rank 0"));
}

TEST_F(Planted, MissingRound) {
  use(Operation::allreduce, "recursive_doubling", 8);
  for (Schedule& schedule : schedules_) schedule.rounds.pop_back();
  EXPECT_THAT(fault(), HasSubstr("misses the contribution"));
}

TEST_F(Planted, OverwrittenBeforeItIsSent) {
  use(Operation::allgather, "ring", 4);
  // What rank 2 received in round 1 is sent in round 2.
  const Slice received = transfers(2, 1)[1].slice;
  ASSERT_EQ(transfers(2, 2)[0].slice, received);
  locals(2, 1).push_back({Local::Kind::copy, {{BufferName::output, 16, 8}}, received});
  EXPECT_THAT(fault(), HasSubstr("the contribution of rank"));
}

TEST_F(Planted, CycleOfRendezvousOfThree) {
  use(Operation::allgather, "ring", 3);
  // Each rank sends before it receives: right with buffers, never with rendezvous.
  for (Schedule& schedule : schedules_) {
    Round receive{{schedule.rounds[1].transfers[1]}, {}};
    schedule.rounds[1].transfers.pop_back();
    schedule.rounds.insert(schedule.rounds.begin() + 2, receive);
  }
  EXPECT_THAT(fault(), HasSubstr("deadlock"));
}

TEST_F(Planted, ReceivesThatCrossOnOneWay) {
  use(Operation::scatter, "binomial", 4);
  // Two messages between one pair match in order: swapped, they have each other's length.
  auto& sent = transfers(0, 0);
  sent = {{Transfer::Kind::send, 2, {BufferName::input, 24, 8}}, {Transfer::Kind::send, 2, {BufferName::input, 16, 8}}};
  auto& received = transfers(2, 0);
  received = {{Transfer::Kind::recv, 0, {BufferName::scratch, 0, 8}},
              {Transfer::Kind::recv, 0, {BufferName::scratch, 8, 8}}};
  EXPECT_THAT(fault(), HasSubstr("is of element"));
}

template <double Cost::*Figure>
Cost one_more(int size, double bytes) {
  Cost cost = cost_of(*find_algorithm(Operation::allreduce, "ring"), size, bytes);
  cost.*Figure += 1;
  return cost;
}

TEST(PlantedCost, EveryWrongFigureIsFound) {
  Algorithm ring = *find_algorithm(Operation::allreduce, "ring");
  const World world(Operation::allreduce, 4, 0, 16);
  ASSERT_TRUE(check_cost(ring, world).ok);
  const auto fault = [&](Cost (*cost)(int, double)) {
    ring.whole_cost = cost;
    const Report report = check_cost(ring, world);
    EXPECT_FALSE(report.ok);
    return report.problem;
  };
  EXPECT_THAT(fault(one_more<&Cost::rounds>), HasSubstr("rounds 6, the formula says 7"));
  EXPECT_THAT(fault(one_more<&Cost::bytes>), HasSubstr("; bytes 24, the formula says 25"));
  EXPECT_THAT(fault(one_more<&Cost::reduced_bytes>), HasSubstr("reduced bytes 24, the formula says 25"));
  EXPECT_THAT(fault(one_more<&Cost::copied_bytes>), HasSubstr("copied bytes 0, the formula says 1"));
  EXPECT_THAT(fault(one_more<&Cost::messages>), HasSubstr("messages 6, the formula says 7"));
}

TEST(PlantedCost, FormulaOfAnotherAlgorithm) {
  Algorithm linear = *find_algorithm(Operation::bcast, "linear");
  linear.whole_cost = find_algorithm(Operation::bcast, "binomial")->whole_cost;
  EXPECT_THAT(check_cost(linear, World(Operation::bcast, 8, 0, 16)).problem, HasSubstr("rounds 1, the formula says 3"));
}

TEST(PlantedCost, RankThatWaitsForNothingIsNotFree) {
  // Cutting a round in two adds a round to the chain, though each rank moves the same bytes.
  const Algorithm& algorithm = *find_algorithm(Operation::allgather, "direct");
  const World world(Operation::allgather, 3, 0, 4);
  std::vector<Schedule> schedules = world.schedules(algorithm);
  const Cost whole = critical_path(schedules, Matching(schedules));
  for (Schedule& schedule : schedules) {
    Round& round = schedule.rounds[0];
    Round second{{round.transfers[2], round.transfers[3]}, {}};
    round.transfers.resize(2);
    schedule.rounds.push_back(second);
  }
  const Cost cut = critical_path(schedules, Matching(schedules));
  EXPECT_EQ(cut.rounds, whole.rounds + 1);
  EXPECT_EQ(cut.bytes, whole.bytes);
}

}  // namespace
}  // namespace tutti::schedules
