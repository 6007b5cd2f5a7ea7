// SPDX-License-Identifier: BSD-3-Clause
#include <set>

#include "cases.hpp"
#include "layouts.hpp"
#include "schedules/layout.hpp"
#include "schedules/levels.hpp"
#include "support/proof/checker.hpp"
#include "support/proof/critical_path.hpp"

namespace tutti::schedules {
namespace {

std::vector<Algorithm> hierarchical_algorithms() {
  std::vector<Algorithm> all;
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i)
    for (const Algorithm& algorithm : hierarchical_algorithms_of(static_cast<Operation>(i))) all.push_back(algorithm);
  return all;
}

bool moves_all_to_all(Operation operation) {
  return operation == Operation::alltoall || operation == Operation::alltoallv;
}

/// What the algorithm promises on a layout: order of ranks only where those of a node are adjacent, but for one that
/// combines once.
Algorithm promised(Algorithm algorithm, const Spread& spread) {
  algorithm.ordered = algorithm.ordered && (spread.adjacent || algorithm.single_combine);
  return algorithm;
}

/// Each algorithm with messages on a node, and with exchanges over its memory.
class Hierarchical : public testing::TestWithParam<Algorithm> {
 protected:
  void prove(int size, const std::vector<int>& node_of, const std::string& layout,
             const std::set<std::size_t>& counts) {
    const Algorithm& algorithm = GetParam();
    const Spread spread = spread_of(node_of, size);
    if (!meets(spread, algorithm.need)) return;
    ++proved_;
    const std::set<int> roots = has_root(algorithm.operation) ? std::set{0, size / 2, size - 1} : std::set{0};
    // Long enough elements for several chunks.
    const bool has_chunks = algorithm.level_cost(spread, 1e9).chunks > 1;
    for (const int root : roots)
      for (const std::size_t count : counts) {
        World world(algorithm.operation, size, root, count, node_of);
        if (has_chunks) world.set_element_size(std::size_t{1} << 14U);
        for (const std::size_t joined : joined_bytes(algorithm, count)) {
          world.join_blocks_up_to(joined);
          prove(world, layout, promised(algorithm, spread));
        }
        if (combines(algorithm.operation)) prove_without_order(world, spread, layout);
      }
  }
  int proved_ = 0;

 private:
  /// All blocks between two nodes in one message, none, and some: those of nodes with short ones.
  static std::vector<std::size_t> joined_bytes(const Algorithm& algorithm, std::size_t count) {
    if (!algorithm.tells_counts || count == 0) return {Problem{}.joined_bytes};
    return {Problem{}.joined_bytes, 0, count};
  }

  /// With elements so long that other algorithms of the phases are taken.
  static void prove_without_order(World world, const Spread& spread, const std::string& layout) {
    Algorithm algorithm = promised(GetParam(), spread);
    algorithm.ordered = algorithm.single_combine;
    world.set_element_size(std::size_t{1} << 14U);
    prove(world.let_order_go(), layout + ", order let go", algorithm);
  }

