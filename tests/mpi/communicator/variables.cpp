// SPDX-License-Identifier: BSD-3-Clause
// Each environment variable of the library has its effect. The program is started once for each, with the variable set,
// and the name of the variable as its test filter: Variables.TUTTI_SHM.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>
#include <tutti/tutti.hpp>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "call/summary.hpp"
#include "core/config.hpp"
#include "core/progress_hook.hpp"
#include "diagnosis/recorder.hpp"
#include "support/meet.hpp"
#include "support/shared_numbers.hpp"
#include "support/standin/progress_hook.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;
using detail::config;

TEST(Variables, TUTTI_REPRODUCIBLE) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_TRUE(comm.options().reproducible);
  std::vector<float> x(64, 1.0F);
  Options ring;
  ring.algorithm = "ring";
  EXPECT_THROW(allreduce(comm, x, sum, ring), Error) << "the order of the ring is not that of the ranks";
  allreduce(comm, x, sum);
  EXPECT_EQ(x[0], static_cast<float>(comm.size()));
}

// TUTTI_REPRODUCIBLE=exact: 1 is lost to 2^60 in any order that rounds.
TEST(Variables, Exact) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_TRUE(comm.options().reproducible);
  const std::vector<double> terms{0x1p60, 1, -0x1p60};
  std::vector<double> x{terms[static_cast<std::size_t>(comm.rank()) % terms.size()]};
  allreduce(comm, x, sum);
  EXPECT_EQ(x[0], 1);
}

/// Until all other ranks have set their number, outside MPI and the library; false where they do not within 5 s.
bool await_others(const std::vector<int*>& numbers) {
  const auto end = std::chrono::steady_clock::now() + 5s;
  for (std::size_t rank = 1; rank < numbers.size(); ++rank)
    while (std::atomic_ref(*numbers[rank]).load() == 0) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(1ms);
    }
  return true;
}

// A schedule of several rounds goes on while rank 0 is outside the library, until the others have ended it.
TEST(Variables, TUTTI_PROGRESS_THREAD) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const SharedNumbers ended;
  std::vector<int*> numbers;
  for (int rank = 0; rank < comm.size(); ++rank) numbers.push_back(&ended.of(rank));
  Options options;
  options.algorithm = "ring";
  std::vector<float> x(64, 1.0F);
  Request request = iallreduce(comm, x, sum, options);
  if (comm.rank() == 0) {
    EXPECT_TRUE(await_others(numbers)) << "the others wait for rank 0";
  }
  request.wait();
  std::atomic_ref(*numbers[static_cast<std::size_t>(comm.rank())]).store(1);
  EXPECT_EQ(x[0], static_cast<float>(comm.size()));
  meet();
}

// TUTTI_PROGRESS_HOOK=0: an MPI that has a hook is not asked.
TEST(Variables, TUTTI_PROGRESS_HOOK) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_TRUE(detail::progress_hook::find().is_usable || !standin_progress_hook::is_loaded());
  EXPECT_FALSE(comm.state()->machine().progress_hook);
  EXPECT_EQ(comm.state()->progress_report, "switched off by TUTTI_PROGRESS_HOOK=0");
  std::vector<float> x(100'000, 1.0F);
  Options options;
  options.algorithm = "ring";
  Request request = iallreduce(comm, x, sum, options);
  EXPECT_FALSE(detail::progress_hook::is_armed());
  request.wait();
  EXPECT_EQ(x[0], static_cast<float>(comm.size()));
}

// TUTTI_TIMEOUT=0.4
TEST(Variables, TUTTI_TIMEOUT) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(comm.options().timeout, 400ms);
  if (comm.rank() == 0) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      barrier(comm);
      ADD_FAILURE() << "a barrier of one rank ended";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::timeout) << e.what();
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 400ms);
  }
  meet();
}

TEST(Variables, TUTTI_SHM) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_FALSE(comm.state()->machine().shared_memory);
  std::vector<float> x(8, 1.0F);
  Options options;
  options.algorithm = "shm:slots";
  EXPECT_THROW(allreduce(comm, x, sum, options), Error);
}

TEST(Variables, TUTTI_SINGLE_COPY) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_FALSE(comm.state()->machine().single_copy);
  EXPECT_FALSE(comm.state()->machine().mapped_copy);
  std::vector<float> x(100'000, 1.0F);
  Options options;
  options.algorithm = "shm:single_copy";
  EXPECT_THROW(allreduce(comm, x, sum, options), Error);
}

TEST(Variables, TUTTI_XPMEM) {
  EXPECT_FALSE(config().xpmem);
  EXPECT_FALSE(Communicator::duplicate(MPI_COMM_WORLD).state()->machine().mapped_copy);
}

// No plan carries a trial, and so every call is made in the predicted way.
TEST(Variables, TUTTI_TRIALS) {
  EXPECT_FALSE(config().trials);
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<float> x(10'000, 1.0F);
  for (int k = 0; k < 200; ++k) allreduce(comm, x, max);
  EXPECT_EQ(x[0], 1.0F);
}

// TUTTI_CHECK=2
TEST(Variables, TUTTI_CHECK) {
  EXPECT_EQ(config().check, 2);
  CommunicatorOptions options;
  options.check = CheckMode::calls;
  EXPECT_EQ(Communicator::duplicate(MPI_COMM_WORLD, options).options().check, CheckMode::bytes);
}

// TUTTI_CALIBRATION=now
TEST(Variables, TUTTI_CALIBRATION) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(comm.state()->costs_report.find("calibrated now"), 0U) << comm.state()->costs_report;
}

