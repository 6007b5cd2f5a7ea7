// SPDX-License-Identifier: BSD-3-Clause
// What a reducer learns: the order of arrival, the bucket size; and how it is saved.
#include <chrono>
#include <cstring>
#include <thread>

#include "mpi/training/reducer_model.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators()[0]; }

std::vector<std::size_t> order_in_buckets(const GradientReducer& reducer) {
  std::vector<std::size_t> order;
  for (const GradientBucket& b : reducer.buckets())
    for (const BucketEntry& e : b.entries) order.push_back(e.parameter);
  return order;
}

/// A step in a given order of ready.
void step_in_order(Model<float>& model, const std::vector<std::size_t>& order, int step) {
  for (const std::size_t i : order) {
    model.fill(i, step);
    model.reducer().ready(i);
  }
  model.reducer().wait();
  model.expect_all(step);
}

std::vector<std::size_t> shuffled(std::size_t count, unsigned seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  return order;
}

TEST(Rebuild, FollowsTheFirstArrivalOnRank0) {
  for (const Where where : {Where::bucket, Where::both}) {
    ReducerOptions options;
    options.bucket_bytes = 3'000;
    Model<float> model(world(), options, where);
    GradientReducer& reducer = model.reducer();
    EXPECT_EQ(reducer.layout(), 1U);
    const auto own = shuffled(model.size(), 100 + static_cast<unsigned>(world().rank()));
    step_in_order(model, own, 0);
    EXPECT_EQ(order_in_buckets(reducer), shuffled(model.size(), 100)) << "not rank 0's";
    EXPECT_EQ(reducer.layout(), 2U);
    EXPECT_TRUE(reducer.statistics().rebuilt);
    for (int step = 1; step < 4; ++step) step_in_order(model, shuffled(model.size(), 5), step);
    EXPECT_EQ(reducer.layout(), 2U) << "only once";
    EXPECT_NE(reducer.map().find("ready on rank 0"), std::string::npos) << reducer.map();
  }
}

TEST(Rebuild, IsLeftOutWhereItIsNotAskedForOrChangesNothing) {
  ReducerOptions options;
  options.rebuild = false;
  Model<float> fixed(world(), options, Where::bucket);
  step_in_order(fixed, shuffled(fixed.size(), 3), 0);
  EXPECT_EQ(fixed.reducer().layout(), 1U);
  EXPECT_FALSE(fixed.reducer().statistics().rebuilt);
  Model<float> expected(world(), {}, Where::bucket);
  expected.backward(0);
  expected.reducer().wait();
  EXPECT_EQ(expected.reducer().layout(), 1U);
}

TEST(Rebuild, WaitsForAStepWithoutFaults) {
  Model<float> model(world(), {}, Where::bucket);
  model.backward(1, {3});
  EXPECT_THROW(model.reducer().wait(), Error);
  EXPECT_EQ(model.reducer().layout(), 1U);
  step_in_order(model, shuffled(model.size(), 9), 2);
  EXPECT_EQ(model.reducer().layout(), 2U);
  EXPECT_EQ(order_in_buckets(model.reducer()), shuffled(model.size(), 9));
}

TEST(Rebuild, ASumOfViewsMovesWithItsBucket) {
  ReducerOptions options;
  options.bucket_bytes = 2'000;
  Model<float> model(world(), options, Where::bucket);
  const auto places = [&] {
    std::vector<const void*> all;
    for (std::size_t i = 0; i < model.size(); ++i) all.push_back(model.reducer().gradient(i).data);
    return all;
  };
  const auto before = places();
  step_in_order(model, shuffled(model.size(), 1), 0);
  EXPECT_NE(places(), before);
  // What lies between the entries is zero in the new buckets too.
  for (const GradientBucket& b : model.reducer().buckets()) {
    std::vector<bool> is_entry(b.data.count, false);
    for (const BucketEntry& e : b.entries)
      std::fill_n(is_entry.begin() + static_cast<std::ptrdiff_t>(e.offset), e.count, true);
    for (std::size_t k = 0; k < b.data.count; ++k) {
      if (!is_entry[k]) {
        EXPECT_EQ(static_cast<const float*>(b.data.data)[k], 0.F) << k;
      }
    }
  }
}

std::vector<Shape> several_mebibytes() { return {{512, 600}, {512}, {100, 100, 7}, {300'001}, {3}, {1'000, 512}}; }

