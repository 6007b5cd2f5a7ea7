// SPDX-License-Identifier: BSD-3-Clause
#include "planner/calibration.hpp"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/apart.hpp"
#include "planner/files.hpp"
#include "support.hpp"

namespace tutti::test {
namespace {

using namespace detail::tuning;

/// What the tests of this file need: a cache of their own, and a mode other than off.
class CalibratedJob : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* own = std::getenv("TUTTI_TEST_CALIBRATION");
    if (own == nullptr) GTEST_SKIP() << "runs as mpi.planner.calibration, with a cache of its own";
    if (world_rank() == 0) std::filesystem::remove(calibration_file());
    MPI_Barrier(MPI_COMM_WORLD);
  }
  static Communicator make() { return Communicator::duplicate(MPI_COMM_WORLD); }
  static const std::string& report(const Communicator& comm) { return comm.state()->costs_report; }
  static bool measures(const Communicator& comm) { return comm.size() > 1 && !comm.topology().oversubscribed; }
  static bool is_now(const Communicator& comm) { return report(comm).starts_with("calibrated now"); }
  static bool is_disturbed(const Communicator& comm) { return report(comm).find("other work") != std::string::npos; }
  static bool is_earlier(const Communicator& comm) { return report(comm).starts_with("calibrated earlier"); }
};

TEST_F(CalibratedJob, CostsAreSaneAndTheSameEverywhere) {
  const auto comm = make();
  EXPECT_TRUE(are_sane(comm.state()->costs)) << text_of(comm.state()->costs);
  expect_same_everywhere(text_of(comm.state()->costs));
  EXPECT_EQ(is_now(comm), measures(comm)) << report(comm);
  EXPECT_EQ(text_of(comm.state()->machine().costs), text_of(comm.state()->costs));
}

TEST_F(CalibratedJob, WorksAfterwards) {
  const auto comm = make();
  for (const std::size_t count : {1, 100, 10000, 1000000}) expect_allreduce_works(comm, count);
  std::vector<int> x(5000, comm.rank());
  for (int call = 0; call < 40; ++call) {
    bcast(comm, x, call % comm.size());
    EXPECT_EQ(x, std::vector<int>(5000, call % comm.size()));
    x.assign(5000, comm.rank());
  }
}

// The check of a later communicator may find cores farther apart than before, and then it measures again.
TEST_F(CalibratedJob, ALaterCommunicatorUsesTheCacheOrMeasuresAgain) {
  const auto first = make();
  const auto later = make();
  EXPECT_EQ(is_earlier(later) || is_now(later), measures(first)) << report(later);
  expect_same_everywhere(text_of(later.state()->costs));
  if (is_earlier(later)) {
    EXPECT_EQ(text_of(later.state()->costs), text_of(first.state()->costs));
  }
}

TEST_F(CalibratedJob, APartHasTheCostsOfTheWhole) {
  const auto whole = make();
  const auto part = whole.split(0, whole.rank());
  EXPECT_EQ(text_of(part.state()->costs), text_of(whole.state()->costs));
}

TEST_F(CalibratedJob, DoubtMeasuresAgain) {
  const auto first = make();
  doubt_calibration();
  const auto later = make();
  EXPECT_EQ(is_now(later) || is_disturbed(later), measures(first)) << report(later);
}

/// Keeps the calling thread's core busy, and the thread on it.
class BusyCore {
 public:
  BusyCore() {
    sched_getaffinity(0, sizeof allowed_, &allowed_);
    std::vector<int> cores;
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (CPU_ISSET(core, &allowed_)) cores.push_back(core);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cores[static_cast<std::size_t>(world_rank()) % cores.size()], &one);
    sched_setaffinity(0, sizeof one, &one);
    other_ = std::thread([this] {
      while (!over_.load(std::memory_order_relaxed)) continue;
    });
  }
  ~BusyCore() {
    over_ = true;
    other_.join();
    sched_setaffinity(0, sizeof allowed_, &allowed_);
  }

 private:
  cpu_set_t allowed_{};
  std::atomic<bool> over_{false};
  std::thread other_;
};

TEST_F(CalibratedJob, RanksOnOneCoreMoveApart) {
  const std::vector<int> units = detail::allowed_units();
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<int> all(static_cast<std::size_t>(ranks));
  const auto gather = [&](int mine) {
    MPI_Allgather(&mine, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
    return all;
  };
  if (units.size() < all.size()) GTEST_SKIP() << "there is not a core for each rank";
  if (gather(units.front()) != std::vector<int>(all.size(), units.front())) GTEST_SKIP() << "ranks are bound apart";
  const auto comm = make();
  detail::move_to_unit(units.front());
  move_apart(*comm.state());
  std::vector<int> running = gather(sched_getcpu());
  std::ranges::sort(running);
  EXPECT_EQ(std::ranges::adjacent_find(running), running.end()) << ::testing::PrintToString(running);
  EXPECT_EQ(detail::allowed_units(), units);
}

TEST_F(CalibratedJob, CostsMeasuredBesideOtherWorkAreNotKept) {
  {
    const BusyCore busy;
    const auto comm = make();
    EXPECT_EQ(is_disturbed(comm), measures(comm)) << report(comm);
    EXPECT_TRUE(are_sane(comm.state()->costs)) << text_of(comm.state()->costs);
    expect_same_everywhere(text_of(comm.state()->costs));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(std::filesystem::exists(calibration_file()));
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_FALSE(is_earlier(make()));
}

TEST_F(CalibratedJob, CostsOfEarlierAreBetterThanDisturbedOnes) {
  const BusyCore busy;
  const auto first = make();
  if (!measures(first)) GTEST_SKIP() << "nothing is measured: " << report(first);
  detail::Costs contradicted = first.state()->costs;
  contradicted.line *= 100;
  if (world_rank() == 0) {
    std::filesystem::create_directories(calibration_file().parent_path());
    std::ofstream(calibration_file()) << with_costs("", key_of(first.topology()), contradicted);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto later = make();
  EXPECT_TRUE(report(later).starts_with("calibrated earlier, because other work")) << report(later);
  EXPECT_EQ(text_of(later.state()->costs), text_of(contradicted));
}

TEST_F(CalibratedJob, ADamagedCacheIsReplaced) {
  if (world_rank() == 0) {
    std::filesystem::create_directories(calibration_file().parent_path());
    std::ofstream(calibration_file()) << "not what it should be";
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const auto comm = make();
  EXPECT_EQ(is_now(comm), measures(comm)) << report(comm);
  if (!measures(comm) || is_disturbed(comm) || world_rank() != 0) return;
  const auto kept = costs_in(read_file(calibration_file()).value_or(""), key_of(comm.topology()));
  ASSERT_TRUE(kept);
  EXPECT_EQ(text_of(*kept), text_of(comm.state()->costs));
}

TEST_F(CalibratedJob, CostsDecide) {
  const auto comm = make();
  if (!comm.state()->machine().single_copy) GTEST_SKIP() << "no single copies here";
  detail::Machine machine = comm.state()->machine();
  machine.measured = nullptr;
  detail::Signature signature = allreduce_signature(1024);
  signature.operation = Operation::bcast;
  machine.costs = {};
  machine.costs.kernel_call = machine.costs.kernel_busy_call = 10e-6;
  EXPECT_NE(make_plan(signature, machine)->way, "shm:single_copy");
  machine.costs = {};
  machine.costs.kernel_call = machine.costs.kernel_busy_call = 1e-9;
  EXPECT_EQ(make_plan(signature, machine)->way, "shm:single_copy");
}

}  // namespace
}  // namespace tutti::test
