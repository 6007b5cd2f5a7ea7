// SPDX-License-Identifier: BSD-3-Clause
// Exchanges on a node, one step of a schedule: their contract, and the faults that the checker finds.
#include <gmock/gmock.h>

#include <optional>

#include "cases.hpp"
#include "layouts.hpp"
#include "schedules/levels.hpp"
#include "schedules/text.hpp"
#include "support/proof/checker.hpp"
#include "support/proof/exchange.hpp"

namespace tutti::schedules {
namespace {

using testing::HasSubstr;

/// A whole call as one exchange, where all ranks are on one node.
template <Operation operation>
Schedule by_exchange(const Problem& p) {
  Composer c;
  on_node(c, Layout(p), {operation, nullptr}, p, input(0, 0), output(0, 0));
  return c.finish(true);
}

template <Operation operation>
Algorithm exchange() {
  return {.operation = operation,
          .name = "exchange",
          .generate = by_exchange<operation>,
          .whole_cost = nullptr,
          .ordered = true,
          .single_combine = true};
}

using enum Operation;
const std::vector<Algorithm> all_exchanges = {
    exchange<barrier>(),   exchange<bcast>(),          exchange<reduce>(),   exchange<allreduce>(),
    exchange<scan>(),      exchange<reduce_scatter>(), exchange<exscan>(),   exchange<reduce_scatter_block>(),
    exchange<gather>(),    exchange<gatherv>(),        exchange<scatter>(),  exchange<scatterv>(),
    exchange<allgather>(), exchange<allgatherv>(),     exchange<alltoall>(), exchange<alltoallv>()};

class ExchangeContract : public testing::TestWithParam<Algorithm> {};

// In the words of the shared memory's own geometry an exchange does what the operation promises, which the tests of
// the collectives compare with the memory's behaviour.
TEST_P(ExchangeContract, IsThatOfTheOperation) {
  for (int size = 2; size <= 9; ++size)
    for (const int root : {0, size - 1})
      for (const std::size_t count : {0U, 1U, 5U}) {
        World world(GetParam().operation, size, root, count);
        world.share_nodes();
        const Report report = check(GetParam(), world);
        ASSERT_TRUE(report.ok) << report.problem;
      }
}

INSTANTIATE_TEST_SUITE_P(Operations, ExchangeContract, testing::ValuesIn(all_exchanges), name_of);

/// Right schedules with exchanges, on two nodes of two ranks, to plant a fault in.
class PlantedExchange : public testing::Test {
 protected:
  void use(Operation operation, std::string_view name, std::size_t count = 8) {
    algorithm_ = *find_algorithm(operation, name);
    world_.emplace(operation, 4, 0, count, block_layout(4, 2));
    world_->share_nodes();
    schedules_ = world_->schedules(algorithm_);
    ASSERT_TRUE(check(algorithm_, *world_, schedules_, Memory::separate).ok);
  }
  std::string fault(Memory memory = Memory::separate) {
    const Report report = check(algorithm_, *world_, schedules_, memory);
    EXPECT_FALSE(report.ok);
    return report.problem;
  }
  /// The first, or the next one, of a rank.
  Round& exchange_of(std::size_t rank, int skipped = 0) {
    for (Round& round : schedules_[rank].rounds)
      if (round.exchange && skipped-- == 0) return round;
    throw std::logic_error("no exchange");
  }