TEST(Automatic, SettlesForASizeThatAllRanksAgreeOn) {
  ReducerOptions options;
  options.bucket_bytes = ReducerOptions::automatic;
  Model<float> model(world(), options, Where::both, several_mebibytes());
  GradientReducer& reducer = model.reducer();
  EXPECT_NE(reducer.map().find("being measured"), std::string::npos);
  int steps = 0;
  while (!reducer.statistics().tuned) {
    ASSERT_LT(steps, 100);
    model.backward(steps);
    reducer.wait();
    model.expect_all(steps);
    ++steps;
  }
  // One step settles the order; 1, 2 and 5 MiB are tried, four steps each.
  EXPECT_EQ(steps, 1 + 3 * 4);
  std::size_t size = reducer.statistics().bucket_bytes;
  std::size_t largest = size;
  allreduce(world(), &largest, 1, max);
  EXPECT_EQ(size, largest);
  EXPECT_EQ(size % (1U << 20U), 0U);
  EXPECT_NE(reducer.map().find("(measured)"), std::string::npos);
  const std::size_t layout = reducer.layout();
  for (int step = 0; step < 5; ++step) {
    model.backward(step);
    reducer.wait();
    model.expect_all(step);
  }
  EXPECT_EQ(reducer.layout(), layout);
}

TEST(Automatic, WithRanksThatEndEarlier) {
  ReducerOptions options;
  options.bucket_bytes = ReducerOptions::automatic;
  options.uneven = true;
  Model<float> model(world(), options, Where::bucket, several_mebibytes());
  for (int step = 0; step < 5 * (1 + world().rank()); ++step) {
    model.backward(step);
    model.reducer().wait();
  }
  while (model.reducer().join()) {
  }
  std::size_t size = model.reducer().statistics().bucket_bytes;
  std::size_t largest = size;
  allreduce(world(), &largest, 1, max);
  EXPECT_EQ(size, largest);
}

TEST(Saved, AnotherReducerGoesOnWithIt) {
  ReducerOptions options;
  options.bucket_bytes = ReducerOptions::automatic;
  Model<float> first(world(), options, Where::both, several_mebibytes());
  for (int step = 0; step < 7; ++step) {
    first.backward(step + 1);
    first.reducer().wait();
  }
  const std::vector<std::byte> state = first.reducer().save();
  Model<float> second(world(), options, Where::both, several_mebibytes());
  second.reducer().load(state);
  EXPECT_EQ(second.reducer().map(), first.reducer().map());
  EXPECT_EQ(second.reducer().statistics().steps, 7U);
  EXPECT_EQ(second.reducer().statistics().rebuilt, first.reducer().statistics().rebuilt);
  EXPECT_EQ(second.reducer().save(), state);
  for (int step = 7; step < 30; ++step) {
    second.backward(step);
    second.reducer().wait();
    second.expect_all(step);
  }
  EXPECT_TRUE(second.reducer().statistics().tuned);
}

/// A hook whose state is a number of each rank.
class CountingHook final : public CommunicationHook {
 public:
  explicit CountingHook(int start) : count_(start) {}
  [[nodiscard]] std::string name() const override { return "counting"; }
  void prepare(std::span<const Communicator> comms, std::span<const GradientBucket> buckets) override {
    inner_->prepare(comms, buckets);
  }
  void start(std::size_t b) override {
    ++count_;
    inner_->start(b);
  }
  bool test(std::size_t b) override { return inner_->test(b); }
  [[nodiscard]] std::size_t bytes(std::size_t b) const override { return inner_->bytes(b); }
  [[nodiscard]] std::vector<std::byte> save() const override { return {static_cast<std::byte>(count_)}; }
  void load(std::span<const std::byte> state) override { count_ = static_cast<int>(state[0]); }
  [[nodiscard]] int count() const { return count_; }

 private:
  std::shared_ptr<CommunicationHook> inner_ = allreduce_hook();
  int count_;
};

TEST(Saved, TheHooksStateToo) {
  const auto make = [](int start) { return std::make_shared<CountingHook>(start); };
  ReducerOptions options;
  const auto hook = make(10 + world().rank());
  options.hook = hook;
  Model<float> first(world(), options, Where::bucket);
  step_in_order(first, shuffled(first.size(), 2), 0);
  const auto fresh = make(0);
  options.hook = fresh;
  Model<float> second(world(), options, Where::bucket);
  second.reducer().load(first.reducer().save());
  EXPECT_EQ(fresh->count(), hook->count());
  EXPECT_EQ(order_in_buckets(second.reducer()), shuffled(second.size(), 2));
}

TEST(Saved, ADamagedStateFailsOnEveryRank) {
  Model<float> model(world(), {}, Where::bucket);
  auto state = model.reducer().save();
  const auto whole = state;
  const bool damages = world().rank() == world().size() - 1;
  if (damages) state.resize(state.size() / 2);
  try {
    model.reducer().load(state);
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::io);
    EXPECT_NE(std::string(e.what()).find(damages ? "truncated" : "another rank"), std::string::npos) << e.what();
  }
  model.reducer().load(whole);
  model.backward(1);
  model.reducer().wait();
  model.expect_all(1);
}

