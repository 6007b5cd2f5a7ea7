// SPDX-License-Identifier: BSD-3-Clause
// tutti-commbench on device memory, with the stand-ins in the place of a GPU: it measures every way, beside NCCL
// itself, and finds the results right. Its figures mean nothing here.
#include <algorithm>
#include <tutti/tutti.hpp>

#include "backends/nccl/table.hpp"
#include "core/config.hpp"
#include "gpu/machine.hpp"
#include "suite.hpp"
#include "support/world.hpp"

namespace tutti::commbench {
namespace {

class DeviceSuite : public test::gpu::OnDevice {};

Settings short_settings() {
  Settings settings;
  settings.operations = {Operation::allreduce};
  settings.types = {DatatypeKind::float32};
  settings.ops = {ReduceKind::sum};
  settings.memory = {MemorySpace::device};
  settings.modes = {Mode::blocking};
  settings.algorithms = {"auto"};
  settings.low = settings.high = 4096;
  settings.check = Check::all;
  settings.warm_up = 1;
  settings.rounds = 2;
  settings.budget = 1e-4;
  settings.min_iterations = 4;
  settings.overlap_tests = 2;
  return settings;
}

std::vector<PointResult> measure(const Settings& settings) {
  const Communicator& comm = test::world();
  std::vector<PointResult> results;
  Suite suite(comm, settings);
  for (const Point& point : points_of(settings, comm.size())) results.push_back(suite.measure(point));
  return results;
}

void expect_measured(const Measurement& m) {
  EXPECT_EQ(m.skipped, "") << m.algorithm;
  EXPECT_GE(m.seconds.size(), 4U) << m.algorithm;
  EXPECT_GT(m.checked, 0U) << m.algorithm;
  EXPECT_EQ(m.wrong, 0U) << m.algorithm << ": " << m.fault;
}

TEST_F(DeviceSuite, MeasuresTuttiBesideNccl) {
  Settings settings = short_settings();
  settings.operations = {Operation::allreduce, Operation::bcast,  Operation::reduce,  Operation::reduce_scatter_block,
                         Operation::allgather, Operation::gather, Operation::scatter, Operation::alltoall,
                         Operation::alltoallv, Operation::gatherv};
  settings.splits.kind = Splits::Kind::uneven;
  settings.algorithms = {"auto", raw_nccl};
  for (const PointResult& result : measure(settings)) {
    EXPECT_EQ(result.chosen.substr(0, 5), "nccl:") << operation_name(result.point.operation);
    ASSERT_EQ(result.measurements.size(), 2U);
    for (const Measurement& m : result.measurements) {
      expect_measured(m);
      ASSERT_EQ(m.queued.size(), 2U) << m.algorithm;
      for (const Queued& queued : m.queued) {
        EXPECT_GT(queued.launch, 0);
        EXPECT_GE(queued.device, 0);
        EXPECT_GE(queued.total, queued.launch);
      }
    }
  }
}

TEST_F(DeviceSuite, MeasuresMessagesBesideNccl) {
  Settings settings = short_settings();
  settings.operations = {};
  settings.traffic.assign(all_traffic.begin(), all_traffic.end());
  settings.algorithms = {"auto", raw_nccl};
  const std::vector<PointResult> results = measure(settings);
  EXPECT_EQ(results.size(), test::world().size() > 1 ? all_traffic.size() : 0U);
  for (const PointResult& result : results)
    for (const Measurement& m : result.measurements) expect_measured(m);
}

TEST_F(DeviceSuite, MeasuresCallsInPlaceAndSeveralAtOnce) {
  Settings settings = short_settings();
  settings.operations = {Operation::allreduce, Operation::allgather, Operation::gather, Operation::alltoall};
  settings.in_place = true;
  settings.communicators = 2;
  settings.modes = {Mode::nonblocking};
  settings.overlap = false;
  for (const PointResult& result : measure(settings))
    for (const Measurement& m : result.measurements) expect_measured(m);
}

TEST_F(DeviceSuite, MeasuresEveryWayInEveryForm) {
  Settings settings = short_settings();
  settings.algorithms = {"all"};
  settings.modes = {Mode::blocking, Mode::nonblocking, Mode::persistent};
  settings.rounds = 1;
  settings.overlap = test::world().size() == 1;  // the stand-ins take long for what is measured then
  std::size_t ways = 0;
  for (const PointResult& result : measure(settings))
    for (const Measurement& m : result.measurements) {
      expect_measured(m);
      EXPECT_EQ(m.overlap.has_value(), settings.overlap && result.point.mode != Mode::blocking);
      EXPECT_EQ(m.queued.empty(), result.point.mode != Mode::blocking);
      ++ways;
    }
  EXPECT_GT(ways, 3U * 3U);
}

TEST_F(DeviceSuite, NarrowSumsAsTheBackend) {
  Settings settings = short_settings();
  settings.types = {DatatypeKind::bfloat16};
  settings.accumulation = Accumulation::backend;
  settings.algorithms = {"nccl:direct", raw_nccl};
  for (const PointResult& result : measure(settings))
    for (const Measurement& m : result.measurements) expect_measured(m);
}

TEST_F(DeviceSuite, MeasuresManagedAndPinnedMemory) {
  Settings settings = short_settings();
  settings.memory = {MemorySpace::managed, MemorySpace::pinned};
  settings.reuse = Reuse::cold;
  settings.cold_bytes = std::size_t{1} << 16U;
  for (const PointResult& result : measure(settings))
    for (const Measurement& m : result.measurements) expect_measured(m);
}

/// What NCCL was asked to register while it lives, by communicators that are prepared meanwhile.
class Registrations {
 public:
  Registrations() {
    std::string why;
    before_ = detail::nccl::table(why);
    counting_ = *before_;
    windows_ = 0;
    counting_.comm_window_register = [](auto... arguments) {
      ++windows_;
      return before_->comm_window_register(arguments...);
    };
    detail::nccl::replace_table(&counting_);
  }
  ~Registrations() { detail::nccl::replace_table(before_); }
  Registrations(const Registrations&) = delete;
  Registrations& operator=(const Registrations&) = delete;
  [[nodiscard]] static int windows() { return windows_; }

 private:
  static inline const detail::nccl::Table* before_ = nullptr;
  static inline detail::nccl::Table counting_{};
  static inline int windows_ = 0;
};

TEST_F(DeviceSuite, BuffersAreRegisteredWhereTheUserAsksForIt) {
  const Registrations registrations;
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const Settings settings = short_settings();
  Suite suite(comm, settings);
  for (const Point& point : points_of(settings, comm.size()))
    for (const Measurement& m : suite.measure(point).measurements) expect_measured(m);
  EXPECT_EQ(Registrations::windows() > 0, detail::config().nccl_register);
}

TEST_F(DeviceSuite, WhatNcclHasNotIsLeftOut) {
  Settings settings = short_settings();
  settings.operations = {Operation::scan};
  settings.algorithms = {raw_nccl};
  for (const PointResult& result : measure(settings))
    EXPECT_NE(result.measurements.front().skipped.find("NCCL has no scan"), std::string::npos);
}

}  // namespace
}  // namespace tutti::commbench
