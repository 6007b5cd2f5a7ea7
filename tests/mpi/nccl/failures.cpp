// SPDX-License-Identifier: BSD-3-Clause
// What NCCL reports, and what it never does: errors with its text, timeouts, other communicators unharmed.
#include "core/config.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti::test {
namespace {

using detail::nccl::Result;
using namespace std::chrono_literals;

class Failures : public ::testing::Test {
 protected:
  Failures() {
    (void)device_communicators();
    comm_ = std::make_unique<Communicator>(Communicator::duplicate(MPI_COMM_WORLD));
    comm_->prepare_device();
    data_.fill(ints(100, comm_->rank() + 1));
    options_.stream = user_stream();
  }
  /// The other communicators still work.
  ~Failures() override {
    machine().nccl.set_async_error(Result::success);
    machine().nccl.hang_work(false);  // another rank's abort may have come before the launch
    machine().drain();
    meet();
    const Communicator& other = device_communicators().front();
    data_.fill(ints(100, other.rank() + 1));
    allreduce(other, in_place, buffer(), sum, {});
    EXPECT_EQ(first_int(data_.content()), sum_of_ranks(other, 1));
    machine().drain();
  }
  [[nodiscard]] Buffer buffer() const { return device_buffer(data_, DatatypeKind::int32); }
  void run(const Options& options) const { allreduce(*comm_, in_place, buffer(), sum, options); }

  /// Every later call has an error: of the failure here, or of the one that another rank has told of.
  void expect_broken() const {
    EXPECT_TRUE(detail::nccl::state_of(*comm_->state())->comm().is_aborted());
    try {
      run(options_);
      ADD_FAILURE() << "nothing failed";
    } catch (const Error& e) {
      EXPECT_TRUE(e.code() == ErrorCode::invalid_communicator || e.code() == ErrorCode::aborted) << e.what();
    }
  }

