// SPDX-License-Identifier: BSD-3-Clause
// More than 2^31 elements: a broadcast, a sum and a message of bytes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <tutti/tutti.hpp>
#include <vector>

namespace tutti::test {
namespace {

constexpr std::size_t count = (std::size_t{1} << 31U) + 12'345;

bool has_memory() {
  const auto pages = static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES));
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) > (std::size_t{14} << 30U);
}

std::uint8_t value(std::size_t i, int salt) {
  return static_cast<std::uint8_t>((i >> 20U) * 7 + i * 13 + static_cast<std::size_t>(salt));
}

std::size_t first_wrong(const std::vector<std::uint8_t>& data, int factor, int salt) {
  for (std::size_t i = 0; i < data.size(); ++i)
    if (data[i] != static_cast<std::uint8_t>(factor * value(i, 0) + salt)) return i;
  return data.size();
}

TEST(LargeCount, MoreThanTwoToThe31Elements) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  // Decided by all ranks together: each sees the memory at another moment.
  int enough = has_memory() ? 1 : 0;
  allreduce(comm, &enough, 1, min);
  if (enough == 0) GTEST_SKIP() << "needs 14 GiB of free memory";
  std::vector<std::uint8_t> data(count);
  if (comm.rank() == 0)
    for (std::size_t i = 0; i < count; ++i) data[i] = value(i, 0);
  Options options;
  options.algorithm = "binomial";
  bcast(comm, data, 0, options);
  EXPECT_EQ(first_wrong(data, 1, 0), count);

  options.algorithm = "ring";
  allreduce(comm, data, sum, options);
  EXPECT_EQ(first_wrong(data, comm.size(), 0), count);

  if (comm.rank() == 0) {
    send(comm, data, 1, 4);
  } else if (comm.rank() == 1) {
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    EXPECT_EQ(recv(comm, data, 0, 4).count, count);
    EXPECT_EQ(first_wrong(data, comm.size(), 0), count);
  }
}

}  // namespace
}  // namespace tutti::test