TEST(Saved, StatesOfDifferentStepsAreRefused) {
  if (world().size() == 1) GTEST_SKIP() << "ranks to differ";
  Model<float> model(world(), {}, Where::bucket);
  const auto early = model.reducer().save();
  step_in_order(model, shuffled(model.size(), 2), 0);
  const auto late = model.reducer().save();
  const std::string text =
      common_error(world(), ErrorCode::mismatch, [&] { model.reducer().load(world().rank() == 0 ? early : late); });
  EXPECT_NE(text.find("same save()"), std::string::npos) << text;
  step_in_order(model, shuffled(model.size(), 4), 1);
}

TEST(Statistics, TellOfTheLastStep) {
  ReducerOptions options;
  options.bucket_bytes = 3'000;
  Model<float> model(world(), options, Where::bucket);
  const ReducerStatistics before = model.reducer().statistics();
  EXPECT_EQ(before.steps, 0U);
  EXPECT_EQ(before.bucket_bytes, 3'000U);
  EXPECT_EQ(before.buckets, model.reducer().buckets().size());
  EXPECT_FALSE(before.tuned);
  std::size_t bytes = 0;
  for (const GradientBucket& b : model.reducer().buckets()) bytes += b.data.count * sizeof(float);
  EXPECT_EQ(before.bytes_per_step, bytes);
  const auto begin = std::chrono::steady_clock::now();
  model.backward(0);
  model.reducer().wait();
  const double outside = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_GT(model.reducer().statistics().exposed_seconds, 0);
  EXPECT_LE(model.reducer().statistics().exposed_seconds, outside);
}

/// A hook whose start() takes a while, which the caller spends inside ready().
class SlowHook final : public CommunicationHook {
 public:
  [[nodiscard]] std::string name() const override { return "slow"; }
  void prepare(std::span<const Communicator>, std::span<const GradientBucket> buckets) override {
    sizes_.clear();
    for (const GradientBucket& b : buckets) sizes_.push_back(b.data.count * b.data.type.size());
  }
  void start(std::size_t) override { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }
  bool test(std::size_t) override { return true; }
  [[nodiscard]] std::size_t bytes(std::size_t b) const override { return sizes_[b]; }

 private:
  std::vector<std::size_t> sizes_;
};

TEST(Statistics, ExposedSecondsIncludeWhatReadyAndProgressSpend) {
  ReducerOptions options;
  options.bucket_bytes = 1;
  options.hook = std::make_shared<SlowHook>();
  options.rebuild = false;
  Model<float> model(world(), options, Where::bucket);
  double inside = 0;
  const auto timed = [&](const auto& call) {
    const auto begin = std::chrono::steady_clock::now();
    call();
    inside += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  for (int step = 0; step < 2; ++step) {
    inside = 0;
    for (std::size_t i = model.size(); i-- > 0;) {
      model.fill(i, step);
      timed([&] { model.reducer().ready(i); });
      timed([&] { model.reducer().progress(); });
    }
    EXPECT_GT(inside, 0.003 * static_cast<double>(model.reducer().buckets().size() - 1));
    timed([&] { model.reducer().wait(); });
    EXPECT_LE(model.reducer().statistics().exposed_seconds, inside);
    EXPECT_GE(model.reducer().statistics().exposed_seconds, 0.9 * inside);
  }
}

/// Every option that the messages depend on, seen from outside.
TEST(Options, HaveTheirEffect) {
  const auto buckets_of = [](const ReducerOptions& options) {
    Model<float> model(world(), options, Where::bucket, std::vector<Shape>(20, Shape{64}));
    std::vector<std::size_t> sizes;
    for (const GradientBucket& b : model.reducer().buckets()) sizes.push_back(b.entries.size());
    return sizes;
  };
  ReducerOptions options;
  options.bucket_bytes = 4 * 256;
  options.first_bucket_bytes = 2 * 256;
  EXPECT_EQ(buckets_of(options), (std::vector<std::size_t>{2, 4, 4, 4, 4, 2}));
  options.bucket_bytes = 20 * 256;
  EXPECT_EQ(buckets_of(options), (std::vector<std::size_t>{2, 18}));
  options.first_bucket_bytes = 5 * 256;
  EXPECT_EQ(buckets_of(options), (std::vector<std::size_t>{5, 15}));
  for (const std::size_t wanted : {1U, 3U}) {
    class Counting final : public CommunicationHook {
     public:
      [[nodiscard]] std::string name() const override { return "counting"; }
      void prepare(std::span<const Communicator> comms, std::span<const GradientBucket>) override {
        count = comms.size();
      }
      void start(std::size_t) override {}
      bool test(std::size_t) override { return true; }
      [[nodiscard]] std::size_t bytes(std::size_t) const override { return 0; }
      std::size_t count = 0;
    };
    const auto hook = std::make_shared<Counting>();
    options.hook = hook;
    options.communicators = wanted;
    Model<float> model(world(), options, Where::bucket);
    EXPECT_EQ(hook->count, wanted);
  }
}

}  // namespace
}  // namespace tutti::test