  static void prove(World world, const std::string& layout, const Algorithm& algorithm) {
    for (const bool shares : {false, true}) {
      if (shares) world.share_nodes();
      const Report report = check(algorithm, world);
      ASSERT_TRUE(report.ok) << report.problem << " (" << layout << ", " << world.bytes() << " bytes"
                             << (shares ? ", shared nodes)" : ")");
    }
  }
};

TEST_P(Hierarchical, IsRightOnEveryLayout) {
  for (int size = 1; size <= 24; ++size)
    for (const NamedLayout& layout : layouts(size))
      prove(size, layout.node_of, layout.name, {0, 1, 3, static_cast<std::size_t>(2 * size + 1)});
  EXPECT_GE(proved_, 24);
}

TEST_P(Hierarchical, IsRightOnLargeLayouts) {
  const bool is_large = moves_all_to_all(GetParam().operation);
  for (int size = 25; size <= 64; ++size)
    for (const NamedLayout& layout : layouts(size)) prove(size, layout.node_of, layout.name, {2});
  for (const int size : {96, 128, 130}) {
    if (is_large && size > 96) continue;
    prove(size, block_layout(size, 32), "blocks of 32", {1, 5});
    prove(size, round_robin_layout(size, 8), "round robin over 8", {1});
    prove(size, scattered_layout(size), "scattered", {1});
  }
  EXPECT_GT(proved_, 4);
}

TEST_P(Hierarchical, IsRightWithoutAMap) {
  for (const int size : {1, 2, 5, 8}) prove(size, {}, "no map", {0, 1, 7});
}

// Else the proofs without order would prove the same schedules twice. Flat algorithms for sums on all ranks keep it
// anyway, but for rings and double trees, which are for longer vectors.
TEST(HierarchicalOrder, AReduceTakesOtherPhasesWhereItIsLetGo) {
  const Algorithm& algorithm = *find_algorithm(Operation::reduce, "hierarchical");
  int differing = 0;
  for (int size = 4; size <= 24; ++size) {
    World world(Operation::reduce, size, 0, static_cast<std::size_t>(2 * size + 1), block_layout(size, 2));
    world.set_element_size(std::size_t{1} << 14U);
    const std::size_t in_order = world.schedules(algorithm).front().rounds.size();
    differing += world.let_order_go().schedules(algorithm).front().rounds.size() != in_order ? 1 : 0;
  }
  EXPECT_GT(differing, 4);
}

/// Of blocks of equal size the formulas are bounds, of irregular ones estimates.
std::vector<Algorithm> regular_algorithms() {
  std::vector<Algorithm> all = hierarchical_algorithms();
  std::erase_if(all, [](const Algorithm& algorithm) { return has_counts(algorithm.operation); });
  return all;
}

/// Whether chunks pass along trees, which may be deeper than a rank has chunks.
bool has_depth(const Algorithm& algorithm) {
  return algorithm.operation != Operation::allreduce && algorithm.name == "hierarchical_pipeline";
}

Cost path_of(const std::vector<Schedule>& schedules) { return critical_path(schedules, Matching(schedules)); }

class HierarchicalCosts : public testing::TestWithParam<Algorithm> {};

// The formulas add up the phases, each for the rank that does most in it: no rank does more, and where leaders do most
// in all phases they are met.
TEST_P(HierarchicalCosts, AreNoMoreThanTheFormula) {
  const Algorithm& algorithm = GetParam();
  for (const auto& [size, per_node] : {std::pair{8, 2}, {8, 4}, {16, 4}, {12, 3}, {32, 8}, {64, 16}, {4, 2}})
    for (const auto& [node_of, unit] : {std::pair{block_layout(size, per_node), std::size_t{1}},
                                        {block_layout(size, per_node), 16384},
                                        {round_robin_layout(size, size / per_node), 1}}) {
      const Spread spread = spread_of(node_of, size);
      if (!meets(spread, algorithm.need)) continue;
      const bool has_blocks = has_equal_blocks(algorithm.operation);
      const std::size_t count = has_blocks ? 4 : static_cast<std::size_t>(size) * 64;
      const double all =
          algorithm.operation == Operation::barrier ? 0.0 : static_cast<double>(count * unit) * (has_blocks ? size : 1);
      World world(algorithm.operation, size, 0, count, node_of);
      const Report report = check(promised(algorithm, spread), world.set_element_size(unit));
      ASSERT_TRUE(report.ok) << report.problem;
      const LevelCost cost = algorithm.level_cost(spread, all);
      Cost on_node = cost.local;
      for (const PhaseCost& phase : cost.on_node) on_node = on_node + phase.cost;
      const Cost& across = cost.across.cost;
      // Chunks run beside one another, and the first ones are longer where their number does not divide the elements.
      const double most = cost.chunks > 1 ? 1.1 : 1;
      const double least = cost.chunks > 1 ? 3.01 : 2.01;
      // Along trees the last rank waits longer than any rank works.
      const Cost path = has_depth(algorithm) ? path_of(world.schedules(algorithm)) : report.measured;
      const auto expect_bound = [&](double Cost::*figure, double elements, const char* what) {
        const double formula = on_node.*figure + across.*figure;
        EXPECT_LE(elements * report.measured.*figure, most * formula + 1e-9)
            << what << ", " << size << " ranks, " << per_node << " a node";
        EXPECT_GE(least * elements * path.*figure, formula)
            << what << ", " << size << " ranks, " << per_node << " a node";
      };
      const auto bytes = static_cast<double>(unit);
      expect_bound(&Cost::bytes, bytes, "bytes");
      expect_bound(&Cost::rounds, 1, "rounds");
      expect_bound(&Cost::messages, 1, "messages");
      expect_bound(&Cost::reduced_bytes, bytes, "reduced");
      EXPECT_LE(bytes * report.measured.copied_bytes, most * (on_node.copied_bytes + across.copied_bytes) + 1e-9);
    }
}

struct Crossing {
  std::size_t messages = 0;
  std::size_t elements = 0;
};

Crossing crossing(const Algorithm& algorithm, int size, const std::vector<int>& node_of) {
  Crossing sum;
  const World world(algorithm.operation, size, 0, 32, node_of);
  const std::vector<Schedule> all = world.schedules(algorithm);
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    for (const Round& round : all[rank].rounds)
      for (const Transfer& t : round.transfers) {
        if (t.kind != Transfer::Kind::send || node_of[static_cast<std::size_t>(t.peer)] == node_of[rank]) continue;
        ++sum.messages;
        sum.elements += t.slice.count;
      }
  return sum;
}

// Between nodes, an algorithm by leaders has one sender a node; all have fewer messages there than ranks pair up, or
// shares of the vector, and so fewer elements.
TEST_P(Hierarchical, SendsLessBetweenNodesThanFlatOnes) {
  const Algorithm& algorithm = GetParam();
  const int size = 16;
  const std::vector<int> node_of = block_layout(size, 4);
  const char* const flat = algorithm.operation == Operation::allreduce ? "recursive_doubling"
                           : algorithm.operation == Operation::barrier ? "dissemination"
                           : algorithm.operation == Operation::scan    ? "recursive_doubling"
                           : algorithm.operation == Operation::exscan  ? "recursive_doubling"
                           : algorithm.operation == Operation::reduce  ? "direct"
                           : has_root(algorithm.operation)             ? "linear"
                                                                       : "direct";
  const Algorithm* other = find_algorithm(algorithm.operation, flat);
  ASSERT_NE(other, nullptr);
  const Crossing own = crossing(algorithm, size, node_of);
  const Crossing others = crossing(*other, size, node_of);
  const bool is_of_vector = algorithm.operation == Operation::allreduce || algorithm.operation == Operation::bcast ||
                            algorithm.operation == Operation::reduce;
  if (is_of_vector && (algorithm.name == "hierarchical_split" || algorithm.name == "hierarchical_pipeline"))
    EXPECT_LT(own.elements, others.elements);
  else
    EXPECT_LT(own.messages, others.messages);
}

std::string hierarchical_name(const testing::TestParamInfo<Algorithm>& info) { return name_of(info); }

INSTANTIATE_TEST_SUITE_P(Algorithms, Hierarchical, testing::ValuesIn(hierarchical_algorithms()), hierarchical_name);
INSTANTIATE_TEST_SUITE_P(Algorithms, HierarchicalCosts, testing::ValuesIn(regular_algorithms()), hierarchical_name);

TEST(HierarchicalRegistry, CoversAllOperations) {
  for (int i = 0; i <= static_cast<int>(Operation::alltoallv); ++i) {
    const auto operation = static_cast<Operation>(i);
    EXPECT_FALSE(hierarchical_algorithms_of(operation).empty()) << operation_name(operation);
    for (const Algorithm& algorithm : hierarchical_algorithms_of(operation)) {
      EXPECT_TRUE(algorithm.hierarchical);
      EXPECT_EQ(algorithm.tells_counts, has_hidden_size(operation));
      ASSERT_NE(find_algorithm(operation, algorithm.name), nullptr);
      EXPECT_EQ(find_algorithm(operation, algorithm.name)->generate, algorithm.generate);
    }
  }
}

TEST(Spread, TellsLayoutsApart) {
  const Spread block = spread_of(block_layout(8, 4), 8);
  EXPECT_EQ(block.nodes, 2);
  EXPECT_EQ(block.most, 4);
  EXPECT_TRUE(block.even() && block.adjacent);
  const Spread robin = spread_of(round_robin_layout(8, 2), 8);
  EXPECT_TRUE(robin.even());
  EXPECT_FALSE(robin.adjacent);
  const Spread uneven = spread_of(uneven_layout(6), 6);
  EXPECT_FALSE(uneven.even());
  EXPECT_EQ(uneven.most, 3);
  EXPECT_EQ(uneven.least, 1);
  EXPECT_TRUE(uneven.adjacent);
  EXPECT_EQ(spread_of({}, 5).nodes, 1);
  EXPECT_EQ(spread_of({}, 5).most, 5);
}

TEST(HierarchicalFaults, WrongMapIsFound) {
  // One rank believes in another layout than the others.
  const Algorithm algorithm = *find_algorithm(Operation::allreduce, "hierarchical");
  const std::vector<int> right = block_layout(8, 4);
  const NodeMap wrong(round_robin_layout(8, 2));
  const World world(Operation::allreduce, 8, 0, 16, right);
  std::vector<Schedule> schedules = world.schedules(algorithm);
  ASSERT_TRUE(check(algorithm, world, schedules, Memory::separate).ok);
  Problem p = world.problem(5);
  p.node_of = &wrong;
  schedules[5] = algorithm.generate(p);
  EXPECT_FALSE(check(algorithm, world, schedules, Memory::separate).ok);
}

TEST(HierarchicalFaults, OrderIsLostWhereRanksOfANodeAreApart) {
  const Algorithm algorithm = *find_algorithm(Operation::allreduce, "hierarchical");
  const Report report = check(algorithm, World(Operation::allreduce, 8, 0, 16, round_robin_layout(8, 2)));
  EXPECT_FALSE(report.ok);
  EXPECT_NE(report.problem.find("rank order"), std::string::npos) << report.problem;
}

}  // namespace
}  // namespace tutti::schedules