  std::unique_ptr<Communicator> comm_;
  DeviceMemory data_{100 * sizeof(std::int32_t)};
  Options options_{};
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Failures, ACallThatFailsSaysWhat) {
  machine().nccl.fail_next("all_reduce", Result::unhandled_cuda_error);
  const std::string text = failure_of(ErrorCode::nccl, [this] { run(options_); });
  EXPECT_TRUE(contains(text, "allreduce (nccl:direct)")) << text;
  EXPECT_TRUE(contains(text, "ncclAllReduce")) << text;
  expect_broken();
}

TEST_F(Failures, AFailureInsideAGroupClosesIt) {
  if (comm_->size() == 1) GTEST_SKIP() << "one rank sends nothing";
  options_.algorithm = "nccl:scatter_allgather";
  machine().nccl.fail_next("send", Result::system_error);
  const std::string text = failure_of(ErrorCode::nccl, [this] { run(options_); });
  EXPECT_TRUE(contains(text, "ncclSend")) << text;
  expect_broken();
}

TEST_F(Failures, AnAsynchronousErrorEndsTheWaiting) {
  machine().nccl.hang_work();
  Request request = iallreduce(*comm_, in_place, buffer(), sum, options_);
  machine().nccl.set_async_error(Result::remote_error);
  const std::string text = failure_of(ErrorCode::nccl, [&] { request.wait(); });
  EXPECT_TRUE(contains(text, "allreduce")) << text;
  machine().nccl.set_async_error(Result::success);
  expect_broken();
}

TEST_F(Failures, AnAsynchronousErrorOfAnEarlierCallComesWithTheNext) {
  run(options_);
  machine().drain();
  machine().nccl.set_async_error(Result::internal_error);
  try {
    run(options_);
    ADD_FAILURE() << "nothing failed";
  } catch (const Error& e) {  // another rank may have told of its own
    EXPECT_TRUE(e.code() == ErrorCode::nccl || e.code() == ErrorCode::aborted) << e.what();
    EXPECT_TRUE(contains(e.what(), "ordered asynchronous error")) << e.what();
  }
  machine().nccl.set_async_error(Result::success);
  expect_broken();
}

TEST_F(Failures, WorkThatNeverEndsIsATimeout) {
  for (const char* algorithm : {"nccl:direct", "nccl:recursive_doubling"}) {
    if (comm_->size() == 1 && std::string(algorithm) != "nccl:direct") continue;
    Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    comm.prepare_device();
    Options options;
    options.algorithm = algorithm;
    options.timeout = 50ms;
    machine().nccl.hang_work();
    Request request = iallreduce(comm, in_place, buffer(), sum, options);
    const std::string text = failure_of(ErrorCode::timeout, [&] { request.wait(); });
    EXPECT_TRUE(contains(text, algorithm)) << text;
    EXPECT_TRUE(detail::nccl::state_of(*comm.state())->comm().is_aborted());
    machine().nccl.hang_work(false);
    meet();
  }
}

/// A blocking call with a stream has returned by the time that its work fails. The library looks at the work in every
/// later call, and in tutti::progress().
void progress_until_broken(const Communicator& comm) {
  while (!detail::nccl::state_of(*comm.state())->comm().is_aborted()) {
    progress();
    (void)machine().runtime.run_some();
    sched_yield();
  }
}

TEST_F(Failures, WorkOfACallThatHasReturnedIsATimeout) {
  for (const char* algorithm : {"nccl:direct", "nccl:recursive_doubling"}) {
    if (comm_->size() == 1 && std::string(algorithm) != "nccl:direct") continue;
    Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
    comm.prepare_device();
    Options options = options_;
    options.algorithm = algorithm;
    options.timeout = 50ms;
    machine().nccl.hang_work();
    allreduce(comm, in_place, buffer(), sum, options);
    progress_until_broken(comm);
    try {
      barrier(comm);
      ADD_FAILURE() << "nothing failed";
    } catch (const Error& e) {  // this rank's own timeout was the first, or another's
      EXPECT_TRUE(e.code() == ErrorCode::invalid_communicator || e.code() == ErrorCode::aborted) << e.what();
      EXPECT_TRUE(contains(e.what(), algorithm) && contains(e.what(), "not complete")) << e.what();
    }
    machine().drain();
    meet();
  }
}

/// NCCL needs the abort on all ranks: those whose work waits for the failed rank have no timeout of their own.
TEST_F(Failures, AnErrorOfOneRankAbortsAll) {
  if (comm_->rank() == 0) machine().nccl.hang_work();
  run(options_);
  if (comm_->rank() == 0) machine().nccl.set_async_error(Result::remote_error);
  progress_until_broken(*comm_);
  machine().nccl.set_async_error(Result::success);
  const ErrorCode code = comm_->rank() == 0 ? ErrorCode::invalid_communicator : ErrorCode::aborted;
  const std::string text = failure_of(code, [this] { run(options_); });
  EXPECT_TRUE(contains(text, "remote process exited")) << text;
  EXPECT_TRUE(comm_->rank() == 0 || contains(text, "by rank 0")) << text;
}

TEST_F(Failures, ATimeoutOfARequestAbortsAll) {
  if (comm_->rank() == 0) {
    machine().nccl.hang_work();
    options_.timeout = 100ms;
  }
  Request request = iallreduce(*comm_, in_place, buffer(), sum, options_);
  const std::string text =
      failure_of(comm_->rank() == 0 ? ErrorCode::timeout : ErrorCode::aborted, [&] { request.wait(); });
  EXPECT_TRUE(contains(text, "not complete after 100 ms")) << text;
}

/// The program's own kernels may take long.
TEST_F(Failures, TheTimeOfACallThatHasReturnedBeginsWhenItsStreamReachesIt) {
  const Gate gate(machine().stream);
  options_.timeout = 200ms;
  run(options_);
  const auto end = std::chrono::steady_clock::now() + 250ms;
  while (std::chrono::steady_clock::now() < end) {
    progress();
    (void)machine().runtime.run_some();
    sched_yield();
  }
  *gate.open = true;
  machine().drain();
  EXPECT_EQ(first_int(data_.content()), sum_of_ranks(*comm_, 1));
  meet();
  run(options_);
  machine().drain();
}

TEST_F(Failures, TheSetUpHasItsOwnTimeLimit) {
  CommunicatorOptions options;
  options.timeout = 300ms;  // enough for the agreements, and not for NCCL
  Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  if (comm.size() > 2) GTEST_SKIP() << "the agreements of more ranks than cores may take longer";
  machine().nccl.set_in_progress(800);  // looks of about 80 us, in eight calls
  comm.prepare_device();
  machine().nccl.set_in_progress(0);
  EXPECT_NE(detail::nccl::state_of(*comm.state()), nullptr) << comm.device_report();
  meet();
}

TEST_F(Failures, LaunchesThatAreInProgressArePolled) {
  machine().nccl.set_in_progress(3);
  options_.algorithm = "nccl:scatter_allgather";
  for (int i = 1; i < 4; ++i) {
    data_.fill_on(machine().stream, ints(100, i * (comm_->rank() + 1)));
    run(options_);
    machine().drain();
    EXPECT_EQ(first_int(data_.content()), sum_of_ranks(*comm_, i));
  }
  machine().nccl.set_in_progress(0);
}

TEST_F(Failures, AbortEndsWhatIsOutstanding) {
  machine().nccl.hang_work();
  Request request = iallreduce(*comm_, in_place, buffer(), sum, options_);
  const detail::nccl::Comm& of_nccl = detail::nccl::state_of(*comm_->state())->comm();
  while (machine().nccl.in_flight() == 0 && !of_nccl.is_aborted()) progress();  // another thread may launch
  comm_->abort("the test asks for it");
  const std::string text = failure_of(ErrorCode::aborted, [&] { request.wait(); });
  EXPECT_TRUE(contains(text, "the test asks for it")) << text;
  EXPECT_TRUE(detail::nccl::state_of(*comm_->state())->comm().is_aborted());
}

}  // namespace
}  // namespace tutti::test
