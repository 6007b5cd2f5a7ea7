// SPDX-License-Identifier: BSD-3-Clause
#include "schedules/neighborhood.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "support/proof/checker.hpp"

namespace tutti::schedules {
namespace {

constexpr int none = -1;

/// An edge of a topology: block `sent` of rank `from` is block `received` of rank `to`.
struct Edge {
  int from = 0;
  int to = 0;
  std::size_t sent = 0;
  std::size_t received = 0;
  std::size_t count = 0;
};

/// A neighborhood collective on a topology, with blocks of different sizes and gaps between them. Its results follow
/// from the list of edges, which the schedules do not see.
class Topology final : public World {
 public:
  Topology(std::vector<Neighborhood> ranks, std::vector<Edge> edges, bool sends_one, std::uint32_t seed)
      : World(Operation::alltoallv, static_cast<int>(ranks.size()), 0, 1),
        ranks_(std::move(ranks)),
        edges_(std::move(edges)) {
    std::mt19937 random(seed);
    for (const Neighborhood& rank : ranks_) {
      from_.emplace_back(rank.destinations.size());
      to_.emplace_back(rank.sources.size());
    }
    for (Edge& edge : edges_) {
      edge.count = sends_one ? 1 + static_cast<std::size_t>(edge.from) % 3 : random() % 4;
      from_[edge.from][edge.sent].count = to_[edge.to][edge.received].count = edge.count;
    }
    for (Blocks& blocks : from_) place(blocks, random, sends_one);
    for (Blocks& blocks : to_) place(blocks, random, false);
  }

  [[nodiscard]] std::vector<Schedule> neighbor_schedules() const {
    std::vector<Schedule> all;
    for (int r = 0; r < size(); ++r) all.push_back(neighbor_exchange(ranks_[r], r, from_[r], to_[r]));
    return all;
  }
  [[nodiscard]] Report prove() const { return prove(neighbor_schedules()); }
  [[nodiscard]] Report prove(const std::vector<Schedule>& schedules) const {
    return check(algorithms_of(Operation::alltoallv).front(), *this, schedules, Memory::separate);
  }
  [[nodiscard]] std::vector<Neighborhood>& ranks() { return ranks_; }

  [[nodiscard]] std::size_t input_count(int rank) const override { return end(from_[rank]); }
  [[nodiscard]] std::size_t output_count(int rank) const override { return end(to_[rank]); }
  [[nodiscard]] std::optional<Placement> in_place(int /*rank*/) const override { return std::nullopt; }
  [[nodiscard]] std::vector<Expected> expected(int rank) const override {
    std::vector<Expected> all(output_count(rank));
    for (const Edge& edge : edges_)
      for (std::size_t i = 0; edge.to == rank && i < edge.count; ++i)
        all[to_[rank][edge.received].offset + i] = {true, edge.from, edge.from, from_[edge.from][edge.sent].offset + i};
    return all;
  }

 private:
  static void place(Blocks& blocks, std::mt19937& random, bool is_one) {
    std::size_t at = 0;
    for (Block& block : blocks) {
      at += is_one ? 0 : random() % 3;
      block.offset = at;
      at += is_one ? 0 : std::max(block.count, std::size_t{1});
    }
  }
  static std::size_t end(const Blocks& blocks) {
    std::size_t end = 0;
    for (const Block& block : blocks) end = std::max(end, block.offset + std::max(block.count, std::size_t{1}));
    return end;
  }

