// SPDX-License-Identifier: BSD-3-Clause
#include <sys/mman.h>

#include <atomic>
#include <new>
#include <tutti/kernels/combine.hpp>
#include <tutti/kernels/launch.hpp>
#include <tutti/kernels/norms.hpp>
#include <tutti/kernels/segmented_sum.hpp>

#include "device_memory.hpp"
#include "support/free_memory.hpp"

// Sizes that an int or 32 bits do not hold: more than 2^31 and 2^32 elements and items, and warps of several launches.
namespace {

using namespace device_test;

constexpr std::size_t bytes = (std::size_t{1} << 32U) + 77;
constexpr std::size_t halves = (std::size_t{1} << 31U) + 77;

/// Around the sizes at which a number of 32 bits begins anew, and the last.
std::vector<std::size_t> places(std::size_t count) {
  std::vector<std::size_t> all{0, 1, count - 1};
  for (const std::size_t edge : {std::size_t{1} << 31U, std::size_t{1} << 32U})
    for (const std::size_t at : {edge - 1, edge, edge + 1})
      if (at < count) all.push_back(at);
  return all;
}

/// Zeros; pages that are only read take no memory. Huge pages, because a million small ones take seconds to come.
template <typename T>
class Zeros {
 public:
  explicit Zeros(std::size_t count) : count_(count) {
    void* at =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    madvise(at, count * sizeof(T), MADV_HUGEPAGE);
    data_ = static_cast<T*>(at);
  }
  ~Zeros() { munmap(data_, count_ * sizeof(T)); }
  Zeros(const Zeros&) = delete;
  Zeros& operator=(const Zeros&) = delete;
  [[nodiscard]] T* data() const { return data_; }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

class Large : public Device {
 protected:
  static void SetUpTestSuite() { has_memory_ = tutti::test::has_free_memory(12); }
  void SetUp() override {
    if (!has_memory_) GTEST_SKIP() << "less than 12 GiB of memory are free";
  }

 private:
  inline static bool has_memory_ = false;
};

TEST_F(Large, Combine) {
  const Zeros<std::uint8_t> values(bytes);
  for (const std::size_t at : places(bytes)) values[at] = 1;
  const std::vector<const void*> inputs{values.data(), values.data()};
  kernels::combine(DatatypeKind::uint8, ReduceKind::sum, inputs, values.data(), bytes);
  for (const std::size_t at : places(bytes)) EXPECT_EQ(values[at], 2) << at;
}

TEST_F(Large, CombineOnADevice) {
  const auto values = make<std::uint8_t>(bytes);
  for (const std::size_t at : places(bytes)) values.set(at, 1);
  const std::vector<const void*> inputs{values.data(), values.data()};
  kernels::device::combine(DatatypeKind::uint8, ReduceKind::sum, inputs, values.data(), bytes, stream);
  runtime.run_all();
  const standin::HostAccess access;
  for (const std::size_t at : places(bytes)) EXPECT_EQ(values.data()[at], 2) << at;
}

TEST_F(Large, Norm) {
  const Zeros<bfloat16_t> values(halves);
  for (const std::size_t at : places(halves)) values[at] = static_cast<bfloat16_t>(1.0F);
  EXPECT_EQ(norm(Norm::l1, DatatypeKind::bfloat16, values.data(), halves), static_cast<double>(places(halves).size()));
}

TEST_F(Large, NormOnADevice) {
  const auto values = make<bfloat16_t>(halves);
  {
    const standin::HostAccess access;
    std::memset(static_cast<void*>(values.data()), 0, halves * sizeof(bfloat16_t));
    for (const std::size_t at : places(halves)) values.data()[at] = static_cast<bfloat16_t>(1.0F);
  }
  const auto result = make<double>(1);
  kernels::device::Workspace workspace;
  kernels::device::norm_part(Norm::l1, DatatypeKind::bfloat16, values.data(), halves, result.data(), workspace, stream);
  runtime.run_all();
  EXPECT_EQ(result.values()[0], static_cast<double>(places(halves).size()));
}

TEST_F(Large, SegmentedSum) {
  const Zeros<bfloat16_t> values(halves);
  for (const std::size_t at : places(halves)) values[at] = static_cast<bfloat16_t>(1.0F);
  const std::vector<std::int64_t> offsets{0, 5, std::int64_t{1} << 31, static_cast<std::int64_t>(halves)};
  std::vector<bfloat16_t> output(3);
  segmented_sum(DatatypeKind::bfloat16, values.data(), 1, offsets, output.data());
  EXPECT_EQ(static_cast<float>(output[0]), 2.0F);
  EXPECT_EQ(static_cast<float>(output[1]), 1.0F);
  EXPECT_EQ(static_cast<float>(output[2]), 3.0F);
}

/// Counts the items that ran, and those whose number 32 bits do not hold.
struct CountBody {
  std::atomic<std::size_t>* counts;
  std::size_t wide;
  TUTTI_FUNCTION void operator()(std::size_t i) const {
    if (i % (std::size_t{1} << 20U) == 0) counts[0].fetch_add(1, std::memory_order_relaxed);
    if (i >= wide) counts[1].fetch_add(1, std::memory_order_relaxed);
  }
  template <typename Warp>
  TUTTI_FUNCTION void operator()(const Warp& /*warp*/, std::size_t i) const {
    (*this)(i);
  }
};

TEST_F(Large, Items) {
  std::atomic<std::size_t> counts[2]{};
  constexpr std::size_t wide = std::size_t{1} << 32U;
  kernels::device::launch(handle, wide + 5, CountBody{counts, wide});
  runtime.run_all();
  EXPECT_EQ(counts[0], (wide >> 20U) + 1);
  EXPECT_EQ(counts[1], 5U);
}

TEST_F(Large, Warps) {
  std::atomic<std::size_t> counts[2]{};
  constexpr std::size_t wide = std::size_t{1} << 30U;  // teams of one launch
  kernels::device::launch_warps(handle, wide + 5, 0, CountBody{counts, wide});
  runtime.run_all();
  EXPECT_EQ(counts[0], (wide >> 20U) + 1);
  EXPECT_EQ(counts[1], 5U);
}

}  // namespace
