// SPDX-License-Identifier: BSD-3-Clause
// What the ranks of a trace do together: they measure offsets between clocks, and carry parts to rank 0.
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "diagnosis/trace/world.hpp"

namespace tutti::test {
namespace {

using namespace detail::trace;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// On one machine the counter is the same, so that rank 0 must have read it within the round trip.
TEST(TraceWorld, MeasuresTheOffsetOfAClock) {
  const OffsetRecord offset = measure_offset(MPI_COMM_WORLD, 1);
  if (rank_of_world() != 1) return;
  EXPECT_GT(offset.round_trip, 0U);
  EXPECT_GE(offset.other + offset.round_trip / 2 + 1, offset.own);
  EXPECT_LE(offset.other, offset.own + offset.round_trip / 2 + 1);
}

TEST(TraceWorld, CarriesFilesOfAnyLength) {
  const int rank = rank_of_world();
  const std::string path =
      (std::filesystem::temp_directory_path() / ("tutti_carried." + std::to_string(getpid()))).string();
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{5}, std::size_t{1} << 20U, (std::size_t{3} << 20U) + 7}) {
    std::string text(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<char>(i * 31 % 251);
    if (rank == 1) std::ofstream(path, std::ios::binary) << text;
    const std::string problem = carry_file(MPI_COMM_WORLD, 1, path);
    EXPECT_EQ(problem, "");
    if (rank != 0) continue;
    std::ifstream file(path, std::ios::binary);
    const std::string carried{std::istreambuf_iterator<char>(file), {}};
    EXPECT_EQ(carried, text);
  }
  std::filesystem::remove(path);
}

TEST(TraceWorld, CarriesNothingThroughAPlantedLink) {
  const auto base = std::filesystem::temp_directory_path() / ("tutti_planted." + std::to_string(getpid()));
  const std::string victim = base.string() + ".victim";
  std::ofstream(victim) << "mine";
  if (rank_of_world() == 0) std::filesystem::create_symlink(victim, base);
  if (rank_of_world() == 1) std::ofstream(base) << "part";
  EXPECT_EQ(carry_file(MPI_COMM_WORLD, 1, base.string()), "");
  std::string kept;
  std::ifstream(victim) >> kept;
  EXPECT_EQ(kept, "mine");
  EXPECT_FALSE(std::filesystem::is_symlink(base));
  std::filesystem::remove(victim);
  std::filesystem::remove(base);
}

TEST(TraceWorld, SaysWhatItCannotCarry) {
  const std::string problem = carry_file(MPI_COMM_WORLD, 1, "/nowhere/part");
  EXPECT_NE(problem.find("/nowhere/part"), std::string::npos);
}

}  // namespace
}  // namespace tutti::test
