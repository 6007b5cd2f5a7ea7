// SPDX-License-Identifier: BSD-3-Clause
// Buffers from the library are loaded and stored directly: the calls work after this process has forbidden itself every
// copy between processes by the kernel.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <tutti/tutti.hpp>

#include "backends/shm/peer_memory.hpp"
#include "call/context.hpp"

namespace tutti {
namespace {

/// For the rest of this process's life. False where the kernel has no filters.
bool forbid_copies_between_processes() {
  const auto number = static_cast<unsigned>(offsetof(seccomp_data, nr));
  std::array<sock_filter, 5> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  }};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// On all ranks alike.
bool all(bool mine) {
  int here = mine ? 1 : 0;
  int everywhere = 0;
  MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return everywhere != 0;
}

TEST(MemoryDirect, LargeCallsNeedNoHelpOfTheKernel) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  const auto ranks = static_cast<std::size_t>(comm.size());
  constexpr std::size_t count = 300'000;
  const Allocation in = allocate(comm, ranks * count * sizeof(double));
  const Allocation out = allocate(comm, ranks * count * sizeof(double));
  if (!comm.state()->machine().shared_memory || !comm.state()->machine().single_copy)
    GTEST_SKIP() << "no shared memory, or no single copies, here";
  ASSERT_TRUE(all(in.is_shared() && out.is_shared()));
  if (!all(forbid_copies_between_processes())) GTEST_SKIP() << "the kernel has no system call filters";
  const double here = 1.0;
  double there = 0.0;
  ASSERT_FALSE(detail::shm::try_read_memory(getpid(), reinterpret_cast<std::uint64_t>(&here), &there, sizeof there));

  const Options options{.algorithm = "shm:single_copy"};
  const auto send = in.as<double>();
  const auto recv = out.as<double>();
  const auto all_are = [](std::span<const double> data, double value) {
    return std::ranges::all_of(data, [value](double x) { return x == value; });
  };
  const double total = comm.size() * (comm.size() + 1) / 2.0;
  const auto fill = [&] { std::ranges::fill(send, comm.rank() + 1.0); };
  fill();
  allreduce(comm, send, recv, sum, options);
  EXPECT_TRUE(all_are(recv, total));
  allreduce(comm, send, sum, options);
  EXPECT_TRUE(all_are(send, total));
  fill();
  reduce(comm, send, recv, max, comm.size() - 1, options);
  EXPECT_TRUE(comm.rank() != comm.size() - 1 || all_are(recv, comm.size()));
  bcast(comm, send, 0, options);
  EXPECT_TRUE(all_are(send, 1.0));
  fill();
  scan(comm, send, recv, sum, options);
  EXPECT_TRUE(all_are(recv, (comm.rank() + 1) * (comm.rank() + 2) / 2.0));
  allgather(comm, send.subspan(0, count), recv, options);
  for (std::size_t r = 0; r < ranks; ++r)
    EXPECT_TRUE(all_are(recv.subspan(r * count, count), static_cast<double>(r) + 1.0));
  alltoall(comm, send, recv, options);
  for (std::size_t r = 0; r < ranks; ++r)
    EXPECT_TRUE(all_are(recv.subspan(r * count, count), static_cast<double>(r) + 1.0));
  reduce_scatter_block(comm, send, recv.subspan(0, count), sum, options);
  EXPECT_TRUE(all_are(recv.subspan(0, count), total));
}

}  // namespace
}  // namespace tutti
