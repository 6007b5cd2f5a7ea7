// SPDX-License-Identifier: BSD-3-Clause
// NCCL communicators that fail, hang or are aborted, also by another thread, and also while graphs live.
#include <thread>

#include "mpi/nccl/comm_support.hpp"

namespace tutti::test {
namespace {

class NcclCommFailures : public ::testing::Test {
 protected:
  NcclCommFailures() : live_(machine().nccl.live_communicators()), made_(make_comm(comm_)), other_(make_comm(comm_)) {}
  /// The other communicator still works, and nothing is left.
  ~NcclCommFailures() override {
    machine().nccl.set_in_progress(0);
    machine().nccl.set_async_error(Result::success);
    machine().drain();
    MPI_Barrier(MPI_COMM_WORLD);
    expect_works(*other_, comm_);
    made_.reset();
    other_.reset();
    Comm::collect();
    EXPECT_EQ(machine().nccl.live_communicators(), live_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  [[nodiscard]] int live() const { return machine().nccl.live_communicators() - live_; }

  const Communicator comm_ = Communicator::duplicate(MPI_COMM_WORLD);
  int live_;
  std::unique_ptr<Comm> made_;
  std::unique_ptr<Comm> other_;
  const Floats data_{100, 1};
};

TEST_F(NcclCommFailures, AnAsynchronousErrorHasNcclsText) {
  made_->check_async();
  machine().nccl.set_async_error(Result::remote_error);
  const std::string text = failure_of(ErrorCode::nccl, [this] { made_->check_async(); });
  EXPECT_TRUE(contains(text, "remote process exited or there was a network error")) << text;
  EXPECT_TRUE(contains(text, "ordered asynchronous error")) << text;
}

TEST_F(NcclCommFailures, NcclIsNotAskedForErrorsWhileAnotherThreadLaunches) {
  const auto ask = [this] { std::thread([this] { made_->check_async(); }).join(); };
  machine().nccl.within_next_launch(ask);
  launch_sum(*made_, data_);
  machine().drain();
  EXPECT_TRUE(data_.all_are(static_cast<float>(comm_.size())));
  machine().nccl.set_async_error(Result::remote_error);
  (void)failure_of(ErrorCode::nccl, [this] { made_->check_async(); });
}

TEST_F(NcclCommFailures, ACallThatFailsIsNamed) {
  machine().nccl.fail_next("all_reduce", Result::unhandled_cuda_error);
  const std::string text = failure_of(ErrorCode::nccl, [this] { launch_sum(*made_, data_); });
  EXPECT_TRUE(contains(text, "ncclAllReduce failed: unhandled cuda error")) << text;
}

TEST_F(NcclCommFailures, ALaunchThatStaysInProgressIsATimeout) {
  machine().nccl.set_in_progress(1 << 30);
  const std::string text = failure_of(ErrorCode::timeout, [this] { launch_sum(*made_, data_, RedOp::sum, 50ms); });
  EXPECT_TRUE(contains(text, "ncclAllReduce was still in progress after 0.05 s")) << text;
  made_->abort();
  EXPECT_EQ(live(), 1);
}

TEST_F(NcclCommFailures, AbortFreesWorkThatHangs) {
  machine().nccl.hang_work();
  launch_sum(*made_, data_);
  for (int i = 0; i < 100; ++i) (void)machine().runtime.run_some();
  EXPECT_FALSE(machine().runtime.is_idle(machine().stream));
  std::thread([this] { made_->abort(); }).join();
  EXPECT_TRUE(made_->is_aborted());
  EXPECT_EQ(live(), 1);
  machine().drain();
  (void)failure_of(ErrorCode::aborted, [this] { made_->check_async(); });
  (void)failure_of(ErrorCode::aborted, [this] { made_->use_registered(data_.data()); });
  (void)failure_of(ErrorCode::aborted, [this] { made_->retain_by_graph(machine().stream); });
  made_->abort();
}

TEST_F(NcclCommFailures, AbortEndsACheckOfAnotherThread) {
  machine().nccl.set_in_progress(1 << 30);
  std::thread aborting([this] {
    std::this_thread::sleep_for(50ms);
    made_->abort();
  });
  const std::string text = failure_of(ErrorCode::aborted, [this] { launch_sum(*made_, data_); });
  EXPECT_TRUE(contains(text, "aborted")) << text;
  aborting.join();
  Comm::collect();
  EXPECT_EQ(live(), 1);
}

TEST_F(NcclCommFailures, AbortDoesNotWaitForALaunchOfAnotherCommunicator) {
  machine().nccl.set_in_progress(1 << 30);
  std::thread aborting([this] {
    std::this_thread::sleep_for(50ms);
    made_->abort();   // the launch lock is another's: left to collect()
    other_->abort();  // which ends that
  });
  (void)failure_of(ErrorCode::aborted, [this] { launch_sum(*other_, data_); });
  aborting.join();
  Comm::collect();
  EXPECT_EQ(live(), 0);
  machine().nccl.set_in_progress(0);
  other_ = make_comm(comm_);
}

TEST_F(NcclCommFailures, AbortWhileGraphsLiveWaitsForTheirEnd) {
  machine().runtime.begin_capture(machine().stream);
  {
    const std::lock_guard lock(launch_mutex());
    made_->retain_by_graph(machine().stream);
    made_->retain_by_graph(machine().stream);
  }
  launch_sum(*made_, data_);
  const int graph = machine().runtime.end_capture(machine().stream);
  EXPECT_EQ(made_->live_graphs(), 1);
  machine().runtime.launch(graph, machine().stream);
  machine().drain();
  EXPECT_TRUE(data_.all_are(static_cast<float>(comm_.size())));

  made_->abort();
  EXPECT_TRUE(made_->is_aborted());
  Comm::collect();
  EXPECT_EQ(live(), 2) << "NCCL's abort came before the end of the graph";
  machine().runtime.destroy_graph(graph);
  expect_no_graphs(*made_);
  Comm::collect();
  EXPECT_EQ(live(), 1);
}

TEST_F(NcclCommFailures, ACommunicatorIsGivenUpWhenItsGraphsAreGone) {
  machine().runtime.begin_capture(machine().stream);
  made_->retain_by_graph(machine().stream);
  launch_sum(*made_, data_);
  const int graph = machine().runtime.end_capture(machine().stream);
  made_.reset();
  Comm::collect();
  EXPECT_EQ(live(), 2);
  for (int i = 1; i < 3; ++i) {
    data_.set(1);
    machine().runtime.launch(graph, machine().stream);
    machine().drain();
    EXPECT_TRUE(data_.all_are(static_cast<float>(comm_.size()))) << "launch " << i;
  }
  machine().runtime.destroy_graph(graph);
  for (int i = 0; i < 10'000 && live() > 1; ++i) {
    Comm::collect();
    std::this_thread::sleep_for(1ms);  // a thread may finalize it
  }
  EXPECT_EQ(live(), 1);
}

TEST_F(NcclCommFailures, ACommunicatorThatDoesNotRestIsAborted) {
  std::string why;
  auto hasty = make_comm(comm_, why, 200ms);
  ASSERT_NE(hasty, nullptr) << why;
  machine().nccl.hang_work();
  launch_sum(*hasty, data_);
  hasty.reset();
  EXPECT_EQ(live(), 2);
  machine().drain();
}

}  // namespace
}  // namespace tutti::test
