// SPDX-License-Identifier: BSD-3-Clause
// NCCL communicators: made on all ranks or on none, in time; what they hold, and their end in order.
#include "backends/nccl/comm.hpp"

#include "device/allocations.hpp"
#include "mpi/nccl/comm_support.hpp"

namespace tutti::test {
namespace {

using detail::device::Allocations;
using Clock = std::chrono::steady_clock;

class NcclComm : public ::testing::Test {
 protected:
  NcclComm() : live_(machine().nccl.live_communicators()) { machine().nccl.clear_record(); }
  ~NcclComm() override {
    machine().nccl.set_in_progress(0);
    machine().nccl.set_async_error(Result::success);
    machine().drain();
    Comm::collect();
    EXPECT_EQ(machine().nccl.live_communicators(), live_) << "a communicator was left";
    MPI_Barrier(MPI_COMM_WORLD);
  }
  [[nodiscard]] static std::size_t calls(const std::string& name) {
    const auto& all = machine().nccl.record();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const std::string& c) { return c.starts_with(name + "("); }));
  }

  /// Whoever blocks in there is let go, as where NCCL's own time limit is over.
  void end_inits() const {
    while (machine().nccl.live_communicators() != live_) {
      machine().nccl.end_inits();
      sched_yield();
    }
  }

  const Communicator comm_ = Communicator::duplicate(MPI_COMM_WORLD);
  const bool is_last_ = comm_.rank() == comm_.size() - 1;
  int live_;
};

TEST_F(NcclComm, IsMadeUsedAndEndedInOrder) {
  {
    const auto made = make_comm(comm_);
    EXPECT_EQ(machine().nccl.live_communicators(), live_ + 1);
    EXPECT_EQ(made->device(), 0);
    EXPECT_FALSE(made->is_aborted());
    expect_works(*made, comm_);
    made->check_async();
  }
  EXPECT_EQ(calls("get_unique_id"), comm_.rank() == 0 ? 1U : 0U);
  EXPECT_EQ(calls("comm_finalize"), 1U);
  EXPECT_EQ(calls("comm_destroy"), 1U);
  EXPECT_EQ(calls("comm_abort"), 0U);
}

TEST_F(NcclComm, EndsAfterItsWork) {
  const Floats data(10, 1);
  auto made = make_comm(comm_);
  launch_sum(*made, data);
  made.reset();
  EXPECT_TRUE(data.all_are(static_cast<float>(comm_.size())));
}

TEST_F(NcclComm, SeveralAndThoseOfPartsWorkBesideEachOther) {
  const Communicator reversed = comm_.split(0, -comm_.rank());
  const Communicator half = comm_.split(comm_.rank() % 2, comm_.rank());
  const std::vector<const Communicator*> over{&comm_, &reversed, &half, &comm_};
  std::vector<std::unique_ptr<Comm>> made;
  std::vector<std::unique_ptr<Floats>> data;
  for (const auto* c : over) {
    made.push_back(make_comm(*c));
    data.push_back(std::make_unique<Floats>(100, static_cast<float>(c->rank() + 1)));
  }
  for (std::size_t i = 0; i < over.size(); ++i) launch_sum(*made[i], *data[i]);
  machine().drain();
  for (std::size_t i = 0; i < over.size(); ++i) EXPECT_TRUE(data[i]->all_are(sum_of(*over[i]))) << i;
}

TEST_F(NcclComm, AnswersInProgressEverywhere) {
  machine().nccl.set_in_progress(7);
  const auto made = make_comm(comm_);
  for (int i = 0; i < 3; ++i) expect_works(*made, comm_);
  const Floats data(8, 1);
  EXPECT_TRUE(made->register_window(data.data(), 30s) == false) << "not of the library's allocator";
  launch_sum(*made, data, made->pre_multiplied_sum(DataType::float32, 2));
  machine().drain();
  EXPECT_TRUE(data.all_are(2 * static_cast<float>(comm_.size())));
}

TEST_F(NcclComm, ARankThatHangsInInitIsATimeoutOnAll) {
  if (is_last_) machine().nccl.hang_init();
  const auto begin = Clock::now();
  std::string why;
  EXPECT_EQ(make_comm(comm_, why, 300ms), nullptr);
  EXPECT_LT(Clock::now() - begin, 10s);
  EXPECT_TRUE(why.starts_with("rank ")) << why;
  EXPECT_TRUE(contains(why, "ncclCommInitRankConfig was not complete after 0.3 s")) << why;
  end_inits();
  EXPECT_EQ(calls("comm_abort"), 1U);
  barrier(comm_);
  expect_works(*make_comm(comm_), comm_);
}

