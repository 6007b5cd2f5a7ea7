// SPDX-License-Identifier: BSD-3-Clause
// More than 2^31 elements: a broadcast, a sum and a message of bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <tutti/tutti.hpp>
#include <vector>

#include "support/free_memory.hpp"

namespace tutti::test {
namespace {

constexpr std::size_t count = (std::size_t{1} << 31U) + 12'345;

constexpr std::size_t part = std::size_t{1} << 20U;

/// What a part of the data holds: 13 i, shifted by another number of elements in each part, so that it is found in one
/// vector that is a little longer; times `factor`.
class Values {
 public:
  explicit Values(int factor) : all_(part + 256) {
    for (std::size_t i = 0; i < all_.size(); ++i)
      all_[i] = static_cast<std::uint8_t>(13 * i * static_cast<std::size_t>(factor));
  }
  [[nodiscard]] const std::uint8_t* of(std::size_t number) const {
    return all_.data() + (number * 7 + number / 256) % 256;
  }

 private:
  std::vector<std::uint8_t> all_;
};

template <typename Body>
void for_each_part(std::size_t elements, const Body& body) {
  for (std::size_t begin = 0; begin < elements; begin += part)
    body(begin / part, begin, std::min(part, elements - begin));
}

void fill(std::vector<std::uint8_t>& data) {
  const Values values(1);
  for_each_part(data.size(), [&](std::size_t number, std::size_t begin, std::size_t length) {
    std::memcpy(data.data() + begin, values.of(number), length);
  });
}

/// The first part that is not as fill() makes it, times `factor`; -1 where all are.
std::ptrdiff_t first_wrong(const std::vector<std::uint8_t>& data, int factor) {
  const Values values(factor);
  std::ptrdiff_t wrong = -1;
  for_each_part(data.size(), [&](std::size_t number, std::size_t begin, std::size_t length) {
    const bool is_right = std::memcmp(data.data() + begin, values.of(number), length) == 0;
    if (!is_right && wrong < 0) wrong = static_cast<std::ptrdiff_t>(number);
  });
  return wrong;
}

TEST(LargeCount, MoreThanTwoToThe31Elements) {
  const Communicator comm = Communicator::duplicate(MPI_COMM_WORLD);
  // Decided by all ranks together: each sees the memory at another moment.
  int enough = has_free_memory(14) ? 1 : 0;
  allreduce(comm, &enough, 1, min);
  if (enough == 0) GTEST_SKIP() << "needs 14 GiB of free memory";
  std::vector<std::uint8_t> data(count);
  if (comm.rank() == 0) fill(data);
  Options options;
  options.algorithm = "binomial";
  bcast(comm, data, 0, options);
  EXPECT_EQ(first_wrong(data, 1), -1);

  options.algorithm = "ring";
  allreduce(comm, data, sum, options);
  EXPECT_EQ(first_wrong(data, comm.size()), -1);

  if (comm.rank() == 0) {
    send(comm, data, 1, 4);
  } else if (comm.rank() == 1) {
    std::fill(data.begin(), data.end(), std::uint8_t{0});
    EXPECT_EQ(recv(comm, data, 0, 4).count, count);
    EXPECT_EQ(first_wrong(data, comm.size()), -1);
  }
}

}  // namespace
}  // namespace tutti::test
