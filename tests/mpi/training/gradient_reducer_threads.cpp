// SPDX-License-Identifier: BSD-3-Clause
// The reducer's own thread.
#include <mpi.h>

#include <chrono>
#include <thread>

#include "mpi/training/reducer_model.hpp"

namespace tutti::test {
namespace {

const Communicator& world() { return communicators()[0]; }

bool has_threads() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

ReducerOptions threaded() {
  ReducerOptions options;
  options.progress_thread = true;
  options.bucket_bytes = 3'000;
  return options;
}

TEST(Thread, NeedsMpisLeave) {
  if (has_threads()) GTEST_SKIP() << "MPI without MPI_THREAD_MULTIPLE";
  for (const bool on_all : {true, false}) {
    ReducerOptions options = threaded();
    options.progress_thread = on_all || world().rank() == world().size() - 1;
    GradientReducer reducer(world(), options);
    const std::string text = common_error(world(), ErrorCode::not_supported, [&] { reducer.prepare(); });
    EXPECT_NE(text.find("MPI_THREAD_MULTIPLE"), std::string::npos) << text;
    EXPECT_NE(text.find("rank " + std::to_string(on_all ? 0 : world().size() - 1)), std::string::npos) << text;
  }
}

TEST(Thread, GivesTheSameResults) {
  if (!has_threads()) GTEST_SKIP() << "MPI_THREAD_MULTIPLE";
  for (const Where where : {Where::bucket, Where::caller, Where::both})
    for (unsigned bits = 0; bits < 16; ++bits) {
      ReducerOptions options = threaded();
      options.find_unused = (bits & 1U) != 0;
      options.uneven = (bits & 2U) != 0;
      options.check = (bits & 4U) != 0;
      options.communicators = (bits & 8U) != 0 ? 2 : 1;
      Model<float> model(world(), options, where);
      for (int step = 0; step < 6; ++step) {
        model.backward(step);
        model.reducer().wait();
        model.expect_all(step);
      }
      if (!options.uneven) continue;
      for (int step = 0; step < world().rank(); ++step) {
        model.backward(step);
        model.reducer().wait();
      }
      while (model.reducer().join()) {
      }
    }
}

TEST(Thread, AddsTheGradientsOfBlocks) {
  if (!has_threads()) GTEST_SKIP() << "MPI_THREAD_MULTIPLE";
  for (const Where where : {Where::bucket, Where::caller}) {
    ReducerOptions options = threaded();
    options.op = ReduceKind::sum;
    options.blocks = 2 * static_cast<std::size_t>(world().size());
    Model<float> model(world(), options, where);
    for (int step = 0; step < 6; ++step) {
      model.backward(step);
      model.backward(step);
      model.reducer().wait();
      model.expect(step, world().size() * (world().size() + 1), 1);
    }
  }
}

TEST(Thread, ReducesWhileTheCallerIsAway) {
  if (!has_threads()) GTEST_SKIP() << "MPI_THREAD_MULTIPLE";
  Model<float> model(world(), threaded(), Where::caller);
  for (int step = 0; step < 3; ++step) {
    for (std::size_t i = model.size(); i-- > 0;) model.fill(i, step);
    barrier(world());
    for (std::size_t i = model.size(); i-- > 0;) model.reducer().ready(i);
    // Nobody calls the library: results reach the caller's memory all the same.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const float want = static_cast<float>((world().size() + 1) * base(11, 16'410, step)) / 2;
    const volatile float* last = &model.gradient(11)[16'410];
    while (*last != want && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(*last, want);
    model.reducer().wait();
    model.expect_all(step);
  }
}

TEST(Thread, LeavesTheCallersCommunicatorAlone) {
  if (!has_threads()) GTEST_SKIP() << "MPI_THREAD_MULTIPLE";
  Model<double> model(world(), threaded(), Where::bucket);
  for (int step = 0; step < 20; ++step) {
    model.backward(step);
    for (int k = 0; k < 5; ++k) {
      int mine = world().rank() + k;
      allreduce(world(), &mine, 1, sum);
      EXPECT_EQ(mine, world().size() * (world().size() - 1) / 2 + k * world().size());
    }
    model.reducer().wait();
    model.expect_all(step);
  }
}

TEST(Thread, FaultsAreNamedAsWithoutIt) {
  if (!has_threads()) GTEST_SKIP() << "MPI_THREAD_MULTIPLE";
  Model<float> model(world(), threaded(), Where::both);
  for (int step = 0; step < 6; ++step) {
    if (step % 2 == 0) {
      model.backward(step);
      model.reducer().wait();
      model.expect_all(step);
      continue;
    }
    model.backward(step, {7});
    const std::string text = common_error(world(), ErrorCode::invalid_argument, [&] { model.reducer().wait(); });
    EXPECT_NE(text.find("parameter 7 ('p7')"), std::string::npos) << text;
  }
}

/// Fails where it is told to.
class FailingHook final : public CommunicationHook {
 public:
  [[nodiscard]] std::string name() const override { return "failing"; }
  void prepare(std::span<const Communicator>, std::span<const GradientBucket>) override {}
  void start(std::size_t) override { throw Error(ErrorCode::internal, "this hook fails"); }
  bool test(std::size_t) override { return true; }
  [[nodiscard]] std::size_t bytes(std::size_t) const override { return 0; }
};

TEST(Thread, AHooksFailureIsThrownByWait) {
  for (const bool thread : {false, true}) {
    if (thread && !has_threads()) continue;
    ReducerOptions options;
    options.progress_thread = thread;
    options.hook = std::make_shared<FailingHook>();
    Model<float> model(world(), options, Where::bucket);
    model.backward(0);
    EXPECT_THROW(model.reducer().wait(), Error);
    EXPECT_THROW(model.reducer().wait(), Error);
  }
}

TEST(Thread, EndsWithTheReducer) {
  if (!has_threads()) GTEST_SKIP() << "MPI_THREAD_MULTIPLE";
  for (int k = 0; k < 20; ++k) {
    Model<float> model(world(), threaded(), Where::bucket);
    if (k % 2 == 1) model.backward(k);
  }
}

}  // namespace
}  // namespace tutti::test
