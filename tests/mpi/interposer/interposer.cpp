// SPDX-License-Identifier: BSD-3-Clause
// The machine that libtutti_interposer.so pretends: what its variables say, a process sees. Only least times are
// expected, which no other load of the machine can break.
#include "support/interposer/interposer.hpp"

#include <gtest/gtest.h>
#include <mpi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <tutti/tutti.hpp>
#include <vector>

#include "call/context.hpp"

namespace {

using std::chrono::nanoseconds;
using tutti::test::interposer::Call;
using tutti::test::interposer::count_of;

constexpr std::size_t length = 64 * 1024;

std::int64_t setting(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoll(text);
}

template <typename Work>
nanoseconds time_of(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::steady_clock::now() - begin;
}

class Interposer : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(tutti::test::interposer::is_loaded()) << "libtutti_interposer.so is not preloaded";
  }
  static bool refuses() { return setting("TUTTI_TEST_KERNEL_COPY_REFUSED") != 0; }
  static nanoseconds kernel_copy() {
    return nanoseconds(setting("TUTTI_TEST_KERNEL_COPY_NS") +
                       setting("TUTTI_TEST_KERNEL_COPY_NS_PER_KIB") * static_cast<std::int64_t>(length / 1024));
  }

  std::vector<char> from_ = std::vector<char>(length, 'x');
  std::vector<char> to_ = std::vector<char>(length);
};

/// Copies within this process. Returns the error, or 0.
int copy_by_kernel(decltype(process_vm_readv)* transfer, std::vector<char>& local, std::vector<char>& remote) {
  const iovec here{local.data(), local.size()};
  const iovec there{remote.data(), remote.size()};
  return transfer(getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(local.size()) ? 0 : errno;
}

TEST_F(Interposer, SlowsOrRefusesCopiesByTheKernel) {
  const auto before = count_of(Call::kernel_copy);
  int error = 0;
  const nanoseconds reading = time_of([&] { error = copy_by_kernel(process_vm_readv, to_, from_); });
  EXPECT_EQ(count_of(Call::kernel_copy), before + 1);
  if (refuses()) {
    EXPECT_EQ(error, EPERM);
    EXPECT_EQ(copy_by_kernel(process_vm_writev, from_, to_), EPERM);
    EXPECT_EQ(count_of(Call::kernel_copy), before + 2);
    return;
  }
  if (error != 0) GTEST_SKIP() << "skipped: this system refuses process_vm_readv: " << std::strerror(error);
  EXPECT_GE(reading, kernel_copy());
  EXPECT_EQ(to_, from_);
  to_.assign(length, 'y');
  EXPECT_GE(time_of([&] { error = copy_by_kernel(process_vm_writev, to_, from_); }), kernel_copy());
  EXPECT_EQ(error, 0);
  EXPECT_EQ(to_, from_);
}

TEST_F(Interposer, SlowsLongCopiesInMemory) {
  const std::int64_t per_kib = setting("TUTTI_TEST_MEMORY_COPY_NS_PER_KIB");
  // Read at run time, so that the compiler calls the functions.
  const volatile std::size_t all = length;
  const volatile std::size_t few = 1000;
  const auto before = count_of(Call::memory_copy);
  std::memcpy(to_.data(), from_.data(), few);
  EXPECT_EQ(count_of(Call::memory_copy), before) << "too short to be slowed";
  const nanoseconds copying = time_of([&] { std::memcpy(to_.data(), from_.data(), all); });
  EXPECT_GE(copying, nanoseconds(per_kib * static_cast<std::int64_t>(length / 1024)));
  EXPECT_EQ(count_of(Call::memory_copy), before + (per_kib > 0 ? 1 : 0));
  EXPECT_EQ(to_, from_);
  to_.front() = 'a';
  to_[length - 2] = 'b';
  std::memmove(to_.data() + 1, to_.data(), all - 1);
  EXPECT_EQ(count_of(Call::memory_copy), before + (per_kib > 0 ? 2 : 0));
  EXPECT_EQ(to_[1], 'a');
  EXPECT_EQ(to_.back(), 'b');
}

TEST_F(Interposer, SlowsMessages) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int peer = 1 - rank;
  int sent = rank;
  int got = -1;
  MPI_Request requests[2] = {};
  MPI_Irecv(&got, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[0]);
  const auto before = count_of(Call::message);
  const nanoseconds sending = time_of([&] { MPI_Isend(&sent, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, &requests[1]); });
  MPI_Waitall(2, static_cast<MPI_Request*>(requests), MPI_STATUSES_IGNORE);
  EXPECT_GE(sending, nanoseconds(setting("TUTTI_TEST_MESSAGE_NS")));
  EXPECT_EQ(count_of(Call::message), before + 1);
  EXPECT_EQ(got, peer);
}

/// The least time of a bcast of `length` bytes on rank 0.
nanoseconds time_bcast(const tutti::Communicator& comm, std::vector<char>& data, const char* way) {
  tutti::Options options;
  options.algorithm = way;
  return time_of(
      [&] { tutti::bcast(comm, tutti::Buffer(data.data(), data.size(), tutti::DatatypeKind::uint8), 0, options); });
}

TEST_F(Interposer, IsBetweenTheLibraryAndTheKernel) {
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  const tutti::detail::Machine machine = comm.state()->machine();
  if (!machine.shared_memory) GTEST_SKIP() << "skipped: the ranks share no memory here";
  if (refuses()) {
    EXPECT_FALSE(machine.single_copy);
    EXPECT_THROW(time_bcast(comm, from_, "shm:single_copy"), tutti::Error);
    return;
  }
  if (!machine.single_copy) GTEST_SKIP() << "skipped: this system refuses process_vm_readv between ranks";
  const std::uint64_t before = count_of(Call::kernel_copy);
  const nanoseconds spent = time_bcast(comm, from_, "shm:single_copy");
  tutti::barrier(comm);
  std::uint64_t copies = count_of(Call::kernel_copy) - before;
  tutti::allreduce(comm, tutti::Buffer(&copies, 1), tutti::ReduceKind::sum);
  EXPECT_GE(copies, 1U);
  // The root waits until its buffer has been copied, or copies itself.
  EXPECT_GE(spent, nanoseconds(setting("TUTTI_TEST_KERNEL_COPY_NS")));
}

TEST_F(Interposer, IsBetweenTheLibraryAndMpi) {
  const auto comm = tutti::Communicator::duplicate(MPI_COMM_WORLD);
  std::uint64_t messages = count_of(Call::message);
  const nanoseconds spent = time_bcast(comm, from_, "mpi:binomial");
  messages = count_of(Call::message) - messages;
  if (comm.rank() != 0) return;
  EXPECT_GE(messages, 1U);
  EXPECT_GE(spent, nanoseconds(setting("TUTTI_TEST_MESSAGE_NS")));
}

}  // namespace
