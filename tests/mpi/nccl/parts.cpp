// SPDX-License-Identifier: BSD-3-Clause
// Parts of a prepared communicator whose NCCL communicators share its resources.
#include <algorithm>
#include <functional>

#include "core/config.hpp"
#include "mpi/nccl/support.hpp"

namespace tutti::test {
namespace {

using detail::nccl::Result;
using namespace std::chrono_literals;

class Parts : public ::testing::Test {
 protected:
  Parts() {
    (void)device_communicators();
    whole_ = std::make_unique<Communicator>(made(true));
    options_.stream = user_stream();
    machine().nccl.clear_record();
  }
  ~Parts() override {
    machine().nccl.set_in_progress(0);
    machine().drain();
    meet();
    detail::nccl::Comm::collect();
    const Communicator& other = device_communicators().front();
    run(other);
    expect_sum(other);
  }
  static Communicator made(bool shares) {
    CommunicatorOptions options;
    options.nccl.split_share = shares;
    Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
    comm.prepare_device();
    EXPECT_NE(detail::nccl::state_of(*comm.state()), nullptr) << comm.device_report();
    return comm;
  }
  [[nodiscard]] static std::ptrdiff_t calls(const std::string& name) {
    const auto& all = machine().nccl.record();
    return std::count_if(all.begin(), all.end(), [&](const std::string& c) { return c.starts_with(name); });
  }
  [[nodiscard]] Buffer buffer() const { return device_buffer(data_, DatatypeKind::int32); }
  void run(const Communicator& comm) const {
    data_.fill(ints(100, comm.rank() + 1));
    allreduce(comm, in_place, buffer(), sum, options_);
  }
  void expect_sum(const Communicator& comm) const {
    machine().drain();
    EXPECT_EQ(data_.content(), ints(100, sum_of_ranks(comm, 1)));
  }
  /// The first call is nonblocking: without a preparation it would go through host memory.
  void expect_prepared(const Communicator& part) const {
    EXPECT_NE(detail::nccl::state_of(*part.state()), nullptr) << part.device_report();
    EXPECT_NE(part.device_report().find("shared with the communicator of which this is a part"), std::string::npos);
    data_.fill(ints(100, part.rank() + 1));
    Options options = options_;
    options.algorithm = "nccl:direct";
    iallreduce(part, in_place, buffer(), sum, options).wait();
    expect_sum(part);
  }
  void expect_shared(std::ptrdiff_t splits) const {
    EXPECT_EQ(calls("comm_split"), splits);
    EXPECT_EQ(calls("get_unique_id"), 0);
    EXPECT_EQ(calls("comm_init"), 0);
  }
  static bool is_usable(const Communicator& comm) {
    try {
      comm.state()->check_usable();
    } catch (const Error&) {
      return false;
    }
    return true;
  }