TEST_F(NcclComm, ARankThatFailsAtOnceStopsAllBeforeTheTimeout) {
  if (is_last_) machine().nccl.fail_next("comm_init_rank_config", Result::system_error);
  const auto begin = Clock::now();
  std::string why;
  EXPECT_EQ(make_comm(comm_, why, 100s), nullptr);
  EXPECT_LT(Clock::now() - begin, 20s);
  EXPECT_TRUE(why.starts_with("rank " + std::to_string(comm_.size() - 1) +
                              ": ncclCommInitRankConfig failed: unhandled system error"))
      << why;
  end_inits();
  barrier(comm_);
  expect_works(*make_comm(comm_), comm_);
}

TEST_F(NcclComm, AnAsynchronousFailureOfInitIsTold) {
  if (comm_.rank() == 0) machine().nccl.set_async_error(Result::remote_error);
  std::string why;
  EXPECT_EQ(make_comm(comm_, why, 100s), nullptr);
  EXPECT_TRUE(contains(why, "rank 0: ncclCommInitRankConfig failed: remote process exited")) << why;
  EXPECT_TRUE(contains(why, "ordered asynchronous error")) << "NCCL's last text is missing: " << why;
  end_inits();
  machine().nccl.set_async_error(Result::success);
}

TEST_F(NcclComm, ManyRanksMeetAtSeveral) {
  const bool can = machine().nccl.table().comm_init_rank_scalable != nullptr;
  std::string why;
  const auto made = Comm::create(*comm_.state(), machine().nccl.table(), 0, {30s, 30s, 2}, why);
  ASSERT_NE(made, nullptr) << why;
  const bool uses_it = can && comm_.size() > 2;
  EXPECT_EQ(calls("comm_init_rank_scalable"), uses_it ? 1U : 0U);
  const int ids = uses_it ? (comm_.size() + 1) / 2 : 1;
  int mine = static_cast<int>(calls("get_unique_id"));
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(all, ids);
  expect_works(*made, comm_);
}

TEST_F(NcclComm, IsMadeByTheOptionsOfItsCommunicator) {
  CommunicatorOptions options;
  options.name = "gradients";
  options.nccl = {.min_ctas = 2, .max_ctas = 8, .nvls_ctas = 4, .cta_policy = CtaPolicy::efficiency};
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
  const auto made = make_comm(comm);
  const detail::nccl::Config& config = machine().nccl.last_config();
  EXPECT_EQ(config.min_ctas, 2);
  EXPECT_EQ(config.max_ctas, 8);
  const bool is_long = machine().nccl.table().version >= detail::nccl::version_of_long_config;
  EXPECT_EQ(config.nvls_ctas, is_long ? 4 : detail::nccl::unset);
  EXPECT_EQ(config.cta_policy, is_long ? 1 : detail::nccl::unset);
  EXPECT_EQ(machine().nccl.last_name(), is_long ? "gradients" : "");
  const auto plain = make_comm(comm_);
  EXPECT_EQ(machine().nccl.last_config().max_ctas, detail::nccl::unset) << "NCCL decides";
}

/// While it lives a variable of the environment has a value.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Variable() { unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
};

/// The line about the service of NCCL that a user asks where a job hangs.
std::string ras_line() {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  comm.prepare_device();
  const std::string report = comm.device_report();
  const std::string name = "NCCL's RAS: ";
  const std::size_t begin = report.find(name);
  EXPECT_NE(begin, std::string::npos) << report;
  if (begin == std::string::npos) return {};
  return report.substr(begin + name.size(), report.find('\n', begin) - begin - name.size());
}

TEST_F(NcclComm, TheReportSaysWhereNcclsRasIsAsked) {
  if (machine().nccl.table().version < 22400) {
    EXPECT_EQ(ras_line(), "none before NCCL 2.24");
    return;
  }
  EXPECT_EQ(ras_line(), "localhost:28028; ask it by ncclras -v, on a node of the job");
  {
    const Variable address("NCCL_RAS_ADDR", "[::1]:4242");
    EXPECT_EQ(ras_line(), "[::1]:4242; ask it by ncclras -v, on a node of the job");
  }
  const Variable enabled("NCCL_RAS_ENABLE", "0");
  EXPECT_EQ(ras_line(), "switched off by NCCL_RAS_ENABLE=0");
}

