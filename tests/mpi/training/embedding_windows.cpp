// SPDX-License-Identifier: BSD-3-Clause
// What a collection on the device exchanges is in windows of NCCL, where they are registered.
#include <algorithm>
#include <functional>
#include <optional>

#include "core/config.hpp"
#include "device/allocations.hpp"
#include "embedding_on_device.hpp"

namespace tutti::test {
namespace {

auto calls(const std::string& begin) {
  return std::ranges::count_if(machine().nccl.record(),
                               [&](const std::string& call) { return call.starts_with(begin); });
}

bool has_windows() {
  return detail::config().nccl_register && machine().nccl.table().version >= detail::nccl::version_of_windows;
}

/// Exchanges of messages of one length are collectives.
bool has_collectives() {
  return detail::config().nccl_register && machine().nccl.table().version >= detail::nccl::version_of_alltoall;
}

/// What NCCL is called for.
struct Calls {
  explicit Calls(const std::function<void()>& body) {
    machine().drain();
    machine().nccl.clear_record();
    const int before = machine().nccl.launched_in_windows();
    body();
    machine().drain();
    collectives = calls("all_to_all(");
    in_windows = machine().nccl.launched_in_windows() - before;
    messages = calls("send(");
    registrations = calls("comm_window_register") + calls("mem_alloc");
  }
  std::ptrdiff_t collectives = 0;
  std::ptrdiff_t in_windows = 0;
  std::ptrdiff_t messages = 0;
  std::ptrdiff_t registrations = 0;
};

class EmbeddingWindows : public EmbeddingOnDevice {
 protected:
  void SetUp() override {
    EmbeddingOnDevice::SetUp();
    const auto ranks = static_cast<std::size_t>(comm().size());
    made_ = setting(Sharding::table_wise, kernels::Pooling::sum, InputLayout::global);
    made_.tables.clear();
    for (std::size_t t = 0; t < ranks; ++t)
      made_.tables.push_back({"whole " + std::to_string(t), 30, 60, DatatypeKind::float32, kernels::Pooling::sum, 2,
                              Sharding::table_wise});
    made_.tables.push_back(
        {"replica", 20, 5, DatatypeKind::float32, kernels::Pooling::sum, 2, Sharding::data_parallel});
    made_.batches = {ranks, 2 * ranks, 16 / ranks * ranks, ranks};
  }
  Setting& made() { return made_; }
  /// Table t is on rank `owner(t)`, but for the replica.
  [[nodiscard]] ShardingPlan plan(const std::function<int(std::size_t)>& owner) const {
    ShardingPlan plan = plan_sharding(comm(), made_.tables, {.batch = 16, .optimizer = made_.optimizer});
    for (TableShard& shard : plan.shards)
      if (shard.table + 1 < made_.tables.size()) shard.rank = owner(shard.table);
    return plan;
  }
  [[nodiscard]] ShardingPlan even_plan() const {
    return plan([](std::size_t t) { return static_cast<int>(t); });
  }
  [[nodiscard]] ShardingPlan uneven_plan() const {
    return plan([](std::size_t) { return 0; });
  }

