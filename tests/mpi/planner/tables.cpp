// SPDX-License-Identifier: BSD-3-Clause
// What ranks make of tables: the same, whatever each of them can read.
#include <stdlib.h>

#include <filesystem>
#include <tutti/tutti.hpp>

#include "planner/files.hpp"
#include "planner/table.hpp"
#include "support.hpp"
#include "support/common_folder.hpp"

namespace tutti::test {
namespace {

namespace fs = std::filesystem;
using namespace detail::tuning;

constexpr std::size_t tuned_count = 5000;

/// A folder that rank 0 fills; without a table elsewhere.
class Tables : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
    ::setenv("TUTTI_TUNING", "off", 1);
    key_ = key_of(Communicator::duplicate(MPI_COMM_WORLD).topology());
  }
  void TearDown() override {
    MPI_Barrier(MPI_COMM_WORLD);
    ::unsetenv("TUTTI_TUNING");
  }

  /// A table by which one way to sum 20,000 bytes is the fastest by far.
  [[nodiscard]] std::string table(const std::string& fastest, int ranks = 0) const {
    Section section;
    section.key = key_;
    if (ranks != 0) {
      section.key.ranks = ranks;
      section.key.ranks_per_node = {ranks};
    }
    Cell cell;
    cell.operation = Operation::allreduce;
    cell.type = {Arithmetic::plain, 4};
    cell.bytes = tuned_count * sizeof(float);
    for (const auto& algorithm : schedules::algorithms_of(cell.operation))
      cell.seconds["mpi:" + std::string(algorithm.name)] = 1;
    for (const char* protocol : {"shm:line", "shm:slots", "shm:single_copy"}) cell.seconds[protocol] = 1;
    cell.seconds[fastest] = 1e-9;
    section.cells.push_back(cell);
    return print({section});
  }

  /// Rank 0 writes a file; the ranks that `is_named_on` picks have it in TUTTI_TUNING.
  fs::path write(const std::string& text, bool is_named = true) {
    const fs::path path = folder_ / "table.json";
    if (world_rank() == 0) write_file(path, text);
    MPI_Barrier(MPI_COMM_WORLD);
    ::setenv("TUTTI_TUNING", is_named ? path.c_str() : "/nonexistent/table.json", 1);
    return path;
  }

  static std::string_view chosen(const Communicator& comm) {
    const auto plan = detail::make_plan(allreduce_signature(tuned_count), comm.state()->machine());
    return plan->algorithm == nullptr ? "none" : plan->algorithm->name;
  }

  CommonFolder folder_;
  Key key_;
};

TEST_F(Tables, DecideThePlan) {
  for (const char* name : {"ring", "rabenseifner", "scatter_allgather"}) {
    write(table(std::string("mpi:") + name));
    const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
    ASSERT_NE(comm.state()->measured, nullptr);
    EXPECT_EQ(chosen(comm), name);
    expect_allreduce_works(comm, tuned_count);
    expect_same_everywhere(comm.state()->measured_report);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(Tables, AreReadByRankZeroForAll) {
  write(table("mpi:ring"), world_rank() == 0);
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_NE(comm.state()->measured, nullptr);
  EXPECT_EQ(chosen(comm), "ring");
  expect_allreduce_works(comm, tuned_count);
}

TEST_F(Tables, ThatRankZeroCannotReadAreRefusedByAll) {
  write(table("mpi:ring"), world_rank() != 0);
  const std::string error = factory_error();
  EXPECT_NE(error.find("/nonexistent/table.json"), std::string::npos) << error;
  expect_same_everywhere(error);
}

TEST_F(Tables, ThatAreDamagedAreRefusedByAll) {
  const std::string good = table("mpi:ring");
  std::string flipped = good;
  flipped[good.find("allreduce")] = 'x';
  for (const std::string& text : {good.substr(0, good.size() / 2), flipped, std::string("{}"), std::string()}) {
    const fs::path path = write(text);
    const std::string error = factory_error();
    EXPECT_EQ(error.find(std::to_string(static_cast<int>(ErrorCode::io)) + ": "), 0U) << error;
    for (const std::string& word : {path.string(), std::string("tutti tune"), std::string("TUTTI_TUNING")})
      EXPECT_NE(error.find(word), std::string::npos) << error;
    expect_same_everywhere(error);
  }
}

TEST_F(Tables, OfAnotherMachineAreRefusedByAll) {
  write(table("mpi:ring", 100));
  const std::string error = factory_error();
  EXPECT_NE(error.find("100 ranks, here " + std::to_string(key_.ranks)), std::string::npos) << error;
  expect_same_everywhere(error);
  key_.mpi = "another MPI";
  write(table("mpi:ring"));
  EXPECT_NE(factory_error().find("another MPI"), std::string::npos);
}

TEST_F(Tables, OfTheWholeJobAreNoneForItsParts) {
  write(table("mpi:ring"));
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto alone = comm.split(comm.rank());
  EXPECT_EQ(alone.state()->measured, nullptr);
  EXPECT_NE(alone.state()->measured_report.find("here 1"), std::string::npos) << alone.state()->measured_report;
  expect_allreduce_works(alone, tuned_count);
  const auto again = comm.split(0);
  EXPECT_NE(again.state()->measured, nullptr);
}

TEST_F(Tables, InTheCacheFolderAreUsed) {
  if (world_rank() == 0) write_file(cache_file(), table("mpi:ring"));
  MPI_Barrier(MPI_COMM_WORLD);
  ::unsetenv("TUTTI_TUNING");
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  ASSERT_NE(comm.state()->measured, nullptr);
  EXPECT_EQ(chosen(comm), "ring");
}

TEST_F(Tables, InTheCacheFolderThatDoNotFitArePassedOver) {
  for (const std::string& text : {table("mpi:ring", 100), std::string("damaged")}) {
    if (world_rank() == 0) write_file(cache_file(), text);
    MPI_Barrier(MPI_COMM_WORLD);
    ::unsetenv("TUTTI_TUNING");
    const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
    EXPECT_EQ(comm.state()->measured, nullptr);
    EXPECT_NE(comm.state()->measured_report.find("tuning.json"), std::string::npos);
    expect_same_everywhere(comm.state()->measured_report);
    expect_allreduce_works(comm, tuned_count);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

/// With the table that the test of the command made: TUTTI_TEST_TABLE names it.
TEST_F(Tables, OfTheCommandDecideThePlans) {
  const char* path = std::getenv("TUTTI_TEST_TABLE");
  if (path == nullptr) GTEST_SKIP() << "TUTTI_TEST_TABLE is not set";
  ::setenv("TUTTI_TUNING", path, 1);
  const auto comm = Communicator::duplicate(MPI_COMM_WORLD);
  ASSERT_NE(comm.state()->measured, nullptr);
  EXPECT_GT(dynamic_cast<const detail::tuning::Table&>(*comm.state()->measured).cell_count(), 0U);
  for (const std::size_t count : {1U, 4096U, 16384U}) {
    const auto all = detail::candidates(allreduce_signature(count), comm.state()->machine());
    EXPECT_TRUE(all.front().measured) << all.front().name;
    for (const detail::Candidate& c : all) {
      if (c.excluded.empty()) {
        EXPECT_TRUE(c.measured) << c.name << ", " << count;
        EXPECT_GE(c.seconds, all.front().seconds) << c.name;
      }
    }
    expect_allreduce_works(comm, count);
  }
}

}  // namespace
}  // namespace tutti::test