TEST_F(NcclComm, WithoutAnIdThereIsNone) {
  if (comm_.rank() == 0) machine().nccl.fail_next("get_unique_id", Result::internal_error);
  std::string why;
  EXPECT_EQ(make_comm(comm_, why), nullptr);
  EXPECT_TRUE(contains(why, "rank 0: ncclGetUniqueId failed: internal error")) << why;
  EXPECT_EQ(calls("comm_init_rank_config"), 0U);
}

TEST_F(NcclComm, FactorsAreMadeOnce) {
  const auto made = make_comm(comm_);
  const RedOp half = made->pre_multiplied_sum(DataType::float32, 0.5);
  EXPECT_EQ(made->pre_multiplied_sum(DataType::float32, 0.5), half);
  EXPECT_NE(made->pre_multiplied_sum(DataType::float32, 0.25), half);
  EXPECT_NE(made->pre_multiplied_sum(DataType::float64, 0.5), half);
  EXPECT_EQ(calls("red_op_create_pre_mul_sum"), 3U);
  const Floats data(10, 4);
  launch_sum(*made, data, half);
  machine().drain();
  EXPECT_TRUE(data.all_are(2 * static_cast<float>(comm_.size())));
}

/// Memory that the registry takes for the library's own.
class OfAllocator {
 public:
  OfAllocator() : memory_(4096) {
    id_ =
        Allocations::instance().add(memory_.data(), memory_.size(), MemoryKind::device, 0, [this] { released = true; });
  }
  ~OfAllocator() { retire(); }
  OfAllocator(const OfAllocator&) = delete;
  OfAllocator& operator=(const OfAllocator&) = delete;
  void retire() {
    if (id_ != 0) Allocations::instance().retire(id_);
    id_ = 0;
  }
  [[nodiscard]] std::byte* data() const { return memory_.data(); }
  bool released = false;

 private:
  DeviceMemory memory_;
  std::uint64_t id_ = 0;
};

TEST_F(NcclComm, MemoryOfTheAllocatorIsRegisteredOnceAndForgottenInTime) {
  const bool can = machine().nccl.table().comm_register != nullptr;
  const auto made = make_comm(comm_);
  OfAllocator memory;
  const Floats other(4);
  for (int i = 0; i < 3; ++i) {
    const std::lock_guard lock(launch_mutex());
    made->use_registered(memory.data() + 8 * i);
    made->use_registered(other.data());
    made->use_registered(nullptr);
  }
  EXPECT_EQ(calls("comm_register"), can ? 1U : 0U);
  memory.retire();
  Allocations::instance().sweep();
  EXPECT_TRUE(memory.released);
  EXPECT_EQ(calls("comm_deregister"), can ? 1U : 0U);
  EXPECT_EQ(machine().nccl.live_registrations(), 0);
}

TEST_F(NcclComm, RegistrationsEndWithTheCommunicator) {
  OfAllocator memory;
  auto made = make_comm(comm_);
  {
    const std::lock_guard lock(launch_mutex());
    made->use_registered(memory.data());
  }
  made.reset();
  EXPECT_EQ(calls("comm_deregister"), calls("comm_register"));
  memory.retire();
  Allocations::instance().sweep();
  EXPECT_TRUE(memory.released);
}

TEST_F(NcclComm, ARefusedRegistrationIsNotAskedForAgain) {
  if (machine().nccl.table().comm_register == nullptr) GTEST_SKIP() << "this version has no registration";
  const auto made = make_comm(comm_);
  const OfAllocator memory;
  machine().nccl.fail_next("comm_register", Result::invalid_argument);
  for (int i = 0; i < 2; ++i) {
    const std::lock_guard lock(launch_mutex());
    made->use_registered(memory.data());
  }
  EXPECT_EQ(calls("comm_register"), 1U);
  expect_works(*made, comm_);
}

TEST_F(NcclComm, WindowsAreForVersionsThatHaveThem) {
  const bool can = machine().nccl.table().comm_window_register != nullptr;
  machine().nccl.set_in_progress(3);
  const auto made = make_comm(comm_);
  const OfAllocator memory;
  EXPECT_EQ(made->register_window(memory.data(), 30s), can);
  {
    const std::lock_guard lock(launch_mutex());
    made->use_registered(memory.data());
  }
  EXPECT_EQ(calls("comm_register"), machine().nccl.table().comm_register != nullptr ? 1U : 0U);
  EXPECT_EQ(calls("comm_window_register"), can ? 1U : 0U);
  expect_works(*made, comm_);
}

}  // namespace
}  // namespace tutti::test
