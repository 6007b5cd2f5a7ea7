// SPDX-License-Identifier: BSD-3-Clause
// Each member of the options of a call and of a communicator has its effect. The structured bindings name all members:
// a new one does not compile until it is tested here. Streams are tested on the stand-in of CUDA (tests/mpi/device).
#include <tutti/options.hpp>

#include "call/context.hpp"
#include "call/execution.hpp"
#include "support/exercise.hpp"
#include "support/meet.hpp"

namespace tutti::test {
namespace {

using namespace std::chrono_literals;

const Communicator& world() { return communicators().front(); }

template <typename Call>
std::string error_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    return e.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Whether a sum may be made by an algorithm that does not add in rank order, in one step.
template <typename T>
bool takes_ring(const Communicator& comm, Options options) {
  options.algorithm = "ring";
  std::vector<T> x(64, T(1.0F));
  try {
    allreduce(comm, x, sum, options);
    EXPECT_EQ(static_cast<float>(x[0]), static_cast<float>(comm.size()));
    return true;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_algorithm) << e.what();
    return false;
  }
}

/// A call that rank 0 alone makes, and that nobody answers.
void expect_timeout(const Communicator& comm, const Options& options) {
  if (comm.rank() == 0) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<float> x(100, 1.0F);
    const std::string text = error_of(ErrorCode::timeout, [&] { allreduce(comm, x, sum, options); });
    EXPECT_TRUE(contains(text, "allreduce")) << text;
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 300ms);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
  }
  meet();
}

TEST(OptionsOfACall, AreAllTested) {
  const Options defaults;
  const auto& [stream, memory, timeout, algorithm, reproducible, accumulation] = defaults;
  EXPECT_EQ(stream.kind, StreamKind::none);
  EXPECT_EQ(memory, MemoryKind::detect);
  EXPECT_EQ(timeout, 0ns);
  EXPECT_EQ(algorithm, "");
  EXPECT_FALSE(reproducible);
  EXPECT_EQ(accumulation, Accumulation::full);
}

TEST(OptionsOfACall, Algorithm) {
  std::vector<float> x(64, 1.0F);
  for (const char* name : {"ring", "recursive_doubling"}) {
    Options options;
    options.algorithm = name;
    Request request = iallreduce(world(), x, sum, options);
    if (world().size() > 1) {
      EXPECT_TRUE(contains(request.execution()->name(), name)) << request.execution()->name();
    }
    request.wait();
  }
  Options wrong;
  wrong.algorithm = "rnig";
  EXPECT_TRUE(contains(error_of(ErrorCode::invalid_algorithm, [&] { allreduce(world(), x, sum, wrong); }), "rnig"));
}

TEST(OptionsOfACall, Reproducible) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Options options;
  EXPECT_TRUE(takes_ring<float>(world(), options));
  options.reproducible = true;
  EXPECT_FALSE(takes_ring<float>(world(), options));
}

TEST(OptionsOfACall, Accumulation) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  Options options;
  EXPECT_FALSE(takes_ring<bfloat16_t>(world(), options)) << "one rounding";
  options.accumulation = Accumulation::backend;
  EXPECT_TRUE(takes_ring<bfloat16_t>(world(), options)) << "a rounding at every hop";
  EXPECT_TRUE(takes_ring<double>(world(), options));
  options.accumulation = Accumulation::exact;
  EXPECT_FALSE(takes_ring<bfloat16_t>(world(), options)) << "one rounding";
  EXPECT_FALSE(takes_ring<double>(world(), options)) << "one rounding";
  EXPECT_TRUE(takes_ring<int>(world(), options)) << "no rounding";
}

TEST(OptionsOfACall, Memory) {
  std::vector<float> x(64, 1.0F);
  Options options;
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::pinned}) {
    options.memory = kind;
    allreduce(world(), x, sum, options);
  }
  // The test's machine has no device that this memory could be on.
  options.memory = MemoryKind::device;
  try {
    allreduce(world(), x, sum, options);
    ADD_FAILURE() << "memory of no device was taken";
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == ErrorCode::not_built || e.code() == ErrorCode::cuda || e.code() == ErrorCode::mismatch)
        << e.what();
  }
}

TEST(OptionsOfACall, Timeout) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  Options options;
  options.timeout = 300ms;
  expect_timeout(comm, options);
}

TEST(OptionsOfACommunicator, AreAllTested) {
  const CommunicatorOptions defaults;
  const auto& [timeout, reproducible, native_blocking, name, check, nccl] = defaults;
  EXPECT_EQ(timeout, 0ns);
  EXPECT_FALSE(reproducible);
  EXPECT_FALSE(native_blocking);
  EXPECT_EQ(name, "");
  EXPECT_EQ(check, CheckMode::off);  // its effects have a folder of their own, tests/mpi/diagnosis
  EXPECT_EQ(nccl.max_ctas, 0);       // in tests/mpi/nccl/comm.cpp
}

TEST(OptionsOfACommunicator, ReproducibleNativeBlockingAndName) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  CommunicatorOptions options;
  options.name = "named";
  for (const bool which : {false, true}) {
    options.reproducible = which;
    options.native_blocking = !which;
    const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD, options);
    EXPECT_EQ(takes_ring<float>(comm, {}), !which);
    EXPECT_EQ(comm.state()->machine().native_blocking, !which);
    std::vector<float> x(1);
    const std::string text = error_of(ErrorCode::invalid_argument, [&] { bcast(comm, x, 99); });
    EXPECT_TRUE(contains(text, "'named'")) << text;
  }
}

TEST(OptionsOfACommunicator, Timeout) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  CommunicatorOptions options;
  options.timeout = 300ms;
  expect_timeout(Communicator::duplicate(MPI_COMM_WORLD, options), {});
}

/// Each option that ranks have to agree on, on one rank only.
TEST(OptionsOfACommunicator, ThatDifferAreNamedOnAllRanks) {
  if (world().size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const bool is_last = world().rank() == world().size() - 1;
  for (const std::string word : {"timeout", "reproducible", "native_blocking", "check"}) {
    CommunicatorOptions options;
    if (word == "timeout") options.timeout = is_last ? 70s : 60s;
    if (word == "reproducible") options.reproducible = is_last;
    if (word == "native_blocking") options.native_blocking = is_last;
    if (word == "check") options.check = is_last ? CheckMode::bytes : CheckMode::calls;
    const std::string text =
        error_of(ErrorCode::mismatch, [&] { (void)Communicator::duplicate(MPI_COMM_WORLD, options); });
    EXPECT_TRUE(contains(text, word)) << text;
  }
}

}  // namespace
}  // namespace tutti::test