TEST(Variables, TUTTI_NCCL) { EXPECT_FALSE(config().nccl); }
TEST(Variables, TUTTI_NCCL_BLOCKING) { EXPECT_TRUE(config().nccl_blocking); }
TEST(Variables, TUTTI_NCCL_REGISTER) { EXPECT_TRUE(config().nccl_register); }
TEST(Variables, TUTTI_CUDA_AWARE) { EXPECT_EQ(config().cuda_aware, std::optional<bool>(true)); }

// The library writes nothing unless it is asked to, and then says why ranks share no memory.
TEST(Variables, TUTTI_LOG) { EXPECT_TRUE(config().logs); }

// TUTTI_LOG=summary. Each row: operation, form, size class (two words), way, calls, bytes, seconds, us a call.
TEST(Variables, NeighborhoodsAreInTheSummary) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int periodic = 1;
  MPI_Comm ring = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  {
    const Communicator comm = Communicator::duplicate(ring);
    const std::vector<int> mine(4, comm.rank());
    std::vector<int> theirs(8);
    for (int call = 0; call < 3; ++call) neighbor_allgather(comm, mine, theirs);
    for (int call = 0; call < 2; ++call) ineighbor_allgather(comm, mine, theirs).wait();
    Request request = neighbor_allgather_init(comm, mine, theirs);
    for (int call = 0; call < 5; ++call) {
      request.start();
      request.wait();
    }
  }
  MPI_Comm_free(&ring);
  ASSERT_NE(detail::Summary::if_wanted(), nullptr);
  const std::string text = detail::Summary::if_wanted()->text();
  for (const auto& [form, calls] :
       {std::pair{"blocking", 3}, std::pair{"nonblocking", 2}, std::pair{"persistent", 5}}) {
    const std::regex row(
        fmt::format("neighbor_allgather +{} +64 B +(shm:slots|messages) +{} +{} ", form, calls, calls * 32));
    EXPECT_TRUE(std::regex_search(text, row)) << form << "\n" << text;
  }
}

// TUTTI_FLIGHT=0
TEST(Variables, TUTTI_FLIGHT) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(detail::flight::Recorder::instance(), nullptr);
  std::vector<float> x(64, 1.0F);
  allreduce(comm, x, sum);
  iallreduce(comm, x, sum).wait();
  EXPECT_EQ(x[0], static_cast<float>(comm.size() * comm.size()));
}

// TUTTI_FLIGHT=<folder>
TEST(Variables, FlightFolder) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const detail::flight::Recorder* recorder = detail::flight::Recorder::instance();
  ASSERT_NE(recorder, nullptr);
  const auto file = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", recorder->descriptor()));
  EXPECT_TRUE(std::filesystem::exists(file)) << file;
  EXPECT_EQ(file.parent_path(), std::filesystem::canonical(std::getenv("TUTTI_FLIGHT")));
  std::filesystem::remove(file);
}

// TUTTI_FLIGHT_ENTRIES=100
TEST(Variables, TUTTI_FLIGHT_ENTRIES) { EXPECT_EQ(config().flight_entries, 128U); }

// TUTTI_CHECKSUM=1
TEST(Variables, TUTTI_CHECKSUM) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  ASSERT_NE(detail::flight::Recorder::instance(), nullptr);
  EXPECT_TRUE(detail::flight::Recorder::instance()->has_checksums());
  EXPECT_EQ(config().flight_entries, 65536U) << "two runs are compared from their beginning on";
}

// TUTTI_TRACE=variables.json
TEST(Variables, TUTTI_TRACE) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(config().trace_file, std::filesystem::current_path() / "variables.json");
  const detail::flight::Recorder* recorder = detail::flight::Recorder::instance();
  ASSERT_NE(recorder, nullptr);
  ASSERT_NE(recorder->log(), nullptr);
  EXPECT_TRUE(std::filesystem::exists(fmt::format("{}.{}", config().trace_file, comm.rank())));
}

// TUTTI_ALGORITHM=allreduce:ring
TEST(Variables, TUTTI_ALGORITHM) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  std::vector<float> x(64, 1.0F);
  Request request = iallreduce(comm, x, sum);
  EXPECT_NE(request.execution()->name().find("ring"), std::string::npos) << request.execution()->name();
  request.wait();
}

// TUTTI_NETWORK=variables.conf
TEST(Variables, TUTTI_NETWORK) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    std::array<char, 256> host{};
    gethostname(host.data(), host.size() - 1);
    std::ofstream(std::getenv("TUTTI_NETWORK")) << "SwitchName=one Nodes=" << host.data() << '\n';
  }
  meet();
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  EXPECT_EQ(comm.topology().network_source, "TUTTI_NETWORK");
  EXPECT_EQ(comm.topology().network_groups, (std::vector<std::vector<int>>{{0}}));
}

// TUTTI_TUNING=/nowhere/table.json
TEST(Variables, TUTTI_TUNING) {
  try {
    (void)Communicator::duplicate(MPI_COMM_WORLD);
    ADD_FAILURE() << "a table that is not there was taken";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::io) << e.what();
    EXPECT_NE(std::string(e.what()).find("/nowhere/table.json"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace tutti::test
