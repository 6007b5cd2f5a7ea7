// SPDX-License-Identifier: BSD-3-Clause
// What it takes to plan a call on many ranks, counted: memory and instructions grow with the logarithm of their number.
#include <gtest/gtest.h>

#include "planner/candidates.hpp"
#include "planner/planner.hpp"
#include "support/heap.hpp"
#include "support/instructions.hpp"

namespace tutti::detail {
namespace {

/// Nodes of 64 ranks one after the other, whose phases on a node are messages.
class Machines {
 public:
  explicit Machines(int ranks) : map_(schedules::NodeMap::blocks(ranks, 64)) {
    machine_.rank = ranks / 2 + 1;
    machine_.size = ranks;
    machine_.several_nodes = true;
    machine_.node_of = &map_;
    machine_.on_node = LinkLevel::node;
  }
  [[nodiscard]] const Machine& machine() const { return machine_; }

 private:
  schedules::NodeMap map_;
  Machine machine_{};
};

Signature call_of(Operation operation, std::size_t count) {
  Signature signature;
  signature.operation = operation;
  signature.type = DatatypeKind::float32;
  signature.count = operation == Operation::barrier ? 0 : count;
  return signature;
}

/// 64 times the ranks are six more rounds of some ten.
template <typename Count>
void expect_logarithmic(const Count& count, const char* what) {
  const auto few = count(Machines(1 << 12).machine());
  const auto many = count(Machines(1 << 18).machine());
  EXPECT_LE(many, 2 * few) << what;
}

/// The bytes that it takes from the heap.
template <typename Work>
std::size_t bytes_of(const Work& work) {
  work();  // what is made once in a process
  const std::size_t before = test::allocated_bytes();
  work();
  return test::allocated_bytes() - before;
}

TEST(PlannerGrowth, TheChoiceGrowsWithTheLogarithmOfRanks) {
  for (const Operation operation : {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce,
                                    Operation::allgather, Operation::alltoall, Operation::scan})
    for (const std::size_t count : {std::size_t{2}, std::size_t{1} << 20})
      expect_logarithmic(
          [&](const Machine& machine) {
            return bytes_of([&] { (void)candidates(call_of(operation, count), machine); });
          },
          operation_name(operation).data());
}

TEST(PlannerGrowth, SoDoPlansOfShortCallsThatPassTheWholeVectorOn) {
  for (const Operation operation :
       {Operation::barrier, Operation::bcast, Operation::reduce, Operation::allreduce, Operation::scan})
    expect_logarithmic(
        [&](const Machine& machine) { return bytes_of([&] { (void)make_plan(call_of(operation, 2), machine); }); },
        operation_name(operation).data());
}

TEST(PlannerGrowth, InstructionsOfAPredictionAndOfAScheduleGrowTheSameWay) {
  const schedules::Algorithm& algorithm = *schedules::find_algorithm(Operation::allreduce, "hierarchical");
  const auto instructions_of = [](const auto& work) {
    work();
    return test::own_instructions_of(work).value_or(0);  // 0 where they cannot be counted
  };
  expect_logarithmic(
      [&](const Machine& machine) {
        const Wiring wiring = wiring_of(machine);
        return instructions_of([&] { (void)predict(algorithm, call_of(Operation::allreduce, 2), wiring); });
      },
      "prediction");
  expect_logarithmic(
      [&](const Machine& machine) {
        schedules::Problem problem;
        problem.rank = machine.rank;
        problem.size = machine.size;
        problem.count = 2;
        problem.node_of = machine.node_of;
        return instructions_of([&] { (void)algorithm.generate(problem); });
      },
      "schedule");
}

TEST(PlannerGrowth, AMapOfEqualBlocksHasNoEntryForARank) {
  std::vector<int> node_of;
  for (int rank = 0; rank < 4096; ++rank) node_of.push_back(rank / 64);
  EXPECT_EQ(schedules::NodeMap(node_of).entries(), 0U);
  node_of.push_back(64);  // a shorter last node
  EXPECT_EQ(schedules::NodeMap(node_of).entries(), 65U);
}

}  // namespace
}  // namespace tutti::detail
