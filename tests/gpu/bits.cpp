// SPDX-License-Identifier: BSD-3-Clause
// Where the library promises the bits of a result, the device gives those of the host.
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tutti/tutti.hpp>

#include "gpu/arrays.hpp"
#include "gpu/trial.hpp"

namespace tutti::test::gpu {
namespace {

class Bits : public OnDevice {};

template <typename T>
std::vector<T> random_values(std::size_t count, int rank) {
  std::mt19937 generator(static_cast<unsigned>(rank + 7));
  std::normal_distribution<float> normal(0.0F, 100.0F);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<T>(normal(generator)));
  return values;
}

/// All pairs of these meet where the ranks begin at different places.
template <typename T>
std::vector<T> special_values(std::size_t count, int rank) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float all[] = {nan, 0.0F, -0.0F, infinity, -infinity, 1.0F, -1.0F};
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t place = i + static_cast<std::size_t>(rank) * (1 + i / std::size(all));
    values.push_back(static_cast<T>(all[place % std::size(all)]));
  }
  return values;
}

template <typename T>
void expect_bits_of_the_host(const std::vector<T>& mine, ReduceOp op, const Options& wanted, const char* what) {
  const Communicator& comm = device_world();
  std::vector<T> on_host = mine;
  allreduce(comm, on_host, op, wanted);
  const DeviceStream stream;
  const DeviceArray<T> array(mine);
  Options options = wanted;
  options.stream = stream.stream();
  allreduce(comm, array.data(), array.size(), op, options);
  stream.wait();
  const auto on_device = array.read();
  EXPECT_EQ(std::memcmp(on_device.data(), on_host.data(), mine.size() * sizeof(T)), 0)
      << what << " of " << datatype_name(datatype_of<T>().kind()) << ", " << reduce_op_name(op.kind());
}

template <typename T>
void expect_reproducible_sums() {
  Options options;
  options.reproducible = true;
  for (const std::size_t count : {1, 1023, 20'011})
    expect_bits_of_the_host(random_values<T>(count, device_world().rank()), sum, options, "reproducible sum");
}

TEST_F(Bits, ReproducibleSums) {
  expect_reproducible_sums<float>();
  expect_reproducible_sums<double>();
  expect_reproducible_sums<bfloat16_t>();
  expect_reproducible_sums<float16_t>();
}

// 16-bit sums are rounded once, in rank order, also without the reproducible mode.
TEST_F(Bits, NarrowSumsAreRoundedOnce) {
  expect_bits_of_the_host(random_values<bfloat16_t>(4099, device_world().rank()), sum, {}, "sum");
  expect_bits_of_the_host(random_values<float16_t>(4099, device_world().rank()), sum, {}, "sum");
}

TEST_F(Bits, MinimaAndMaximaOfSpecialValues) {
  for (const ReduceOp& op : {min, max}) {
    expect_bits_of_the_host(special_values<float>(98, device_world().rank()), op, {}, "special values");
    expect_bits_of_the_host(special_values<double>(98, device_world().rank()), op, {}, "special values");
    expect_bits_of_the_host(special_values<bfloat16_t>(98, device_world().rank()), op, {}, "special values");
    expect_bits_of_the_host(special_values<float16_t>(98, device_world().rank()), op, {}, "special values");
  }
}

}  // namespace
}  // namespace tutti::test::gpu