  Algorithm algorithm_{};
  std::optional<World> world_;
  std::vector<Schedule> schedules_;
};

TEST_F(PlantedExchange, RankThatDoesNotCome) {
  use(Operation::allreduce, "hierarchical");
  exchange_of(3, 1).exchange.reset();
  EXPECT_THAT(fault(), HasSubstr("has 1 of its 2 ranks"));
}

TEST_F(PlantedExchange, AnotherOperation) {
  use(Operation::allreduce, "hierarchical");
  exchange_of(1).exchange->operation = Operation::allreduce;
  EXPECT_THAT(fault(), HasSubstr("but rank 1: allreduce on the node"));
}

TEST_F(PlantedExchange, AnotherRoot) {
  use(Operation::bcast, "hierarchical");
  exchange_of(2).exchange->root = 1;
  EXPECT_THAT(fault(), HasSubstr("root 1"));
}

TEST_F(PlantedExchange, WrongRootOnAllRanks) {
  use(Operation::allreduce, "hierarchical");
  for (const std::size_t rank : {0U, 1U}) exchange_of(rank).exchange->root = 1;
  EXPECT_THAT(fault(), HasSubstr("never written"));
}

TEST_F(PlantedExchange, MissingExchangeLosesContributions) {
  use(Operation::allreduce, "hierarchical_split");
  for (const std::size_t rank : {2U, 3U}) {
    Exchange& e = *exchange_of(rank).exchange;
    Round& round = exchange_of(rank);
    round.locals = {
        {Local::Kind::copy, {Slice{BufferName::input, 4 * (rank - 2), 4}}, Slice{e.output.buffer, e.output.offset, 4}}};
    round.exchange.reset();
  }
  EXPECT_THAT(fault(), HasSubstr("misses the contribution of rank 3"));
}

TEST_F(PlantedExchange, BlocksOfDifferentSizes) {
  use(Operation::allreduce, "hierarchical_split", 9);
  Exchange& e = *exchange_of(1, 1).exchange;
  e.send_count = 3;
  EXPECT_THAT(fault(), HasSubstr("gives 3 elements"));
}

TEST_F(PlantedExchange, OutsideTheBuffer) {
  use(Operation::bcast, "hierarchical");
  exchange_of(1).exchange->output.offset += 1;
  EXPECT_THAT(fault(), HasSubstr("outside its buffer"));
}

TEST_F(PlantedExchange, OverlapOtherwiseThanInPlace) {
  use(Operation::allreduce, "hierarchical_split");
  // In place the input is the output's memory, so that a part of it is not the place of its sum.
  for (Schedule& schedule : schedules_)
    for (Round& round : schedule.rounds)
      if (round.exchange && round.exchange->operation == Operation::reduce_scatter)
        round.exchange->output = Slice{BufferName::output, 4, 4};
  EXPECT_THAT(fault(Memory::in_place), HasSubstr("otherwise than in place"));
}

TEST_F(PlantedExchange, MessageIntoItsMemory) {
  use(Operation::bcast, "hierarchical");
  // Rank 2 gets the data for its node while it gives them to rank 3.
  auto& rounds = schedules_[2].rounds;
  const auto receives = std::ranges::find_if(rounds, [](const Round& round) { return !round.transfers.empty(); });
  exchange_of(2).transfers = std::move(receives->transfers);
  EXPECT_THAT(fault(), HasSubstr("meets the exchange of its round in memory"));
}

TEST_F(PlantedExchange, WaitForAMessageThatComesLater) {
  use(Operation::barrier, "hierarchical");
  // Rank 0 wants the other leader's signal before it meets rank 1; that leader sends it only behind rank 1's message.
  schedules_[1].rounds.insert(schedules_[1].rounds.begin() + 1, Round{{{Transfer::Kind::send, 2, output(0, 0)}}, {}});
  auto& rounds = schedules_[2].rounds;
  rounds.insert(rounds.begin(), Round{{{Transfer::Kind::recv, 1, output(0, 0)}}, {}});
  auto& first = schedules_[0].rounds;
  std::swap(first[0], first[1]);
  EXPECT_THAT(fault(), HasSubstr("deadlock"));
}

TEST(ExchangeCells, MeetWhatHasOneOfThem) {
  using Cells = schedules::ExchangeContract::Cells;
  constexpr std::size_t room = 12;
  const auto cells_of = [](std::size_t bits, bool downwards) {
    Cells cells;
    for (std::size_t i = 0; i < room; ++i)
      if (const std::size_t cell = downwards ? room - 1 - i : i; (bits >> cell & 1) != 0) cells.add(cell);
    cells.sort();
    return cells;
  };
  for (std::size_t bits = 0; bits < 1 << room; bits += 5) {
    const Cells cells = cells_of(bits, bits % 2 == 0);
    for (std::size_t begin = 0; begin < room; ++begin)
      for (std::size_t count = 0; begin + count <= room; ++count) {
        const std::size_t slice = ((std::size_t{1} << count) - 1) << begin;
        ASSERT_EQ(cells.meets(begin, count), (bits & slice) != 0) << bits << ", " << begin << ", " << count;
        ASSERT_EQ(cells.meets(cells_of(slice & ~std::size_t{4}, false)), (bits & slice & ~std::size_t{4}) != 0);
      }
  }
}

TEST(ExchangeText, NamesOperationRootAndSlices) {
  const Exchange e{.operation = Operation::bcast, .root = 1, .count = 8, .output = {BufferName::output, 0, 8}};
  EXPECT_EQ(to_text(e), "bcast on the node, root 1, count 8: input[0, 0) to output[0, 8)");
}

}  // namespace
}  // namespace tutti::schedules