 private:
  Setting made_;
};

constexpr DatatypeKind exchange_types[] = {DatatypeKind::float32, DatatypeKind::bfloat16};

TEST_F(EmbeddingWindows, GrowingBatchesTravelInWindowsOnBothSides) {
  const std::ptrdiff_t exchanges = has_collectives() ? 2 : 0;
  for (const DatatypeKind type : exchange_types) {
    made().exchange_type = type;
    made().tolerance = type == DatatypeKind::float32 ? 2e-5 : 4e-2;
    made().slots = 2;
    std::optional<Exercise> exercise;
    const Calls creation([&] { exercise.emplace(comm(), made(), even_plan()); });
    const std::ptrdiff_t memories = 2 * (type == DatatypeKind::float32 ? 3 : 2);
    EXPECT_EQ(calls("comm_window_register"), has_windows() ? memories : 0);
    for (std::uint64_t k = 1; k <= made().batches.size(); ++k) {
      const Calls step([&] { exercise->step(k, "in windows"); });
      EXPECT_EQ(step.collectives, exchanges);
      EXPECT_EQ(step.in_windows, has_windows() ? exchanges : 0);
      EXPECT_EQ(step.messages > 0, exchanges == 0);
      EXPECT_EQ(step.registrations, 0) << "the largest batch is known from the beginning";
    }
    exercise->expect_rows("in windows");
  }
}

TEST_F(EmbeddingWindows, MessagesOfSeveralLengthsStayMessages) {
  made().batches = {13, static_cast<std::size_t>(comm().size())};
  for (const bool is_even : {true, false}) {
    machine().nccl.clear_record();
    Exercise exercise(comm(), made(), is_even ? even_plan() : uneven_plan());
    EXPECT_EQ(calls("comm_window_register"), has_windows() ? 3 : 0) << "all ranks have as much memory as one needs";
    for (std::uint64_t k = 1; k <= 2; ++k) {
      const Calls step([&] { exercise.step(k, "of several lengths"); });
      const bool has_one_length = is_even && made().batches[k - 1] % static_cast<std::size_t>(comm().size()) == 0;
      if (has_one_length) continue;
      EXPECT_EQ(step.collectives, 0);
      EXPECT_GT(step.messages, 0);
    }
    exercise.expect_rows("of several lengths");
  }
}

/// The bits of all vectors of this rank's samples, step by step.
std::vector<float> trained(const Communicator& comm, const Setting& made, const ShardingPlan& plan) {
  Exercise exercise(comm, made, plan);
  std::vector<float> bits;
  for (std::uint64_t k = 1; k <= made.batches.size(); ++k) {
    exercise.collection.start_forward(0, exercise.input(k));
    const auto& vectors = exercise.collection.finish_forward(0);
    machine().drain();
    const std::size_t samples = sample_slice(made.batches[k - 1], comm.rank(), comm.size()).size();
    for (std::size_t t = 0; t < vectors.size(); ++t) {
      const standin::HostAccess access;
      for (std::size_t s = 0; s < samples; ++s) {
        const float* vector = vectors[t].data + s * vectors[t].stride;
        bits.insert(bits.end(), vector, vector + made.tables[t].dim);
      }
    }
    exercise.fill_gradients(k);
    exercise.collection.start_backward(0);
    exercise.collection.finish_backward(0, static_cast<float>(rate));
  }
  machine().drain();
  return bits;
}

TEST_F(EmbeddingWindows, ResultsAreThoseOfMessages) {
  for (const DatatypeKind type : exchange_types) {
    made().exchange_type = type;
    const auto even = trained(comm(), made(), even_plan());
    EXPECT_FALSE(even.empty());
    EXPECT_EQ(even, trained(comm(), made(), uneven_plan()));
  }
}

/// Where the communicator leaves the thread blocks to the program.
TEST_F(EmbeddingWindows, CopyEnginesMakeTheExchange) {
  for (const CtaPolicy policy : {CtaPolicy::standard, CtaPolicy::zero}) {
    CommunicatorOptions options;
    options.nccl.cta_policy = policy;
    const Communicator own = Communicator::duplicate(MPI_COMM_WORLD, options);
    Exercise exercise(own, made(), even_plan());
    const int before = machine().nccl.copied();
    exercise.step(1, "by copy engines");
    machine().drain();
    const bool is_copied = policy == CtaPolicy::zero && has_windows() && has_collectives();
    EXPECT_EQ(machine().nccl.copied() - before, is_copied ? 2 : 0);
  }
}

/// On one rank NCCL has no memory for the pieces' side, which is part of each exchange.
TEST_F(EmbeddingWindows, WithoutNcclsMemoryOnARankNothingIsInWindows) {
  if (!has_windows()) GTEST_SKIP() << "nothing is registered";
  comm().prepare_device();
  if (comm().rank() == 1) machine().nccl.fail_next("mem_alloc", detail::nccl::Result::system_error);
  Exercise exercise(comm(), made(), even_plan());
  const Calls steps([&] { exercise.run("in no window"); });
  EXPECT_EQ(steps.collectives > 0, has_collectives());
  EXPECT_EQ(steps.in_windows, 0);
}

/// It does not take part in what the others would register.
TEST_F(EmbeddingWindows, ARankWithoutMemoryIsToldByAll) {
  comm().prepare_device();
  const int registrations = machine().nccl.live_registrations();
  if (comm().rank() == 1) machine().runtime.fail_next("allocate");
  const std::string text = failure_of(ErrorCode::out_of_memory, [&] { Exercise(comm(), made(), even_plan()); });
  EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
  machine().drain();
  EXPECT_EQ(machine().nccl.live_registrations(), registrations);
  Exercise(comm(), made(), even_plan()).run("after a failure");
}

TEST_F(EmbeddingWindows, AreGoneWithTheCollection) {
  comm().prepare_device();
  const int registrations = machine().nccl.live_registrations();
  Exercise(comm(), made(), even_plan()).run("before its end");
  machine().drain();
  detail::device::Allocations::instance().sweep();
  EXPECT_EQ(machine().nccl.live_registrations(), registrations);
}

}  // namespace
}  // namespace tutti::test