  std::vector<Neighborhood> ranks_;
  std::vector<Edge> edges_;
  std::vector<Blocks> from_;
  std::vector<Blocks> to_;
};

/// The rank one step away in a dimension of a grid whose last dimension is the fastest; none beyond a border.
int step(int rank, std::size_t d, int by, const std::vector<int>& sizes, unsigned periodic) {
  int stride = 1;
  for (std::size_t k = sizes.size() - 1; k > d; --k) stride *= sizes[k];
  const int at = rank / stride % sizes[d];
  const int next = at + by;
  if ((next < 0 || next >= sizes[d]) && (periodic >> d & 1U) == 0) return none;
  return rank + ((next + sizes[d]) % sizes[d] - at) * stride;
}

Topology grid(const std::vector<int>& sizes, unsigned periodic, bool sends_one) {
  int ranks = 1;
  for (const int n : sizes) ranks *= n;
  std::vector<Neighborhood> all(ranks);
  std::vector<Edge> edges;
  for (int r = 0; r < ranks; ++r) {
    all[r].is_grid = true;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      const int below = step(r, d, -1, sizes, periodic);
      const int above = step(r, d, +1, sizes, periodic);
      for (std::vector<int>* side : {&all[r].sources, &all[r].destinations}) side->insert(side->end(), {below, above});
      if (below != none) edges.push_back({r, below, 2 * d, 2 * d + 1});
      if (above != none) edges.push_back({r, above, 2 * d + 1, 2 * d});
    }
  }
  return {std::move(all), std::move(edges), sends_one, 1};
}

/// Any number of edges between any ranks, in another order at each end; those of a pair of ranks keep theirs.
Topology random_graph(std::uint32_t seed, bool sends_one) {
  std::mt19937 random(seed);
  const int ranks = 1 + static_cast<int>(random() % 9);
  std::vector<Edge> edges(random() % (4 * static_cast<unsigned>(ranks)));
  for (Edge& edge : edges) {
    edge.from = static_cast<int>(random() % static_cast<unsigned>(ranks));
    edge.to = static_cast<int>(random() % static_cast<unsigned>(ranks));
  }
  std::vector<Neighborhood> all(ranks);
  for (Edge& edge : edges) {
    edge.sent = all[edge.from].destinations.size();
    all[edge.from].destinations.push_back(edge.to);
  }
  std::vector<std::mt19937::result_type> key(ranks);
  for (auto& k : key) k = random();
  std::stable_sort(edges.begin(), edges.end(), [&](const Edge& a, const Edge& b) { return key[a.from] < key[b.from]; });
  for (Edge& edge : edges) {
    edge.received = all[edge.to].sources.size();
    all[edge.to].sources.push_back(edge.from);
  }
  return {std::move(all), std::move(edges), sends_one, seed};
}

const std::vector<std::vector<int>> grids = {{1},    {2},    {3},    {7},       {1, 1},    {2, 1},    {2, 2},
                                             {3, 4}, {1, 5}, {2, 7}, {1, 1, 1}, {2, 2, 2}, {3, 1, 2}, {4, 3, 2}};

TEST(Neighborhood, GridsOfAllKindsUpToThreeDimensions) {
  for (const std::vector<int>& sizes : grids)
    for (unsigned periodic = 0; periodic < 1U << sizes.size(); ++periodic)
      for (const bool sends_one : {false, true}) {
        const Report report = grid(sizes, periodic, sends_one).prove();
        EXPECT_TRUE(report.ok) << report.problem << " (dimensions " << sizes.size() << ", first " << sizes[0]
                               << ", periodic " << periodic << ")";
      }
}

TEST(Neighborhood, GraphsWithRepeatedEdgesAndEdgesToOneself) {
  for (std::uint32_t seed = 0; seed < 500; ++seed)
    for (const bool sends_one : {false, true}) {
      const Report report = random_graph(seed, sends_one).prove();
      EXPECT_TRUE(report.ok) << report.problem << " (seed " << seed << ")";
    }
}

// The proof sees directions that are mixed up, which differ in nothing else where a rank is both neighbours.
TEST(Neighborhood, DirectionsThatAreMixedUpAreFound) {
  for (const int ranks : {1, 2}) {
    Topology ring = grid({ranks}, 1, true);
    ASSERT_TRUE(ring.prove().ok);
    Topology uneven = grid({ranks}, 1, false);
    for (Neighborhood& rank : uneven.ranks()) rank.is_grid = false;
    EXPECT_FALSE(uneven.prove().ok) << ranks;
  }
}

TEST(Neighborhood, OneRoundWithoutScratch) {
  for (const Schedule& schedule : grid({4, 3, 2}, 7, false).neighbor_schedules()) {
    EXPECT_LE(schedule.rounds.size(), 1U);
    EXPECT_EQ(schedule.scratch_count, 0U);
  }
}

}  // namespace
}  // namespace tutti::schedules