  std::unique_ptr<Communicator> whole_;
  DeviceMemory data_{100 * sizeof(std::int32_t)};
  Options options_{};
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Parts, AreMadeWithoutIds) {
  EXPECT_EQ(machine().nccl.last_config().split_share, 1);
  const int rank = whole_->rank();
  machine().nccl.set_in_progress(3);
  const Communicator half = whole_->split(rank % 2, -rank);
  const Communicator node = whole_->split_by_node();
  expect_shared(2);
  for (const Communicator* comm : {&half, &node}) expect_prepared(*comm);
  const Communicator of_half = half.split(0, half.rank());
  expect_shared(3);
  expect_prepared(of_half);
  for (const Communicator* comm : std::initializer_list<const Communicator*>{whole_.get(), &half, &of_half}) {
    run(*comm);
    expect_sum(*comm);
  }
}

TEST_F(Parts, ARankMayBeInNone) {
  const bool is_in = whole_->rank() > 0;
  const Communicator part = whole_->split(is_in ? 5 : MPI_UNDEFINED, 0);
  EXPECT_EQ(part.valid(), is_in);
  EXPECT_EQ(calls(is_in ? "comm_split(color=5" : "comm_split(color=-1"), 1);
  expect_shared(1);
  if (is_in) expect_prepared(part);
  run(*whole_);
  expect_sum(*whole_);
}

/// NCCL splits no communicator whose work is under way.
TEST_F(Parts, WaitForTheWorkOfTheWhole) {
  const Gate gate(machine().stream);
  data_.fill(ints(100, whole_->rank() + 1));
  Request request = iallreduce(*whole_, in_place, buffer(), sum, options_);
  std::thread opener([is_open = gate.open] {
    std::this_thread::sleep_for(100ms);
    *is_open = true;
  });
  const Communicator half = whole_->split(whole_->rank() % 2, whole_->rank());
  opener.join();
  request.wait();
  expect_sum(*whole_);
  expect_prepared(half);
}

TEST_F(Parts, NcclIsNotAskedForErrorsWhileItSplits) {
  if (!detail::config().nccl_blocking) GTEST_SKIP() << "the split returns at once, and is asked for";
  detail::nccl::Comm& nccl_comm = detail::nccl::state_of(*whole_->state())->comm();
  machine().nccl.set_in_progress(50);
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    for (; !is_over; std::this_thread::yield()) nccl_comm.check_async();
  });
  const Communicator half = whole_->split(whole_->rank() % 2, whole_->rank());
  is_over = true;
  other.join();
  expect_prepared(half);
}

TEST_F(Parts, ArePreparedOnlyByTheOption) {
  const Communicator plain = made(false);
  EXPECT_EQ(machine().nccl.last_config().split_share, detail::nccl::unset);
  machine().nccl.clear_record();
  const Communicator half = plain.split(plain.rank() % 2, plain.rank());
  EXPECT_EQ(calls("comm_split"), 0);
  EXPECT_EQ(detail::nccl::state_of(*half.state()), nullptr);
  CommunicatorOptions options;
  options.nccl.split_share = true;
  const Communicator unprepared = Communicator::duplicate(MPI_COMM_WORLD, options);
  EXPECT_EQ(detail::nccl::state_of(*unprepared.split(0, 0).state()), nullptr);
  EXPECT_EQ(calls("comm_split"), 0);
}

TEST_F(Parts, AFailureOnOneRankIsOneOnAll) {
  const int last = whole_->size() - 1;
  if (whole_->rank() == last) machine().nccl.fail_next("comm_split", Result::system_error);
  const std::string text = failure_of(ErrorCode::nccl, [this] { (void)whole_->split(0, 0); });
  EXPECT_TRUE(contains(text, "rank " + std::to_string(last) + ": ncclCommSplit failed: unhandled system error"))
      << text;
  EXPECT_TRUE(detail::nccl::state_of(*whole_->state())->comm().is_aborted());
  (void)failure_of(ErrorCode::invalid_communicator, [this] { run(*whole_); });
}

/// The abort of a part stops the work of the whole on the device, without a result.
TEST_F(Parts, AnAbortOfOneIsOneOfAll) {
  Communicator part = whole_->split(0, whole_->rank());
  meet();
  const Gate gate(machine().stream);
  run(*whole_);
  part.abort("the test asks for it");
  *gate.open = true;
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (is_usable(*whole_) && std::chrono::steady_clock::now() < end) {
    progress();
    (void)machine().runtime.run_some();
    sched_yield();
  }
  const std::string text = failure_of(ErrorCode::invalid_communicator, [this] { run(*whole_); });
  EXPECT_TRUE(contains(text, "shares resources with one that was aborted")) << text;
  EXPECT_TRUE(detail::nccl::state_of(*whole_->state())->comm().is_aborted());
}

/// Nothing of the whole was under way.
TEST_F(Parts, AfterAnAbortOfOneTheNextCallFails) {
  {
    Communicator part = whole_->split(0, whole_->rank());
    meet();
    part.abort("the test asks for it");
  }
  const std::string text = failure_of(ErrorCode::aborted, [this] { run(*whole_); });
  EXPECT_TRUE(contains(text, "shares resources with one that was aborted")) << text;
}

}  // namespace
}  // namespace tutti::test
