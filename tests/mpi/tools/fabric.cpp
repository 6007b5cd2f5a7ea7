// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <mpi.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "tools/link_measurement.hpp"

namespace {

/// The distance at which long messages go over a slow link of this test.
int slow_distance = 0;
std::chrono::milliseconds delay{20};

}  // namespace

/// Takes the place of the MPI's own.
extern "C" int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  if (count > 1000 && std::abs(to - rank) == slow_distance) std::this_thread::sleep_for(delay);
  return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

namespace tutti::tools {
namespace {

/// As if each rank had a node for itself.
std::vector<Place> places_apart() {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Place> places(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) places[static_cast<std::size_t>(rank)].node = rank;
  return places;
}

detail::Fabric measured() { return measure_fabric(MPI_COMM_WORLD, places_apart(), {2, 2}); }

TEST(FabricOfRanks, HasAFigureForEachDistanceAndIsEqualOnAll) {
  const detail::Fabric fabric = measured();
  EXPECT_EQ(distances_of(fabric), 2U);
  EXPECT_GT(fabric.at[0].latency, 0);
  EXPECT_GT(fabric.everywhere, 0);
  detail::Fabric of_first = fabric;
  MPI_Bcast(&of_first, sizeof of_first, MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(fabric, of_first);
}

TEST(FabricOfRanks, ShowsTheDistanceThatIsSlow) {
  slow_distance = 2;
  const detail::Fabric fabric = measured();
  slow_distance = 0;
  EXPECT_LT(fabric.at[1].rate, (1 << 20) / 0.02);
  EXPECT_GT(fabric.at[0].rate, 2 * fabric.at[1].rate);
}

/// The first two nodes are one group, and the others another one.
detail::NetworkLevels halves() {
  detail::NetworkLevels groups(1);
  for (const Place& place : places_apart()) groups[0].push_back(place.node / 2);
  return groups;
}

TEST(FabricOfRanks, ShowsTheGroupsBetweenWhichItIsSlow) {
  slow_distance = 2;
  const auto before = std::exchange(delay, std::chrono::milliseconds(400));  // so that other work does not matter
  detail::Fabric fabric = measured();
  measure_groups(MPI_COMM_WORLD, places_apart(), halves(), fabric, {2, 2});
  delay = before;
  slow_distance = 0;
  const double slow_rate = (1 << 20) / 0.4;
  EXPECT_GT(fabric.by_group[0].latency, 0);
  EXPECT_GT(fabric.by_group[1].latency, 0);
  EXPECT_GT(fabric.within_group, 2 * slow_rate);
  EXPECT_GT(fabric.by_group[1].between, 0);
  EXPECT_LT(fabric.by_group[1].between, 2 * slow_rate) << "of two nodes at once";
  EXPECT_EQ(fabric.by_group[2], detail::Fabric::Group{});
  // In another order the near nodes are those that are slow.
  detail::NetworkLevels dealt(1);
  for (const Place& place : places_apart()) dealt[0].push_back(place.node % 2);
  const detail::Fabric other = in_order(fabric, dealt);
  EXPECT_LT(other.at[0].rate, slow_rate * 2);
  EXPECT_GT(other.at[1].rate, 2 * other.at[0].rate);
  detail::Fabric of_first = fabric;
  MPI_Bcast(&of_first, sizeof of_first, MPI_BYTE, 0, MPI_COMM_WORLD);
  EXPECT_EQ(fabric, of_first);
}

TEST(FabricOfRanks, HasNoFiguresByGroupWithoutGroups) {
  detail::Fabric fabric = measured();
  const detail::Fabric before = fabric;
  measure_groups(MPI_COMM_WORLD, places_apart(), {}, fabric, {1, 1});
  EXPECT_EQ(fabric, before);
}

// Exchanges of the first node and the last one are slow, and messages that go one way are not.
TEST(LinksOfRanks, TellExchangesFromMessagesThatPassOn) {
  const std::vector<Place> places = places_apart();
  slow_distance = static_cast<int>(places.size()) - 1;
  const std::vector<LinkMeasurement> found = measure_links(MPI_COMM_WORLD, places, {2, 2});
  slow_distance = 0;
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].link.rate, (1 << 20) / 0.02);
  EXPECT_GT(found[0].link.passing_rate, 2 * found[0].link.rate);
}

TEST(FabricOfRanks, OfTwoNodesHasNothingToCompare) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<Place> places(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) places[static_cast<std::size_t>(rank)].node = rank % 2;
  EXPECT_EQ(distances_of(measure_fabric(MPI_COMM_WORLD, places, {1, 1})), 0U);
}

}  // namespace
}  // namespace tutti::tools
